"""The item ``trace``: VCP over a recorded LTE link, whose rate is not its nominal one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.manifest import titles
from airpath.reproduction.quantities import Measured, bottleneck
from airpath.reproduction.session import Session
from airpath.scenario.traces import PREFIX
from airpath_papers.vcp.common import about
from airpath_papers.vcp.measures import DELIVERED

from .lte import DURATION_S, RECORDED, TRACE, trace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


__all__ = ["ITEM"]

DIRECTORY: Final = Path(__file__).parent

QUEUE: Final = Measured("queue", "1", lambda run: float(bottleneck(run)["mean_packets"]), 1)
DELAY: Final = Measured(
    "queueing_delay", "ms", lambda run: 1e3 * float(bottleneck(run)["mean_sojourn_s"]), 1
)
MEASURES: Final = (DELIVERED, QUEUE, DELAY)


_CELLS: Final[list[Cell]] = list(RECORDED.values())


def _evaluate(session: Session, out: Path | None) -> ItemResult:
    title = titles(DIRECTORY)["trace"]
    rows: list[Row] = []
    lines = []
    for name, case in RECORDED.items():
        found = [each.row(session, case, {"capacity": name}) for each in MEASURES]
        rows += [row for row in found if row.ours is not None]
        lines.append([name, *(each.text(session, case) for each in MEASURES)])
    columns = [("", "capacity"), ("", "delivered"), ("", "mean queue"), ("", "mean delay, ms")]
    recorded = trace_file() == TRACE
    trace = TRACE.removeprefix(PREFIX) if recorded else "a trace made by Airpath"
    notes = [f"Ten flows one way over {trace}, {DURATION_S:g} s, each run from another place."]
    complete, figures = session.complete(_CELLS), []
    if out is not None and complete:
        figures = session.draw(
            lambda: _draw(session, title), out, "vcp-trace", title, session.about
        )
    table = Table(title, columns, lines, notes)
    return ItemResult("trace", title, rows, [table], figures, complete=complete)


def _draw(session: Session, title: str) -> Figure:
    figure = plotting.new_figure(9.6, 4.4)
    axes = figure.subplots()
    for (name, case), colour in zip(RECORDED.items(), ("orange", "blue"), strict=True):
        times, values = session.series(case, "queue").of(0)
        look: Any = {"color": plotting.COLOURS[colour], "lw": 0.8, "where": "post"}
        axes.step(times, values, label=f"capacity {name}", **look)
    axes.set(xlabel="time, s", ylabel="queue, packets")
    axes.set_ylim(bottom=0)
    axes.legend()
    legend = "The first run of each. "
    plotting.heading(figure, title, legend + about(session, "trace", _CELLS))
    return figure


ITEM: Final = (_CELLS, _evaluate)
"""The item's cells, and what makes its result."""
