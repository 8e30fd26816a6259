"""Sensitivity of the numbers to unspecified parameters of the paper, changed one at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath_papers.sbd.claims import SWEEPS as OF_PAPER
from airpath_papers.sbd.tables import MEASURED, TABLE6, keys

__all__ = ["CELLS", "SWEEPS", "evaluate_sensitivity"]

TITLE = "what the numbers depend on: one choice of the README changed at a time"

SWEEPS: Final = Sweeps(Path(__file__).parent, parent=OF_PAPER)


def _chosen(point: SweepPoint) -> SweepPoint:
    """Return the point without the change."""
    return TABLE6[point.axes["bearer"], point.axes["flows"], point.axes["aqm"]]


CELLS: Final[list[Cell]] = [
    cell for point in SWEEPS.cells("sensitivity") for cell in (point, _chosen(point))
]


def evaluate_sensitivity(session: Session, _out: Path | None) -> ItemResult:
    """Return the effect of each change on goodput and delay."""
    rows: list[Row] = []
    tables = []
    for name, about in SWEEPS.changes("sensitivity").items():
        lines = []
        points = SWEEPS.cells("sensitivity", change=name)
        for point in points:
            named = keys(point)
            line = [str(named["bearer"]), str(named["flows"]), str(named["aqm"])]
            for quantity in MEASURED.values():
                changed = quantity.values(session, point)
                # The same runs as with the change.
                chosen = quantity.values(session, _chosen(point))[: len(changed)]
                if not chosen or not changed:
                    line += ["", "", ""]
                    continue
                before, after = session.interval(chosen), session.interval(changed)
                change = 100 * (after.mean / before.mean - 1)
                means = (f"{e.mean:.{quantity.decimals}f}" for e in (before, after))
                line += [*means, f"{change:+.1f}"]
                row = Row({**named, "variant": name}, quantity.name, quantity.unit, None, None)
                rows.append(row.with_computed(after, extra={"change_per_cent": change}))
            lines.append(line)
        columns = [("", "bearer"), ("", "flows"), ("", "aqm")]
        columns += [(g, n) for g in MEASURED for n in ("as chosen", "changed", "%")]
        notes = [f"The same {points[0].reps} runs of both."]
        tables.append(Table(f"{name}: {about}", columns, lines, notes))
    complete = session.complete(CELLS)
    return ItemResult("sensitivity", TITLE, rows, tables, complete=complete)
