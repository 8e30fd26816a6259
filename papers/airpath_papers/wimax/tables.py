"""Tables 1 and 2: uplink bytes, delay and efficiency, throughput (wimax-2009 §5.2, §5.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from airpath.reproduction.base import Cell, ItemResult, Row, Summary, Table
from airpath.reproduction.compare import Key, comparison
from airpath.reproduction.manifest import titles
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath.reproduction.tolerance import Tolerance
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.analysis import ideal_of, printed_ideal_mbps
from airpath_papers.wimax.claims import CLAIMS
from airpath_papers.wimax.data import (
    BASE_RTTS_MS,
    GAINS,
    IDEAL,
    IDEAL_OF_TABLES,
    NAMES,
    POLICIES,
    table1,
    table2,
)
from airpath_papers.wimax.measures import GOODPUT, QUANTITIES
from airpath_papers.wimax.scenarios import Case, places

__all__ = ["TABLES", "bound", "gains", "rows_of", "summarise"]

_FITTED: Final = ("uni", "blind-bi")
"""Policies whose throughputs of Table 2 the TCP was fitted on."""


def _percent(claim: str, name: str) -> Tolerance:
    limit = CLAIMS.specs[claim][name]
    return Tolerance(f"{100 * limit:g} % (claims.toml, {claim})", relative=limit)


def _points(claim: str, name: str, unit: float = 1.0) -> Tolerance:
    limit = unit * CLAIMS.specs[claim][name]
    return Tolerance(f"{limit:g} (claims.toml, {claim})", absolute=limit)


def tolerances(table: int, policy: str) -> dict[str, Tolerance]:
    """Return how far our numbers of a policy may be from those of Table 1 or 2."""
    own = "adapt" if policy == "adapt-bi" else "within"
    if table == 1:
        return {
            "allocated": _percent("table1-bytes", own),
            "used": _percent("table1-bytes", "within"),
            "efficiency": _points("table1-efficiency", own),
        }
    throughput = "table2-fitted" if policy in _FITTED else "table2-predicted"
    return {
        "mac_delay": _percent("table2-delay", own),
        "efficiency": _points("table2-efficiency", own, 0.01),
        "goodput": _percent(throughput, "within"),
    }


def rows_of(
    session: Session,
    case: Case,
    place: Mapping[str, int | float | str],
    printed: Mapping[str, float] | None = None,
    tolerated: Mapping[str, Tolerance] | None = None,
    quantities: Sequence[Measured] = tuple(QUANTITIES.values()),
) -> list[Row]:
    """Return the rows of a case, beside what is printed.

    Parameters
    ----------
    session : Session
        Has the simulations.
    case : Case
        Which.
    place : mapping
        What names the rows.
    printed, tolerated : mapping, optional
        Printed numbers and how far ours may be, by quantity. Default: none.
    quantities : sequence of Measured
        Which. Default: all of a download.
    """
    known, limits = printed or {}, tolerated or {}
    return [
        replace(
            each.row(session, case, place),
            published=known.get(each.name),
            tolerance=limits.get(each.name) if each.name in known else None,
        )
        for each in quantities
    ]


_NAMED: Final = [Key("base_rtt_ms", "RTT_min, ms"), Key("policy", "", NAMES.__getitem__)]


def _table(title: str, session: Session, rows: Sequence[Row], names: Sequence[str]) -> Table:
    cell = Case("uni")
    about = f"{session.effort_of(cell).replications} runs; ± are "
    about += f"{100 * session.paper.confidence:g} % intervals. Delays in ms, throughput in Mbit/s."
    return comparison(title, rows, _NAMED, [QUANTITIES[name].shown() for name in names], [about])


# --- gains -------------------------------------------------------------------------------------


def bound(base_rtt_ms: int) -> float:
    """Return the largest gain of adapt-BI that its printed uplink delay can give, as a share.

    A flow that its window limits gains what its round trip loses: RTT_min, the uplink delay that
    is left, and about 20 ms of frames and delayed ACKs.
    """
    uni, adapt = (table2()[base_rtt_ms, policy]["mac_delay"] for policy in ("uni", "adapt-bi"))
    return (uni - adapt) / (base_rtt_ms + adapt + 20)


def gains(session: Session, base_rtt_ms: int, policy: str, over: str) -> float | None:
    """Return by how much a policy's mean throughput is above another's; None without runs."""
    found = [GOODPUT.estimate(session, Case(each, base_rtt_ms)) for each in (policy, over)]
    if found[0] is None or found[1] is None:
        return None
    return found[0].mean / found[1].mean - 1


def _gain_rows(session: Session, item: str, pairs: Sequence[tuple[int, str, str]]) -> list[Row]:
    printed = {
        (each.base_rtt_ms, each.policy, each.over): each.gain for each in GAINS if each.item == item
    }
    rows = []
    for base_rtt_ms, policy, over in pairs:
        ours = gains(session, base_rtt_ms, policy, over)
        from_table = (
            table2()[base_rtt_ms, policy]["goodput"] / (table2()[base_rtt_ms, over]["goodput"])
        )
        theirs = printed.get((base_rtt_ms, policy, over), 100 * (from_table - 1))
        place: dict[str, int | float | str] = {"policy": policy, "over": over}
        place["base_rtt_ms"] = base_rtt_ms
        extra = {"bound": 100 * bound(base_rtt_ms)} if over == "uni" else {}
        value = None if ours is None else 100 * ours
        rows.append(Row(place, "goodput_gain", "%", theirs, value, extra=extra))
    return rows


def _gain_table(rows: Sequence[Row]) -> Table:
    lines = [
        [
            str(row.row["base_rtt_ms"]),
            f"{NAMES[str(row.row['policy'])]} over {NAMES[str(row.row['over'])]}",
            f"{row.published:.0f}",
            "not simulated" if row.ours is None else f"{row.ours:.1f}",
            f"{row.extra['bound']:.0f}" if "bound" in row.extra else "",
        ]
        for row in rows
    ]
    columns = [("", "RTT_min, ms"), ("", ""), ("gain, %", "paper"), ("gain, %", "ours")]
    columns.append(("gain, %", "bound"))
    notes = [
        "Bound: what a window-limited flow gains from the printed delays, their difference over "
        "RTT_min, adapt-BI's delay and 20 ms."
    ]
    return Table("What the throughputs gain", columns, lines, notes)


# --- the items ---------------------------------------------------------------------------------


def _place(policy: str, base_rtt_ms: int) -> dict[str, int | float | str]:
    return {"policy": policy, "base_rtt_ms": base_rtt_ms}


TABLE1_CELLS: Final[list[Cell]] = list(places([100]).values())


def _evaluate1(session: Session, _out: Path | None) -> ItemResult:
    rows = [
        row
        for policy in POLICIES
        for row in rows_of(
            session,
            Case(policy),
            _place(policy, 100),
            table1()[policy],
            tolerances(1, policy),
        )
    ]
    title = titles(WIMAX)["table1"]
    names = ("allocated", "used", "efficiency", "goodput")
    table = _table(f"Table 1: {title}", session, rows, names)
    pairs = [(100, "adapt-bi", "uni"), (100, "blind-bi", "adapt-bi")]
    more = _gain_rows(session, "table1", pairs)
    known = [row for row in (*rows, *more) if row.ours is not None]
    complete = session.complete(TABLE1_CELLS)
    return ItemResult("table1", title, known, [table, _gain_table(more)], complete=complete)


def _ideal_rows(base_rtt_ms: int) -> list[Row]:
    """Return the printed and the computed ideal, and the model with the tables' TCP and R."""
    printed = table2()[base_rtt_ms, IDEAL]["goodput"]
    what = (GOODPUT.name, GOODPUT.unit)
    ours = printed_ideal_mbps(base_rtt_ms)
    limit = _percent("table2-ideal", "within")
    tables = ideal_of(base_rtt_ms).throughput_bps / 1e6
    return [
        Row(_place(IDEAL, base_rtt_ms), *what, printed, ours, tolerance=limit),
        Row(_place(IDEAL_OF_TABLES, base_rtt_ms), *what, None, tables),
    ]


