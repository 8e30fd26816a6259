"""Candidates for decoder and mapping, which the paper does not print, and the choice.

README.md has the rule: Table 2 and §6's rule on mcs0 decide; Table 6 does not. The counts are in
``decoders.csv``; the candidates' error rates for Table 6 are in ``decoders/``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import log
from pathlib import Path
from typing import Final

from airpath.phy import PerTable
from airpath.reproduction.base import Row, Table
from airpath.reproduction.files import read_table
from airpath_papers.qawla.claims import CLAIMS
from airpath_papers.qawla.data import PACKET_BYTES, mcs_table
from airpath_papers.qawla.error_rates import (
    AWGN,
    CHANNELS,
    COMMON_ERRORS,
    COMMON_LIMIT,
    ITU_A,
    PUBLISHED_BLOCKS,
    Channel,
    error_rates,
    small,
)

__all__ = [
    "ALIKE",
    "CHOSEN",
    "DECODERS",
    "ITERATIONS",
    "MAPPINGS",
    "TOO_FEW",
    "Decoder",
    "Fit",
    "common_rates",
    "decide",
    "fits",
    "fits_table",
]

HIGHEST_PER: Final[float] = CLAIMS.specs["support"]["per"]
"""Largest accepted PER of mcs0 at the lowest SNR."""

ITERATIONS: Final = (4, 6, 8, 10)
MAPPINGS: Final = ("fusc", "random")
"""Mappings of a block's symbols to subcarriers on ITU-A; ties prefer the first mapping."""

TOO_FEW: Final = 4
"""Number of iterations with which mcs0 has a PER of 0.24 at 2 dB on AWGN."""

ALIKE: Final = 4.0
"""Sums within this distance of the smallest sum are treated as equal."""

PROGRAMS_DIFFER: Final = 0.05
"""Relative difference of error rates between equally good programs: the effect of 0.05 dB."""


@dataclass(frozen=True)
class Decoder:
    """A candidate for decoder and mapping.

    Parameters
    ----------
    iterations : int
        Maximum number of iterations, on both channels.
    mapping : str
        Mapping of symbols to subcarriers on ITU-A.
    """

    iterations: int
    mapping: str

    @property
    def name(self) -> str:
        """Name in tables."""
        return f"{self.mapping} {self.iterations}"

    def rates(self, channel: Channel) -> PerTable | None:
        """Return the candidate's error rates, installed with Airpath or from ``decoders/``.

        None on ITU-A for the number of iterations that §6's rule excludes on AWGN: not measured.
        """
        if channel is ITU_A and self.iterations == TOO_FEW:
            return None
        if self == CHOSEN or (channel is AWGN and self.iterations == CHOSEN.iterations):
            return channel.table()
        name = "awgn" if channel is AWGN else f"itu-a-{self.mapping}"
        return _rates(f"{name}-{self.iterations}.json")


DIRECTORY: Final = Path(__file__).parent
"""Directory of the counts."""


@cache
def _rates(name: str) -> PerTable:
    file = DIRECTORY / "decoders" / name
    return PerTable(json.loads(file.read_text(encoding="utf-8")), name)


DECODERS: Final = tuple(
    Decoder(iterations, mapping) for mapping in MAPPINGS for iterations in ITERATIONS
)

CHOSEN: Final = Decoder(6, "fusc")
"""Candidate that the rule selects; a test runs the rule."""


# --- evaluation of the candidates ---------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """Agreement of a candidate with §6's rule and with the common error rates of Table 2.

    Parameters
    ----------
    decoder : Decoder
        The candidate.
    mcs0_per : mapping of str to float
        PER of mcs0 at the lowest averaged SNR, by key of the channel.
    mcs0_below : mapping of str to float
        PER of mcs0 one grid step below the lowest averaged SNR, by key of the channel.
    differences : sequence of float
        ln(simulated FER / published FER) for each common error rate of Table 2; empty if §6's rule
        excludes the candidate.
    total : float
        Sum of the squared differences, each divided by its variance.
    within : bool
        Whether all these error rates meet the goal of Table 2.
    """

    decoder: Decoder
    mcs0_per: Mapping[str, float]
    mcs0_below: Mapping[str, float]
    differences: Sequence[float] = ()
    total: float = 0.0
    within: bool = True

    @property
    def begins(self) -> bool:
        """Whether mcs0 meets §6's rule."""
        return all(per < HIGHEST_PER for per in self.mcs0_per.values())

    @property
    def accepted(self) -> bool:
        """Whether the candidate meets §6's rule and the goals."""
        return self.begins and self.within


_Key = tuple[str, int, int, float]
"""Channel and mapping, number of iterations, MCS number m, and SNR, dB."""


@cache
def _counted() -> dict[_Key, tuple[int, int]]:
    return {
        (row["channel"], int(row["iterations"]), int(row["mcs"]), float(row["snr_db"])): (
            int(row["errors"]),
            int(row["blocks"]),
        )
        for row in read_table(DIRECTORY, "decoders.csv")
    }


def _per(mcs: int, counted: tuple[int, int]) -> float:
    errors, blocks = counted
    return float(1 - (1 - errors / blocks) ** mcs_table()[mcs].blocks(PACKET_BYTES))


