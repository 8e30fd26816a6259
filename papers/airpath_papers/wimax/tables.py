"""Tables 1 and 2: uplink bytes, delay and efficiency, throughput (wimax-2009 §5.2, §5.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from airpath.reproduction.base import ItemResult, Row, Summary
from airpath.reproduction.compare import ColumnSet, Key, comparison, number
from airpath.reproduction.compare import printed as printed_as
from airpath.reproduction.items import Found, item_of
from airpath.reproduction.quantities import improvement
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath.reproduction.tolerance import Tolerance
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.analysis import printed_ideal_mbps, tables_ideal_mbps
from airpath_papers.wimax.claims import CLAIMS, SWEEPS
from airpath_papers.wimax.data import GAINS, NAMES, POLICIES, printed
from airpath_papers.wimax.measures import GOODPUT, QUANTITIES
from airpath_papers.wimax.quantities import bound

__all__ = ["TABLES", "bound", "summarise"]

POINTS: Final[Mapping[tuple[int, str], SweepPoint]] = {
    (place["base_rtt_ms"], place["policy"]): point for place, point in SWEEPS.points("table2")
}
"""Of Table 2, by RTT_min, ms, and policy; those at 100 ms are Table 1's."""

Place = dict[str, int | float | str]

# --- rows --------------------------------------------------------------------------------------


def _tolerance(claim: str, name: str = "within", unit: float = 0.0) -> Tolerance:
    """Return the tolerance of a claim: relative, or in points of so many units."""
    limit = CLAIMS.specs[claim][name]
    if not unit:
        return Tolerance(f"{100 * limit:g} % (claims.toml, {claim})", relative=limit)
    return Tolerance(f"{unit * limit:g} (claims.toml, {claim})", absolute=unit * limit)


def _tolerances(key: str, policy: str) -> dict[str, Tolerance]:
    """Return the tolerances of a policy's numbers of Table 1 or 2."""
    own = "adapt" if policy == "adapt-bi" else "within"
    if key == "table1":
        return {
            "allocated": _tolerance("table1-bytes", own),
            "used": _tolerance("table1-bytes"),
            "efficiency": _tolerance("table1-efficiency", own, 1.0),
        }
    return {
        "mac_delay": _tolerance("table2-delay", own),
        "efficiency": _tolerance("table2-efficiency", own, 0.01),
        # The TCP was fitted on the throughputs of the others.
        "goodput": _tolerance("table2-predicted" if own == "adapt" else "table2-fitted"),
    }


def _rows_of(session: Session, key: str, base_rtt_ms: int, policy: str) -> list[Row]:
    theirs, tolerated = printed(key)[base_rtt_ms, policy], _tolerances(key, policy)
    place: Place = {"policy": policy, "base_rtt_ms": base_rtt_ms}
    return [
        replace(
            each.row(session, POINTS[base_rtt_ms, policy], place),
            published=theirs.get(name),
            tolerance=tolerated.get(name) if name in theirs else None,
        )
        for name, each in QUANTITIES.items()
    ]


def _ideal_rows(base_rtt_ms: int) -> list[Row]:
    """Return the printed and the computed ideal, and the model with the tables' TCP and R."""
    theirs, what = printed("table2")[base_rtt_ms, "ideal"]["goodput"], ("goodput", "Mbit/s")
    place: Place = {"policy": "ideal", "base_rtt_ms": base_rtt_ms}
    ours, limit = printed_ideal_mbps(base_rtt_ms), _tolerance("table2-ideal")
    other: Place = {**place, "policy": "ideal-of-tables"}
    return [
        Row(place, *what, theirs, ours, tolerance=limit),
        Row(other, *what, None, tables_ideal_mbps(base_rtt_ms)),
    ]


def _rows(session: Session, key: str) -> list[Row]:
    rows: list[Row] = []
    for rtt, policy in printed(key):
        rows += _ideal_rows(rtt) if policy == "ideal" else _rows_of(session, key, rtt, policy)
    return rows


# --- gains -------------------------------------------------------------------------------------


GAINING: Final = {
    "table1": [(100, "adapt-bi", "uni"), (100, "blind-bi", "adapt-bi")],
    "table2": [(rtt, "adapt-bi", "uni") for rtt, policy in POINTS if policy == "uni"],
}
"""RTT_min, ms, and the two policies of each gain that a table has."""


