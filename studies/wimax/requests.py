"""The item ``requests``: scheduling requests as in LTE and NR, grants ahead of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from airpath.reproduction.base import Table
from airpath.reproduction.items import Found, item_of
from airpath.reproduction.session import Session
from airpath_papers.wimax.data import NAMES
from airpath_papers.wimax.measures import ALLOCATED, EFFICIENCY, MAC_DELAY, USED

from .plots import TOTAL, figure_of, plot_of
from .scenarios import DIRECTORY, SWEEPS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["REQUESTS"]

PANELS: Final = {
    "download, Mbit/s": TOTAL,
    "uplink delay, ms": MAC_DELAY,
    "efficiency": EFFICIENCY,
    "uplink, kB": ALLOCATED,
}
PERIOD: Final = ("period_ms", "period of requests, ms")
TITLES: Final = {"lte": "LTE-like", "nr": "NR-like"}
DOWNLOADS: Final = {
    name: plot_of("downloads", *PERIOD, PANELS, preset=preset) for preset, name in TITLES.items()
}
LONE: Final = {
    name: plot_of("lone", *PERIOD, {"wait, ms": MAC_DELAY}, preset=preset)
    for preset, name in TITLES.items()
}
PAPERS_LINK: Final = SWEEPS.cells("papers-link")
CELLS: Final = [*SWEEPS.cells("downloads"), *SWEEPS.cells("lone"), *PAPERS_LINK]


def _found(session: Session, _title: str) -> Found:
    rows = []
    for cell in CELLS:
        axes = cell.axes
        lone = axes.get("lone", False)
        place = {key: axes[key] for key in ("policy", "preset", "period_ms")}
        place["lone"] = str(lone).lower()
        shown = (MAC_DELAY,) if lone else (*PANELS.values(), USED)
        rows += [each.row(session, cell, place) for each in shown]
    notes = ["RTT_min 40 ms, Mbit/s; delays in ms; kB over 20 s. Unsolicited grants every 5 ms."]
    over = "over the period of requests"
    tables = [
        table
        for name, plot in DOWNLOADS.items()
        for table in (
            plot.table(f"{name}: a download {over}", session, notes),
            LONE[name].table(f"{name}: wait of a lone packet {over}", session, ["Waits in ms."]),
        )
    ]
    lines = [
        [NAMES[cell.axes["policy"]], *(each.text(session, cell) for each in PANELS.values())]
        for cell in PAPERS_LINK
    ]
    columns = [("", ""), *(("", each.name) for each in PANELS.values())]
    notes = ["RTT_min 100 ms, a download without end; kB over 20 s."]
    own = Table("The paper's link, with unsolicited grants", columns, lines, notes)
    return rows, [*tables, own]


def _draw(session: Session) -> Figure:
    return figure_of(session, DOWNLOADS)


LEGEND: Final = "RTT_min 40 ms, windows of 64 KB."

REQUESTS: Final = item_of(DIRECTORY, "requests", CELLS, _found, _draw, LEGEND)
"""The item's cells, and what makes its result."""
