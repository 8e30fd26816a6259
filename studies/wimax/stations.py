"""The item ``stations``: 1 to 40 stations, CUBIC, uploads at the same stations, short transfers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from airpath.reproduction.items import Found, item_of
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath_papers.wimax.measures import (
    ALLOCATED,
    CONTENTION,
    EFFICIENCY,
    MAC_DELAY,
    USED,
    collided_share,
)

from .plots import TIMEOUTS, TOTAL, completion_ms, figure_of, plot_of
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


def _found(session: Session, title: str) -> Found:
    rows = []
    for cell in CELLS:
        axes = {"policy": "", **DEFAULTS, **cell.axes}
        place = {**axes, "upload": str(axes["upload"]).lower()}
        shown = (COMPLETION, MAC_DELAY, EFFICIENCY) if axes["size_kb"] else ENDLESS
        rows += [each.row(session, cell, place) for each in shown]
    notes = ["All downloads, Mbit/s; delays in ms, bytes in kB over 20 s."]
    tables = [plot.table(f"{title}: {name}", session, notes) for name, plot in CROWDS.items()]
    short = SHORT.table("Short transfers, one station, RTT_min 100 ms", session, [])
    return rows, [*tables, short]


def _draw(session: Session) -> Figure:
    return figure_of(session, {**CROWDS, "short transfers": SHORT})


LEGEND: Final = "RTT_min 100 ms, windows of 64 KB, 64QAM 5/6 down, 8 codes."

STATIONS: Final = item_of(DIRECTORY, "stations", CELLS, _found, _draw, LEGEND)
"""The item's cells, and what makes its result."""