def _gains(session: Session, key: str) -> list[Row]:
    """Return the gains: published as the text has them, else of the numbers of Table 2."""
    said = {(line["item"], line["policy"], line["base_rtt_ms"]): line["gain"] for line in GAINS}
    rows = []
    for rtt, policy, over in GAINING[key]:
        mbps = [printed("table2")[rtt, each]["goodput"] for each in (policy, over)]
        theirs = float(said.get((key, policy, str(rtt)), 100 * (mbps[0] / mbps[1] - 1)))
        ours = improvement(session, POINTS[rtt, policy], POINTS[rtt, over], GOODPUT)
        place: Place = {"policy": policy, "over": over, "base_rtt_ms": rtt}
        extra = {"bound": 100 * bound(rtt)} if over == "uni" else {}
        value = None if ours is None else ours.per_cent
        rows.append(Row(place, "goodput_gain", "%", theirs, value, extra=extra))
    return rows


def _bound(row: Row) -> str:
    return f"{row.extra['bound']:.0f}" if "bound" in row.extra else ""


GAIN: Final = ColumnSet(
    "goodput_gain", "gain, %", printed_as(0), number(1), _bound, ("paper", "ours", "bound")
)
BOUND: Final = (
    "Bound: what a window-limited flow gains from the printed delays, their difference over "
    "RTT_min, adapt-BI's delay and 20 ms."
)

# --- the items ---------------------------------------------------------------------------------


SHOWN: Final = {
    "table1": ("allocated", "used", "efficiency", "goodput"),
    "table2": ("mac_delay", "efficiency", "goodput"),
}
NAMED: Final = [Key("base_rtt_ms", "RTT_min, ms"), Key("policy", "", NAMES.__getitem__)]
OVER: Final = Key("over", "over", NAMES.__getitem__)


def _found(key: str, session: Session, heading: str) -> Found:
    about = f"{session.effort_of(POINTS[100, 'uni']).replications} runs; ± are "
    about += f"{100 * session.paper.confidence:g} % intervals. Delays in ms, throughput in Mbit/s."
    shown = [QUANTITIES[name].shown() for name in SHOWN[key]]
    rows, gains = _rows(session, key), _gains(session, key)
    table = comparison(heading, rows, NAMED, shown, [about])
    gained = comparison("What the throughputs gain", gains, [*NAMED, OVER], [GAIN], [BOUND])
    return [*rows, *gains], [table, gained]


TABLES: Final = {key: item_of(WIMAX, key, SWEEPS.cells(key), partial(_found, key)) for key in SHOWN}
"""Cells and evaluation of each item."""

# --- over all of them --------------------------------------------------------------------------


def summarise(results: Sequence[ItemResult]) -> list[Summary]:
    """Return the promises of the abstract with our numbers, as far as they were simulated."""
    rows = {result.item: result.rows for result in results}
    lines: list[str] = []
    values: dict[str, Any] = {}
    found = [row for row in rows.get("table2", ()) if row.quantity == "goodput_gain"]
    if found:
        ours = {int(row.row["base_rtt_ms"]): row.ours for row in found}
        values["gains"] = {f"{rtt}_ms": gain for rtt, gain in ours.items()}
        shown = ", ".join(f"{gain:.0f} % at {rtt} ms" for rtt, gain in ours.items())
        lines.append(
            f'"Up to about 40 %" (abstract): adapt-BI gains {shown}; as printed it is '
            f"{', '.join(f'{row.published:.0f}' for row in found)} %, and the printed delays "
            f"allow {', '.join(f'{bound(rtt):.0%}' for rtt in ours)}"
        )
    efficiencies = {
        str(row.row["policy"]): row.ours
        for row in rows.get("table1", ())
        if row.quantity == "efficiency" and row.ours
    }
    if len(efficiencies) == len(POLICIES):
        times = efficiencies["adapt-bi"] / efficiencies["blind-bi"]
        values["efficiency_times"] = times
        lines.append(
            f'"About two times" (§6): the efficiency of adapt-BI is {times:.2f} times that of '
            "blind-BI"
        )
    return [Summary("abstract", "What the abstract promises", lines, values)] if lines else []
