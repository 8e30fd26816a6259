"""The SNRs of the figures, and their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from airpath.reproduction.session import Session
from airpath_papers.vcp.failures import is_past
from airpath_papers.vcp.scenarios import Case

__all__ = [
    "CODE_RATES",
    "FIG3_DB",
    "FIG5_DB",
    "FIG6_DB",
    "FIG6_TO_DB",
    "LARGE",
    "LIFE_DB",
    "LIVES",
    "LOSSY_DB",
    "MODULATIONS",
    "PROTECTION_DB",
    "PROTOCOLS",
    "SET_UPS",
    "SET_UP_DB",
    "SPLIT_DB",
    "WATERFALL_DB",
    "cases",
    "fig4_db",
    "past_cases",
    "shown",
    "steps",
]

PROTOCOLS: Final = ("vcp", "tcp-rem")
CODE_RATES: Final = (1.0, 0.9, 0.8, 0.7)
"""Those of Fig. 4."""


def steps(first: float, last: float, step: float) -> tuple[float, ...]:
    """Return SNRs with equal distances, the last one included, dB."""
    return tuple(first + n * step for n in range(round((last - first) / step) + 1))


FIG3_DB: Final = steps(0.0, 56.0, 4.0)

_FIG4_DB: Final = {
    "1x1": {1.0: FIG3_DB, 0.9: steps(13, 21, 1), 0.8: steps(10, 18, 1), 0.7: steps(8, 16, 1)},
    "2x2": {
        1.0: steps(0, 24, 2),
        0.9: steps(3, 7, 0.5),
        0.8: steps(1.5, 5.5, 0.5),
        0.7: steps(0.5, 4.5, 0.5),
    },
    "2x1": {1.0: steps(12, 32, 4), 0.9: steps(9, 12, 1), 0.8: steps(7, 10, 1), 0.7: steps(6, 9, 1)},
    "1x2": {1.0: steps(8, 28, 4), 0.9: steps(6, 9, 1), 0.8: steps(4, 7, 1), 0.7: steps(3, 6, 1)},
}


def fig4_db(antennas: str, code_rate: float) -> tuple[float, ...]:
    """Return the SNRs at which a line of Fig. 4 is simulated, dB."""
    return _FIG4_DB[antennas][code_rate]


FIG5_DB: Final = {"2x1": steps(14, 38, 2), "2x2": steps(10, 30, 2)}
"""Where claims look; figures have the values between as well."""

LOSSY_DB: Final = steps(12, 26, 2)
"""2x2 without FEC: PERs of 78 % to 1e-4."""

PROTECTION_DB: Final = steps(5, 15, 1)
"""Failures of ACKs of 0.5 to 0.001 at r = 0.93, 2x2: claims.toml."""

SPLIT_DB: Final = (5.0, 5.25, 5.5, 6.0, 7.0, 9.0, 12.0)
"""Where splits of the same bytes are compared, 2x2: data or ACKs fail below 7 dB."""

LIFE_DB: Final = steps(8, 22, 2)
"""Life spans of flows, 2x2 without FEC."""

SET_UP_DB: Final = steps(8, 14, 2)
"""Connections are set up, 2x2 without FEC: an ACK fails with 0.3 to 0.02."""

FIG6_DB: Final = {
    ("2x1", 0.93): steps(9, 25, 2),
    ("2x2", 0.93): steps(4, 18, 2),
    ("2x1", 0.7): steps(6, 16, 2),
    ("2x2", 0.7): steps(1, 11, 2),
}

WATERFALL_DB: Final = {
    ("2x1", 0.93): steps(10, 12.5, 0.5),
    ("2x2", 0.93): steps(4.5, 6.5, 0.5),
    ("2x1", 0.7): steps(6.5, 7.5, 0.25),
    ("2x2", 0.7): steps(1.5, 2.5, 0.25),
}
"""Where data begin to arrive: more values of Fig. 6, for the figure alone."""
FIG6_TO_DB: Final = 25.0
"""Where each panel of Fig. 6 ends."""


def cases(
    protocol: str,
    antennas: str,
    code_rate: float,
    snrs_db: Sequence[float],
    variant: str = "",
) -> list[Case]:
    """Return the cells of a line, in the order of its SNRs."""
    return [Case(protocol, antennas, code_rate, float(snr), variant) for snr in snrs_db]


def past_cases(antennas: str, code_rate: float, protocol: str, variant: str = "") -> list[Case]:
    """Return the cells of a panel of Fig. 6 that are past the threshold."""
    snrs = [snr for snr in FIG6_DB[antennas, code_rate] if is_past(antennas, code_rate, snr)]
    return cases(protocol, antennas, code_rate, snrs, variant)


def shown(session: Session, snrs_db: Sequence[float]) -> list[float]:
    """Return the SNRs that a mode simulates of a figure's: every `grid_step`-th, and the last."""
    return list(dict.fromkeys([*snrs_db[:: session.effort.grid_step], snrs_db[-1]]))


MODULATIONS: Final = {2: "bpsk", 4: "qpsk", 8: "8psk", 16: "16psk"}
"""By M, those of Fig. 1."""

_PAST_DB: Final = [snr for snr in FIG6_DB["2x2", 0.93] if is_past("2x2", 0.93, snr)]
_FEWER_DB: Final = _PAST_DB[:: max(1, len(_PAST_DB) - 1)]
"""The first and the last SNR past the threshold: the larger links take longer."""

LARGE: Final[Mapping[str, Mapping[str, Sequence[Case]]]] = {
    name: {
        protocol: [
            Case(protocol, "2x2", 0.93, snr, variant if protocol == "tcp-rem" else vcp)
            for snr in _FEWER_DB
        ]
        for protocol in PROTOCOLS
    }
    for name, (variant, vcp) in {
        "10 Mbit/s": ("", ""),
        "10 Mbit/s, unlimited": ("window-unlimited", ""),
        "40 Mbit/s": ("scale-4", "scale-4"),
        "40 Mbit/s, unlimited": ("scale-4-unlimited", "scale-4"),
        "RTT x 2": ("rtt-2", "rtt-2"),
        "RTT x 2, unlimited": ("rtt-2-unlimited", "rtt-2"),
        "RTT x 4": ("rtt-4", "rtt-4"),
        "RTT x 4, unlimited": ("rtt-4-unlimited", "rtt-4"),
    }.items()
}
"""Links of other sizes: cells by link and transport. VCP's window has no limit in any of them."""


def _pairs(snrs_db: Sequence[float], variant: str) -> dict[float, dict[str, Case]]:
    return {
        snr: {name: Case(name, "2x2", 1.0, snr, variant, ("seq_sent",)) for name in PROTOCOLS}
        for snr in snrs_db
    }


SET_UPS: Final = _pairs(SET_UP_DB, "")
LIVES: Final = {name: _pairs(LIFE_DB, name) for name in ("tear-down-3", "tear-down-5")}
"""Cells by variant, SNR and transport."""
