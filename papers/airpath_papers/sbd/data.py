"""The published tables, typed. The numbers themselves are in the CSV files beside this one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from airpath.reproduction.files import read_table
from airpath.reproduction.published import PublishedMean, published_mean
from airpath_papers.paths import SBD

__all__ = [
    "BEARERS",
    "BUFFER",
    "DROP_TAIL",
    "GRID_MIN_TH",
    "Published",
    "Setting",
    "aqm_of",
    "drop_tail",
    "flows_named",
    "improvements",
    "printed",
    "printed_average",
    "printed_half_width",
    "published_table",
    "setting_at",
]

BEARERS = (384, 256, 128, 64)
"""Nominal rates, kbit/s (sbd-2006 §5)."""

BUFFER = 40
"""maxth and the size of the RLC buffer, SDUs of 1500 bytes (sbd-2006 §5)."""

GRID_MIN_TH = (5, 10, 15, 20, 25, 30)
"""minth, SDUs (sbd-2006 §5)."""

BDP_SDUS = 0.25 / 12
"""Bandwidth-delay product of a bearer of 1 kbit/s, SDUs: 250 ms, 12 kbit."""

PROPOSED = {"SBD": 3, "RED": 5}
"""Tables of the proposed settings; the table before has those with the largest goodput."""


class Setting(NamedTuple):
    """A setting of SBD or of RED at the RLC buffer."""

    kind: str
    """``SBD``, ``RED`` or ``drop-tail``, which has no setting."""
    strength: float
    """T_r, ms, or maxp."""
    min_th: int
    """minth, SDUs."""


DROP_TAIL = Setting("drop-tail", 0.0, 0)


def setting_at(axes: Mapping[str, Any]) -> Setting:
    """Return the setting that the axes of a point name.

    Parameters
    ----------
    axes : mapping
        `aqm`, whose first word is ``SBD``, ``RED`` or ``drop-tail`` (the default), or `table`, 2 to
        5; the `bearer`, kbit/s, or that of the setting, `setting_for`. What is not given is that
        of the table; default: the proposal, Table 3 or 5. `t_r_ms`, ms, and `maxp` are numbers or
        ``largest goodput``, that of Table 2 or 4. `minth`, SDUs, is a number, ``proposed``, or of
        the grid the ``least``, the ``largest``, or the first from ``2 BDP`` on.
    """
    kind, table = aqm_of(axes), axes.get("table", 0)
    if kind not in PROPOSED:
        return DROP_TAIL
    bearer = axes.get("setting_for") or axes["bearer"]
    chosen = published_table(table or PROPOSED[kind])[bearer].setting
    strength: Any = axes.get("t_r_ms") or axes.get("maxp", 0)
    if isinstance(strength, str):
        strength = published_table(PROPOSED[kind] - 1)[bearer].setting.strength
    named = {
        "proposed": chosen.min_th,
        "least": GRID_MIN_TH[0],
        "2 BDP": next(n for n in GRID_MIN_TH if n >= 2 * BDP_SDUS * bearer),
        "largest": GRID_MIN_TH[-1],
    }
    min_th = axes.get("minth", 0)
    return Setting(kind, strength or chosen.strength, named.get(min_th, min_th) or chosen.min_th)


def aqm_of(axes: Mapping[str, Any]) -> str:
    """Return the discipline that the axes of a point name: ``SBD``, ``RED`` or ``drop-tail``."""
    if table := axes.get("table", 0):
        return "SBD" if table < 4 else "RED"
    found: str = axes.get("aqm", "drop-tail").split()[0]
    return found


class Published(NamedTuple):
    """One row of Tables 2 to 6: a buffer and what it gave."""

    bearer: int
    """Nominal rate, kbit/s."""
    flows: int
    setting: Setting
    goodput_kbps: PublishedMean
    delay_s: PublishedMean


@cache
def published_table(number: int) -> dict[int, Published]:
    """Return Table 2, 3, 4 or 5 by bearer: single flows with SBD (2, 3) or RED (4, 5)."""
    kind, column = ("SBD", "T_r_ms") if number < 4 else ("RED", "maxp")
    found = {}
    for row in read_table(SBD, f"table{number}.csv"):
        bearer = int(row["bearer"])
        setting = Setting(kind, float(row[column]), int(row["minth"]))
        found[bearer] = Published(bearer, 1, setting, *_measured(row))
    return found


@cache
def drop_tail() -> dict[tuple[int, int], Published]:
    """Return the drop-tail columns of Table 6 by bearer and number of flows."""
    return {
        (bearer, flows): Published(bearer, flows, DROP_TAIL, *_measured(row))
        for row in read_table(SBD, "table6.csv")
        for bearer, flows in [(int(row["bearer"]), int(row["flows"]))]
    }


@cache
def improvements() -> dict[tuple[int, int, str, str], float]:
    """Return the 32 improvements of Table 6, per cent.

    By bearer, number of flows, ``SBD`` or ``RED``, and ``goodput`` or ``delay``.
    """
    return {
        (int(row["bearer"]), int(row["flows"]), aqm, quantity): float(
            row[f"{quantity}_{aqm.lower()}"]
        )
        for row in read_table(SBD, "table6.csv")
        for aqm in PROPOSED
        for quantity in ("goodput", "delay")
    }


def flows_named(flows: int) -> str:
    """Return how many flows there are, in words."""
    return f"{flows} flow{'s' if flows > 1 else ''}"


def _measured(row: dict[str, str]) -> tuple[PublishedMean, PublishedMean]:
    return published_mean(row, "goodput_kbps"), published_mean(row, "delay_s")


# --- what is printed of a point ----------------------------------------------------------------


def printed(axes: Mapping[str, Any], quantity: str) -> PublishedMean:
    """Return what is printed of a setting or of drop-tail, with its half-width.

    With four flows Table 6 has the improvement of a setting only. The half-width is then that of
    drop-tail, in per cent.

    Parameters
    ----------
    axes : mapping
        The bearer, the flows, and the table or the discipline, as of `setting_at`.
    quantity : str
        ``goodput``, kbit/s, or ``delay``, s.
    """
    column = "goodput_kbps" if quantity == "goodput" else "delay_s"
    bearer, flows, aqm = axes["bearer"], axes["flows"], aqm_of(axes)
    plain: PublishedMean = getattr(drop_tail()[bearer, flows], column)
    if aqm not in PROPOSED:
        return plain
    if flows == 1:
        row = published_table(axes.get("table") or PROPOSED[aqm])[bearer]
        found: PublishedMean = getattr(row, column)
        return found
    factor = 1 + improvements()[bearer, flows, aqm, quantity] / 100
    return PublishedMean(factor * plain.mean, factor * plain.half_width)


def printed_half_width(axes: Mapping[str, Any], quantity: str) -> float:
    """Return the half-width of a printed improvement, percentage points."""
    managed, plain = (printed({**axes, "aqm": aqm}, quantity) for aqm in (axes["aqm"], "drop-tail"))
    parts = (each.half_width / each.mean for each in (managed, plain))
    return 100 * managed.mean / plain.mean * math.hypot(*parts)


def printed_average(quantity: str) -> float:
    """Return the half-width of the printed average over bearers, SBD and RED with one flow.

    SBD and RED are compared with the same drop-tail, whose half-width so counts once for both.
    """
    squares = []
    for bearer in BEARERS:
        at = {"bearer": bearer, "flows": 1}
        sbd, red, plain = (
            printed({**at, "aqm": aqm}, quantity) for aqm in (*PROPOSED, "drop-tail")
        )
        both = PublishedMean(
            (sbd.mean + red.mean) / 2, math.hypot(sbd.half_width, red.half_width) / 2
        )
        relative = math.hypot(both.half_width / both.mean, plain.half_width / plain.mean)
        squares.append((100 * both.mean / plain.mean * relative) ** 2)
    return math.sqrt(sum(squares)) / len(squares)
