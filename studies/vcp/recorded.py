"""The item ``trace``: VCP over a recorded LTE link, whose rate is not its nominal one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Row, Table
from airpath.reproduction.items import item_of
from airpath.reproduction.quantities import Measured, bottleneck
from airpath.reproduction.session import Session
from airpath.scenario.traces import PREFIX
from airpath_papers.vcp.quantities import DELIVERED

from .checks import DIRECTORY, SWEEPS
from .lte import TRACE, trace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ITEM"]

QUEUE: Final = Measured("queue", "1", lambda run: float(bottleneck(run)["mean_packets"]), 1)
DELAY: Final = Measured(
    "queueing_delay", "ms", lambda run: 1e3 * float(bottleneck(run)["mean_sojourn_s"]), 1
)
MEASURES: Final = (DELIVERED, QUEUE, DELAY)


def _found(session: Session, title: str) -> tuple[list[Row], list[Table]]:
    rows: list[Row] = []
    lines = []
    for place, cell in SWEEPS.points("trace"):
        rows += [each.row(session, cell, dict(place)) for each in MEASURES]
        lines.append([place["capacity"], *(each.text(session, cell) for each in MEASURES)])
    columns = [("", "capacity"), ("", "delivered"), ("", "mean queue"), ("", "mean delay, ms")]
    recorded = trace_file() == TRACE
    trace = TRACE.removeprefix(PREFIX) if recorded else "a trace made by Airpath"
    notes = [f"Ten flows one way over {trace}, 60 s, each run from another place."]
    return rows, [Table(title, columns, lines, notes)]


def _draw(session: Session) -> Figure:
    figure = plotting.new_figure(9.6, 4.4)
    axes = figure.subplots()
    for (place, cell), colour in zip(SWEEPS.points("trace"), ("orange", "blue"), strict=True):
        times, values = session.series(cell, "queue").of(0)
        look: Any = {"color": plotting.COLOURS[colour], "lw": 0.8, "where": "post"}
        axes.step(times, values, label=f"capacity {place['capacity']}", **look)
    axes.set(xlabel="time, s", ylabel="queue, packets")
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


ITEM: Final = item_of(
    DIRECTORY, "trace", SWEEPS.cells("trace"), _found, _draw, "The first run of each. "
)
"""The item's cells, and what makes its result."""
