"""The item ``stations``: 1 to 40 stations, CUBIC, uploads at the same stations, short transfers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from airpath.reproduction.base import Row, Table
from airpath.reproduction.items import item_of
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath_papers.wimax.measures import (
    ALLOCATED,
    CONTENTION,
    EFFICIENCY,
    MAC_DELAY,
    USED,
    collided_share,
    completion_ms,
)

from .plots import TIMEOUTS, TOTAL, figure_of, plot_of
from .scenarios import DIRECTORY, SWEEPS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["STATIONS"]

COLLIDED: Final = Measured("collided_share", "1", collided_share, 4)
COMPLETION: Final = Measured("completion", "ms", completion_ms, 0)

ENDLESS: Final = (TOTAL, MAC_DELAY, EFFICIENCY, USED, ALLOCATED, COLLIDED, CONTENTION, TIMEOUTS)

PANELS: Final = {
    "downloads, Mbit/s": TOTAL,
    "uplink delay, ms": MAC_DELAY,
    "uplink used, kB": USED,
    "codes that collide": COLLIDED,
}
CROWDS: Final = {
    "New Reno": plot_of("stations", "stations", "stations", PANELS, cc="newreno"),
    "CUBIC": plot_of("stations", "stations", "stations", PANELS, cc="cubic"),
    "with an upload": plot_of("uploads-by-stations", "stations", "stations", PANELS),
}
SHORT: Final = plot_of("short", "size_kb", "size, kB", {"completion, ms": COMPLETION})

CELLS: Final[list[Any]] = [
    *(
        cell
        for plot in (*CROWDS.values(), SHORT)
        for cells in plot.groups.values()
        for cell in cells
    ),
    *SWEEPS.cells("colliding"),
]

DEFAULTS: Final = {"stations": 1, "cc": "newreno", "upload": False, "codes": 8, "size_kb": 0}
"""Of `crowd`."""


def _rows(session: Session) -> list[Row]:
    rows = []
    for cell in CELLS:
        axes = {"policy": "", **DEFAULTS, **cell.axes}
        place = {**axes, "upload": str(axes["upload"]).lower()}
        shown = (COMPLETION, MAC_DELAY, EFFICIENCY) if axes["size_kb"] else ENDLESS
        rows += [each.row(session, cell, place) for each in shown]
    return rows


def _tables(session: Session, title: str) -> list[Table]:
    notes = ["All downloads, Mbit/s; delays in ms, bytes in kB over 20 s."]
    tables = [plot.table(f"{title}: {name}", session, notes) for name, plot in CROWDS.items()]
    return [*tables, SHORT.table("Short transfers, one station, RTT_min 100 ms", session, [])]


def _draw(session: Session) -> tuple[Figure, str]:
    figure = figure_of(session, {**CROWDS, "short transfers": SHORT})
    runs = session.effort_of(CELLS[0]).replications
    about = f"RTT_min 100 ms, windows of 64 KB, 64QAM 5/6 down, 8 codes, {runs} runs of 20 s."
    return figure, about


STATIONS: Final = item_of(DIRECTORY, "stations", CELLS, _rows, _tables, _draw)
"""The item's cells, and what makes its result."""
