"""Values of the independent evaluation with many digits, kept in `digits.csv`; each takes about a
second.

``python tests/validation/fading_links/digits.py`` computes and writes the values;
`test_digits_again.py` compares them in the long tests.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import mpmath as mp
import second_opinion

FILE = Path(__file__).with_name("digits.csv")
DIGITS = 20
"""Number of digits in `digits.csv`."""
PAPER = (0.00125, 0.125)
"""Transition probabilities 1 − γ and 1 − β of vcp-2008 §IV."""


class Received(NamedTuple):
    """A symbol error rate over fading."""

    modulation: str
    tx: int
    rx: int
    snr_db: float
    fading: str = "rayleigh"
    parameter: float = 1

    def value(self) -> mp.mpf:
        with mp.workdps(22):
            return second_opinion.symbol_error_rate(*self)


class Failure(NamedTuple):
    """Loss probability of a packet over a channel with two states, each with its symbol
    error rate.
    """

    name: str
    """Antennas and mean SNR; determines the error rates of BPSK."""
    error_good: float
    error_bad: float
    packet_bytes: int
    code_rate: float | None
    symbol_bits: int

    def value(self) -> mp.mpf:
        chain = (*PAPER, self.error_good, self.error_bad)
        symbols, correctable, units = 8 * self.packet_bytes, 0, 1
        if self.code_rate is not None:
            data = 8 * self.packet_bytes // self.symbol_bits
            symbols, units = round(data / self.code_rate), self.symbol_bits
            correctable = (symbols - data) // 2
        with mp.workdps(230):
            return second_opinion.block_failure(chain, symbols, correctable, units)


FADINGS: list[tuple[Any, ...]] = [
    ("rayleigh", 1),
    ("nakagami", 0.5),
    ("nakagami", 3.5),
    ("rician", 10.0),
    ("rician", 10**-0.3),
]
RECEIVED = [
    *[Received("bpsk", tx, rx, snr) for tx, rx in ((1, 1), (2, 2)) for snr in (-10, 10, 40)],
    *[Received("bpsk", 2, 8, snr) for snr in (0, 30, 65)],
    *[Received("qpsk", 1, 2, 10, *fading) for fading in FADINGS],
    *[Received("16qam", 2, 2, 20, *fading) for fading in FADINGS],
    Received("64qam", 1, 8, 90),
    Received("bpsk", 2, 8, 35, "nakagami", 2.0),
]
FAILURES = [
    Failure("1x1 20 dB", 0.002481404895005432, 0.02326870537720384, 1040, None, 8),
    Failure("2x2 40 dB", 2.185925721606963e-16, 2.171821920252135e-12, 40, None, 8),
    Failure("1x1 19 dB", 0.0031179051461107457, 0.028782367100433345, 1040, 0.93, 8),
    Failure("2x2 10 dB", 0.00011335837262400187, 0.04025811897863134, 1040, 0.93, 8),
    Failure("2x2 14 dB", 4.169591750239884e-06, 0.006599448532939709, 1040, 0.93, 8),
    Failure("2x2 6 dB", 0.0020011899539310552, 0.1212629908379875, 1040, 0.8, 16),
    Failure("2x1 12 dB", 0.002448086815543873, 0.07480818475167272, 40, 0.7, 8),
    Failure("2x2 25 dB", 2.1384076101405801e-10, 1.7539525894159662e-06, 40, 0.7, 8),
    Failure("1x2 14 dB", 0.0002784332534856009, 0.016932366138493853, 40, 0.93, 4),
    Failure("1x1 60 dB", 2.499998125001563e-07, 2.4999812501562485e-06, 40, 0.8, 1),
]


@cache
def kept() -> dict[str, str]:
    """Return the stored values, as a mapping from the case to its digits."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return {row["case"]: row["value"] for row in csv.DictReader(file)}


def case_of(case: Received | Failure) -> str:
    """Return the name of a case in the file."""
    return f"{type(case).__name__.lower()} {' '.join(map(str, case))}"


def computed() -> dict[str, str]:
    """Return the computed values, as a mapping from the case to its digits."""
    return {case_of(case): mp.nstr(case.value(), DIGITS) for case in (*RECEIVED, *FAILURES)}


if __name__ == "__main__":
    with FILE.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("case", "value"))
        writer.writerows(computed().items())