def _fit(decoder: Decoder) -> Fit:
    keys = {AWGN.key: AWGN.key, ITU_A.key: f"{ITU_A.key}/{decoder.mapping}"}

    def counted(channel: Channel, mcs: int, snr_db: float) -> tuple[int, int]:
        return _counted()[keys[channel.key], decoder.iterations, mcs, snr_db]

    def mcs0(steps: int) -> dict[str, float]:
        return {
            key: _per(0, counted(channel, 0, channel.support_db[0] - steps * channel.grid_db[2]))
            for key, channel in CHANNELS.items()
        }

    found = Fit(decoder, mcs0(0), mcs0(1))
    if not found.begins:
        return found
    differences, total, within = [], 0.0, True
    for (snr_db, mcs), rate in common_rates().items():
        errors, blocks = counted(ITU_A, mcs, snr_db)
        published_errors = rate.extra["published_errors"]
        difference = log(errors / blocks * PUBLISHED_BLOCKS / published_errors)
        differences.append(difference)
        total += difference**2 / (1 / published_errors + 1 / errors + PROGRAMS_DIFFER**2)
        computed = _per(mcs, (errors, blocks))
        within = within and abs(computed / (rate.published or 0.0) - 1) <= COMMON_LIMIT
    return replace(found, differences=differences, total=total, within=within)


def common_rates() -> dict[tuple[int, int], Row]:
    """Return the error rates of Table 2 that are compared by their ratio, by SNR, dB, and MCS."""
    return {
        place: rate
        for place, rate in error_rates().items()
        if rate.extra["published_errors"] >= COMMON_ERRORS
    }


@cache
def fits() -> tuple[Fit, ...]:
    """Return the fits of all candidates."""
    return tuple(_fit(decoder) for decoder in DECODERS)


def decide(found: Sequence[Fit]) -> Fit:
    """Return the candidate that the README's rule selects.

    Parameters
    ----------
    found : sequence of Fit
        Fits of the candidates, of which at least one is accepted.
    """
    accepted = [fit for fit in found if fit.accepted]
    least = min(fit.total for fit in accepted)
    alike = [fit for fit in accepted if fit.total <= least + ALIKE]
    return min(alike, key=lambda fit: (MAPPINGS.index(fit.decoder.mapping), fit.total))


# --- table --------------------------------------------------------------------------------------


def fits_table(title: str) -> tuple[list[Row], Table]:
    """Return rows and table of the candidates, with the deciding numbers."""
    rows, lines = [], []
    chosen = decide(fits())
    for fit in fits():
        key: dict[str, int | float | str] = {
            "variant": fit.decoder.name,
            "mapping": fit.decoder.mapping,
            "iterations": fit.decoder.iterations,
        }
        pers = {
            f"mcs0_per_{channel.key}_{snr_db:g}_db": each[channel.key]
            for channel in CHANNELS.values()
            for snr_db, each in _mcs0_snrs(channel, fit)
        }
        extra = {
            **pers,
            "differences": dict(zip(_names(), fit.differences, strict=False)),
            "within": fit.within,
            "accepted": fit.accepted,
            "chosen": fit is chosen,
        }
        total = fit.total if fit.differences else None
        rows.append(Row(key, "fit_to_table2", "1", None, total, extra=extra))
        lines.append(
            [
                fit.decoder.mapping,
                str(fit.decoder.iterations),
                *map(small, pers.values()),
                *_fit_cells(fit),
                "taken" if fit is chosen else "accepted" if fit.accepted else "out",
            ]
        )
    columns = [("", "mapping"), ("", "iterations")]
    for channel in CHANNELS.values():
        columns += [
            (f"mcs0, {channel.name}", f"{snr_db:g} dB") for snr_db, _ in _mcs0_snrs(channel, chosen)
        ]
    columns += [("Table 2", name) for name in ("sum", "largest, %", "within")]
    columns.append(("", "verdict"))
    notes = [
        f"mcs0: its PER, which is to be below {HIGHEST_PER:g} at 2 dB on AWGN and at 14 dB on "
        "ITU-A (§6).",
        f"sum: over the {len(common_rates())} common error rates of ITU-A, see the README; "
        "largest: of ln (counted / published FER).",
        f"Sums within {ALIKE:g} of the least are not distinguished: fusc goes first.",
    ]
    return rows, Table(title, columns, lines, notes)


def _fit_cells(fit: Fit) -> list[str]:
    if not fit.differences:
        return ["", "", ""]
    worst = max(range(len(fit.differences)), key=lambda at: abs(fit.differences[at]))
    largest = f"{100 * fit.differences[worst]:+.0f} ({_names()[worst]})"
    return [f"{fit.total:.1f}", largest, "yes" if fit.within else "NO"]


def _mcs0_snrs(channel: Channel, fit: Fit) -> list[tuple[float, Mapping[str, float]]]:
    lowest = channel.support_db[0]
    return [(lowest - channel.grid_db[2], fit.mcs0_below), (lowest, fit.mcs0_per)]


def _names() -> list[str]:
    return [f"mcs{mcs} at {snr_db} dB" for snr_db, mcs in common_rates()]
