"""Rows and table of the item ``trace``: VCP over a recorded LTE link, whose rate varies."""

from __future__ import annotations

from airpath.reproduction.base import Row, Table
from airpath.reproduction.items import Found
from airpath.reproduction.session import Session
from airpath.scenario.traces import PREFIX
from airpath_papers.vcp.quantities import DELIVERED

from .checks import SWEEPS
from .lte import TRACE, trace_file
from .quantities import DELAY, QUEUE

__all__ = ["found"]


def found(session: Session, title: str) -> Found:
    """Return the rows and the table of the item."""
    rows: list[Row] = []
    lines = []
    for place, cell in SWEEPS.points("trace"):
        rows += [each.row(session, cell, dict(place)) for each in (DELIVERED, QUEUE, DELAY)]
        texts = (each.text(session, cell) for each in (DELIVERED, QUEUE, DELAY))
        lines.append([place["capacity"], *texts])
    columns = [("", "capacity"), ("", "delivered"), ("", "mean queue"), ("", "mean delay, ms")]
    recorded = trace_file() == TRACE
    trace = TRACE.removeprefix(PREFIX) if recorded else "a trace made by Airpath"
    notes = [f"Ten flows one way over {trace}, 60 s, each run from another place."]
    return rows, [Table(title, columns, lines, notes)]
