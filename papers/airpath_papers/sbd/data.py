"""The published tables, typed. The numbers themselves are in the CSV files beside this one."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

from airpath.reproduction.files import read_table
from airpath.reproduction.published import PublishedMean, published_mean
from airpath_papers.paths import SBD

__all__ = [
    "BEARERS",
    "BUFFER",
    "GRID_MAX_P",
    "GRID_MIN_TH",
    "GRID_T_R_MS",
    "Aqm",
    "AveragedRed",
    "DropTail",
    "Published",
    "Red",
    "Sbd",
    "drop_tail",
    "flows_named",
    "improvements",
    "printed_average",
    "printed_half_width",
    "published_table",
    "strengths",
]

BEARERS = (384, 256, 128, 64)
"""Nominal rates, kbit/s (sbd-2006 §5)."""

BUFFER = 40
"""maxth and the size of the RLC buffer, SDUs of 1500 bytes (sbd-2006 §5)."""

GRID_MIN_TH = (5, 10, 15, 20, 25, 30)
"""minth, SDUs (sbd-2006 §5)."""

# The paper gives the ends of these two ranges. Every value of Tables 2 to 5 is among ours.
GRID_T_R_MS = (
    *(50, 75, 100, 150, 200, 250, 300, 400, 500, 650),
    *(800, 900, 1100, 1300, 1500, 2000, 2500, 3000, 4000, 5000),
)
"""T_r, ms."""

GRID_MAX_P = (
    *(0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08),
    *(0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0),
)
"""maxp."""


class DropTail(NamedTuple):
    """A drop-tail buffer."""

    limit: int = BUFFER
    """Its size, SDUs."""


class Sbd(NamedTuple):
    """Slope Based Discard."""

    t_r_ms: int
    """T_r, ms."""
    min_th: int
    """minth, SDUs."""
    alpha: int = 5
    """α, SDUs (sbd-2006 §5)."""


class Red(NamedTuple):
    """RED at the RLC buffer."""

    max_p: float
    """maxp."""
    min_th: int
    """minth, SDUs."""


class AveragedRed(NamedTuple):
    """RED of Floyd and Jacobson 1993, on an average of the occupancy."""

    max_p: float
    """maxp."""
    min_th: int
    """minth, SDUs."""
    weight: float
    """w_q, the weight of a sample in the average, in (0, 1]; 1 is the occupancy itself."""


Aqm = DropTail | Sbd | Red | AveragedRed


def flows_named(flows: int) -> str:
    """Return how many flows there are, in words."""
    return f"{flows} flow{'s' if flows > 1 else ''}"


def strengths(aqm: str, step: int = 1) -> list[float]:
    """Return the values of T_r, ms, or of maxp: every `step`-th, and the last."""
    values: tuple[float, ...] = GRID_T_R_MS if aqm == "sbd" else GRID_MAX_P
    return list(dict.fromkeys([*values[::step], values[-1]]))


class Published(NamedTuple):
    """One row of Tables 2 to 6: a buffer and what it gave."""

    bearer: int
    """Nominal rate, kbit/s."""
    flows: int
    aqm: Aqm
    goodput_kbps: PublishedMean
    delay_s: PublishedMean


@cache
def published_table(number: int) -> dict[int, Published]:
    """Return Table 2, 3, 4 or 5 by bearer: single flows with SBD (2, 3) or RED (4, 5)."""
    found = {}
    for row in read_table(SBD, f"table{number}.csv"):
        bearer, min_th = int(row["bearer"]), int(row["minth"])
        aqm = Sbd(int(row["T_r_ms"]), min_th) if number < 4 else Red(float(row["maxp"]), min_th)
        found[bearer] = Published(bearer, 1, aqm, *_measured(row))
    return found


@cache
def drop_tail() -> dict[tuple[int, int], Published]:
    """Return the drop-tail columns of Table 6 by bearer and number of flows."""
    return {
        (bearer, flows): Published(bearer, flows, DropTail(), *_measured(row))
        for row in read_table(SBD, "table6.csv")
        for bearer, flows in [(int(row["bearer"]), int(row["flows"]))]
    }


@cache
def improvements() -> dict[tuple[int, int, str, str], float]:
    """Return the 32 improvements of Table 6, per cent.

    By bearer, number of flows, ``sbd`` or ``red``, and ``goodput`` or ``delay``.
    """
    return {
        (int(row["bearer"]), int(row["flows"]), aqm, quantity): float(row[f"{quantity}_{aqm}"])
        for row in read_table(SBD, "table6.csv")
        for aqm in ("sbd", "red")
        for quantity in ("goodput", "delay")
    }


def _measured(row: dict[str, str]) -> tuple[PublishedMean, PublishedMean]:
    return published_mean(row, "goodput_kbps"), published_mean(row, "delay_s")


# --- half-widths of what Table 6 prints ----------------------------------------------------------

Place = tuple[int, int]
"""Bearer, kbit/s, and number of flows."""


def _printed_of(place: Place, aqm: str, quantity: str) -> tuple[PublishedMean, PublishedMean]:
    """Return what is printed of a proposed setting and of drop-tail, each with its half-width.

    With four flows Table 6 has the improvement only. The half-width is then drop-tail's, in per
    cent.
    """
    bearer, flows = place
    column = "goodput_kbps" if quantity == "goodput" else "delay_s"
    plain: PublishedMean = getattr(drop_tail()[place], column)
    if flows == 1:
        row = published_table(3 if aqm == "sbd" else 5)[bearer]
        return getattr(row, column), plain
    factor = 1 + improvements()[bearer, flows, aqm, quantity] / 100
    return PublishedMean(factor * plain.mean, factor * plain.half_width), plain


def printed_half_width(place: Place, aqm: str, quantity: str) -> float:
    """Return the half-width of a printed improvement, percentage points."""
    managed, plain = _printed_of(place, aqm, quantity)
    parts = (each.half_width / each.mean for each in (managed, plain))
    return 100 * managed.mean / plain.mean * math.hypot(*parts)


def printed_average(quantity: str) -> float:
    """Return the half-width of the printed average over bearers, SBD and RED with one flow.

    SBD and RED are compared with the same drop-tail, whose half-width so counts once for both.
    """
    squares = []
    for bearer in BEARERS:
        (sbd, plain), (red, _) = (_printed_of((bearer, 1), aqm, quantity) for aqm in ("sbd", "red"))
        both = PublishedMean(
            (sbd.mean + red.mean) / 2, math.hypot(sbd.half_width, red.half_width) / 2
        )
        relative = math.hypot(both.half_width / both.mean, plain.half_width / plain.mean)
        squares.append((100 * both.mean / plain.mean * relative) ** 2)
    return math.sqrt(sum(squares)) / len(squares)