TABLE2_CELLS: Final[list[Cell]] = list(places().values())


def _evaluate2(session: Session, _out: Path | None) -> ItemResult:
    rows: list[Row] = []
    for base_rtt_ms in BASE_RTTS_MS:
        for policy in POLICIES:
            printed = table2()[base_rtt_ms, policy]
            place = _place(policy, base_rtt_ms)
            case = Case(policy, base_rtt_ms)
            rows += rows_of(session, case, place, printed, tolerances(2, policy))
        rows += _ideal_rows(base_rtt_ms)
    title = titles(WIMAX)["table2"]
    table = _table(f"Table 2: {title}", session, rows, ("mac_delay", "efficiency", "goodput"))
    more = _gain_rows(session, "table2", [(rtt, "adapt-bi", "uni") for rtt in BASE_RTTS_MS])
    known = [row for row in (*rows, *more) if row.ours is not None]
    complete = session.complete(TABLE2_CELLS)
    return ItemResult("table2", title, known, [table, _gain_table(more)], complete=complete)


TABLES: Final[Mapping[str, tuple[Any, Any]]] = {
    "table1": (TABLE1_CELLS, _evaluate1),
    "table2": (TABLE2_CELLS, _evaluate2),
}
"""Cells and evaluation of each item."""


# --- over all of them --------------------------------------------------------------------------


def summarise(results: Sequence[ItemResult]) -> list[Summary]:
    """Return what the abstract says beside ours, as far as it was simulated."""
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
