"""Published tables with types. The numbers are in the CSV files of this directory."""

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
"""Value of maxth and size of the RLC buffer, SDUs of 1500 bytes (sbd-2006 §5)."""

GRID_MIN_TH = (5, 10, 15, 20, 25, 30)
"""Values of minth in the grids, SDUs (sbd-2006 §5)."""

BDP_SDUS = 0.25 / 12
"""Bandwidth-delay product of a bearer of 1 kbit/s, SDUs: RTT 250 ms, SDU size 12 kbit."""

PROPOSED = {"SBD": 3, "RED": 5}
"""Table of the proposed settings; the preceding table has the settings with largest goodput."""


class Setting(NamedTuple):
    """A setting of SBD or of RED at the RLC buffer."""

    kind: str
    """Discipline: ``SBD``, ``RED`` or ``drop-tail``, which has no setting."""
    strength: float
    """Value of T_r, ms, or of maxp."""
    min_th: int
    """Value of minth, SDUs."""


DROP_TAIL = Setting("drop-tail", 0.0, 0)


def setting_at(axes: Mapping[str, Any]) -> Setting:
    """Return the setting that the axes of a point name.

    Parameters
    ----------
    axes : mapping
        Axes. `aqm`: its first word is ``SBD``, ``RED`` or ``drop-tail`` (the default). `table`: 2
        to 5, instead of `aqm`. `bearer`, kbit/s, or `setting_for`, if the setting is for another
        bearer. Missing values are those of the table; default: the proposal, Table 3 or 5.
        `t_r_ms`, ms, and `maxp` are numbers or ``largest goodput`` (Table 2 or 4). `minth`, SDUs,
        is a number, ``proposed``, or a value of the grid: ``least``, ``largest``, or the first from
        ``2 BDP`` on.
    """
    kind, table = aqm_of(axes), axes.get("table", 0)
    if kind not in PROPOSED:
        return DROP_TAIL
    bearer = axes.get("setting_for") or axes["bearer"]
    chosen = published_table(table or PROPOSED[kind])[bearer, 1].setting
    strength: Any = axes.get("t_r_ms") or axes.get("maxp", 0)
    if isinstance(strength, str):
        strength = published_table(PROPOSED[kind] - 1)[bearer, 1].setting.strength
    named = {
        "proposed": chosen.min_th,
        "least": GRID_MIN_TH[0],
        "2 BDP": next(n for n in GRID_MIN_TH if n >= 2 * BDP_SDUS * bearer),
        "largest": GRID_MIN_TH[-1],
    }
    min_th = axes.get("minth", 0)
    return Setting(kind, strength or chosen.strength, named.get(min_th, min_th) or chosen.min_th)


def aqm_of(axes: Mapping[str, Any]) -> str:
    """Return the queue discipline of a point: ``SBD``, ``RED`` or ``drop-tail``."""
    if table := axes.get("table", 0):
        return "SBD" if table < 4 else "RED"
    return str(axes.get("aqm", "drop-tail").split()[0])


class Published(NamedTuple):
    """A row of Tables 2 to 6: a setting and its results; Table 6 has drop-tail."""

    setting: Setting
    goodput_kbps: PublishedMean
    delay_s: PublishedMean


@cache
def published_table(number: int) -> dict[tuple[int, int], Published]:
    """Return SBD (Tables 2, 3), RED (4, 5) or drop-tail (6) by bearer and number of flows."""
    kind, column = ("SBD", "T_r_ms") if number < 4 else ("RED", "maxp")
    found = {}
    for row in read_table(SBD, f"table{number}.csv"):
        setting = DROP_TAIL
        if column in row:
            setting = Setting(kind, float(row[column]), int(row["minth"]))
        measured = (published_mean(row, name) for name in ("goodput_kbps", "delay_s"))
        found[int(row["bearer"]), int(row.get("flows", 1))] = Published(setting, *measured)
    return found


@cache
def improvements() -> dict[tuple[int, int, str, str], float]:
    """Return the 32 improvements of Table 6, per cent.

    The key is bearer, number of flows, ``SBD`` or ``RED``, and ``goodput`` or ``delay``.
    """
    return {
        (int(row["bearer"]), int(row["flows"]), aqm, of): float(row[f"{of}_{aqm.lower()}"])
        for row in read_table(SBD, "table6.csv")
        for aqm in PROPOSED
        for of in ("goodput", "delay")
    }


# --- printed values of a point -----------------------------------------------------------------


def printed(axes: Mapping[str, Any], quantity: str) -> PublishedMean:
    """Return the printed values of a setting or of drop-tail, with their half-widths.

    With four flows, Table 6 has only the improvement of a setting. The relative half-width is then
    that of drop-tail.

    Parameters
    ----------
    axes : mapping
        Bearer, flows, and table or discipline, as for `setting_at`.
    quantity : str
        ``goodput``, kbit/s, or ``delay``, s.
    """
    column = "goodput_kbps" if quantity == "goodput" else "delay_s"
    bearer, flows, aqm = axes["bearer"], axes["flows"], aqm_of(axes)
    number = axes.get("table") or PROPOSED[aqm] if aqm in PROPOSED and flows == 1 else 6
    found: PublishedMean = getattr(published_table(number)[bearer, flows], column)
    if number < 6 or aqm not in PROPOSED:
        return found
    factor = 1 + improvements()[bearer, flows, aqm, quantity] / 100
    return PublishedMean(factor * found.mean, factor * found.half_width)


def printed_half_width(axes: Mapping[str, Any], quantity: str) -> float:
    """Return the half-width of a printed improvement, percentage points."""
    managed, plain = (printed({**axes, "aqm": aqm}, quantity) for aqm in (axes["aqm"], "drop-tail"))
    parts = (each.half_width / each.mean for each in (managed, plain))
    return 100 * managed.mean / plain.mean * math.hypot(*parts)


def printed_average(quantity: str) -> float:
    """Return the half-width of the printed average over bearers, for SBD and RED with one flow.

    SBD and RED are compared with the same drop-tail, whose half-width therefore counts only once.
    """
    squares = []
    for bearer in BEARERS:
        at = {"bearer": bearer, "flows": 1}
        sbd, red, plain = (
            printed({**at, "aqm": aqm}, quantity) for aqm in (*PROPOSED, "drop-tail")
        )
        mean, half = (sbd.mean + red.mean) / 2, math.hypot(sbd.half_width, red.half_width) / 2
        relative = math.hypot(half / mean, plain.half_width / plain.mean)
        squares.append((100 * mean / plain.mean * relative) ** 2)
    return math.sqrt(sum(squares)) / len(squares)
