"""Quantities, labels and names of rows; items that ``paper.toml`` does not declare completely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from airpath.reproduction.base import Cell, Row, Table
from airpath.reproduction.formulas import Point
from airpath.reproduction.items import Found, item_of
from airpath.reproduction.quantities import MeasuredQuantity, PointQuantity, ip_throughput_mbps
from airpath.reproduction.session import Session
from airpath_papers.clamp.measures import NAMING as OF_PAPER
from airpath_papers.clamp.measures import QUANTITIES as PAPERS
from airpath_papers.clamp.measures import fairness, queueing_delay_s, rate_mbps

from . import fluid_map, sensitivity
from .checks import JOINS, TARGETS, delays_of_parts, oscillation, returned
from .scenarios import SWEEPS
from .today import MEASURES

__all__ = ["ITEMS", "NAMING", "QUANTITIES"]

THREE: Final = (
    MeasuredQuantity("queueing_delay", "s", queueing_delay_s, 3),
    MeasuredQuantity("total_throughput", "Mbit/s", ip_throughput_mbps, 2),
    MeasuredQuantity("jain", "1", fairness, 3),
)
RATES: Final = [
    MeasuredQuantity(f"throughput_{ms}", "Mbit/s", rate_mbps(ms), 2) for ms in (30, 130, 10, 180)
]

QUANTITIES: Final[Mapping[str, Any]] = {
    **PAPERS,
    **{each.name: each for each in (*THREE, *RATES)},
    **{f"today_{each.name}": each for each in MEASURES},
    **fluid_map.QUANTITIES,
    "oscillation": PointQuantity("sd_over_mean", "1", oscillation, ".3f"),
}
"""Quantities that `paper.toml` names."""


def _place_of(point: Point) -> dict[str, Any]:
    """Return the name of a row in `fluid-map`, `harq`, `mechanisms` or `schedulers`."""
    axes, place = point.cell.axes, point.place
    if "d1_ms" in axes:
        return {"d1_ms": axes["d1_ms"], "ratio": round(axes["ratio"], 4)}
    if "harq" in axes:
        return {"speed": OF_FAST[axes["fast"]], **{key: axes[key] for key in ("harq", "margin")}}
    part = place.get("part", place.get("change"))
    if "scheduler" in axes:
        part = f"{axes['scheduler']}, {axes['spread']} SNRs"
    scheme = place.get("group", axes["protocol"])
    return {"speed": OF_PAPER.word("speed", axes["speed"]), "scheme": scheme, "part": part}


OF_FAST: Final = {True: "10 m/s", False: "0.1 m/s"}
WORDS: Final = {"fast": OF_FAST, "d1_ms": "{}", "ratio": "{:.2f}".format, **fluid_map.LIMITS}

NAMING: Final = replace(OF_PAPER, words={**OF_PAPER.words, **WORDS}, place_of=_place_of)
"""Names of values and points in figures."""


def _columns(*names: str) -> list[tuple[str, str]]:
    return [("", name) for name in names]


# --- adaptive a ---------------------------------------------------------------------------------


def _show_adaptive(session: Session, _title: str) -> Found:
    lines, rows = [], []
    for name, case in JOINS.items():
        delays = delays_of_parts(session, case, 20.0)
        lines.append(["link", name, *(f"{1e3 * delay:.2f}" for delay in delays)])
        rows += [
            Row({"case": name, "part": str(part)}, "queueing_delay", "s", None, delay)
            for part, delay in enumerate(delays)
        ]
    table = Table(
        "mean delay of each part, ms", _columns("", "", "1", "3", "8", "3 flows"), lines, []
    )
    lines = []
    for ms, cell in TARGETS.items():
        key = {"case": f"target {ms} ms", "part": "fast cell"}
        rows += [each.row(session, cell, key) for each in (*THREE, *RATES)]
        lines.append([f"{ms} ms", *(each.text(session, cell) for each in (*THREE, *RATES))])
    columns = _columns("target", *(f"{m.name}, {m.unit}" for m in (*THREE, *RATES)))
    return rows, [table, Table("the fast cell", columns, lines, [])]


# --- CLAMP at the sender ------------------------------------------------------------------------


def _show_sender(session: Session, _title: str) -> Found:
    lines, rows = [], []
    named = {f"{at['flows']} flows, {WHERE[at['sender']]}": p for at, p in EQUILIBRIA}
    named |= {f"first flow slow, {WHERE[at['sender']]}": p for at, p in ELSEWHERE}
    for name, case in named.items():
        (run,) = session.replications(case)
        queue = run["queues"][0]["measured"]["clamp_queue_bytes"]
        rates = [flow["ip_throughput_bps"] / 1e6 for flow in run["flows"]]
        lines.append([name, f"{queue:.0f}", ", ".join(f"{rate:.3f}" for rate in rates)])
        rows.append(Row({"case": name}, "clamp_queue", "B", None, float(queue)))
        rows += [
            Row({"case": name, "flow": str(flow)}, "throughput", "Mbit/s", None, rate)
            for flow, rate in enumerate(rates)
        ]
    table = Table("a link of 10 Mbit/s", _columns("", "queue, B", "Mbit/s"), lines, [])
    lines = []
    for at, cell in RETURNS:
        headroom = f", headroom {at['headroom']:g}" if "headroom" in at else ""
        name = f"{at['flows']} flows, {WHERE[at['sender']]}{headroom}"
        window, after_s = returned(session, cell)
        shown = "not in 200" if after_s is None else f"{after_s:g}"
        lines.append([name, "" if at["sender"] else f"{window / 1e3:.0f}", shown])
        if not at["sender"]:
            rows.append(Row({"case": name}, "awnd_run_away", "B", None, window))
        rows.append(Row({"case": name}, "control_back_after", "s", None, after_s))
    back = _columns("", "AWND before, kB", "all rates equal after, s")
    return rows, [table, Table("a slow access link for 100 s, then a shared link", back, lines, [])]


WHERE: Final = {False: "at the receiver", True: "at the sender"}
EQUILIBRIA: Final = SWEEPS.points("equilibria")
ELSEWHERE: Final = SWEEPS.points("elsewhere")
RETURNS: Final = SWEEPS.points("returns")
_SENDER_CELLS: Final[list[Cell]] = [
    *(point.cell for point in (*EQUILIBRIA, *ELSEWHERE, *RETURNS)),
    *SWEEPS.cells("window-at"),
]

ITEMS: Final[Mapping[str, Any]] = {
    "adaptive-a": _show_adaptive,
    "sender-side": item_of(
        Path(__file__).parent, "sender-side", _SENDER_CELLS, _show_sender, whole=True
    ),
    "sensitivity": sensitivity.found,
}
"""Cells and evaluation of each item, or the rows and tables of a declared item."""
