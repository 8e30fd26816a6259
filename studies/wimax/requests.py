"""The item ``requests``: scheduling requests as in LTE and NR, grants ahead of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.claims import caption
from airpath.reproduction.manifest import titles
from airpath.reproduction.session import Session
from airpath_papers.wimax.data import NAMES
from airpath_papers.wimax.delays import COLOURS
from airpath_papers.wimax.measures import ALLOCATED, EFFICIENCY, MAC_DELAY, TOTAL, USED

from .accesses import ACCESS_POLICIES, PERIODS_MS, Access

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["REQUESTS"]

SHOWN: Final = (TOTAL, MAC_DELAY, EFFICIENCY, ALLOCATED)
TITLES: Final = {"lte": "LTE-like", "nr": "NR-like"}

DOWNLOADS: Final = {
    preset: {policy: [Access(preset, p, policy) for p in PERIODS_MS] for policy in ACCESS_POLICIES}
    for preset in TITLES
}
LONE: Final = {
    preset: [Access(preset, period, "uni", lone=True) for period in PERIODS_MS] for preset in TITLES
}
PAPERS_LINK: Final = [Access("wimax", 0, policy) for policy in ACCESS_POLICIES]
CELLS: Final[list[Cell]] = [
    *(cell for found in DOWNLOADS.values() for cells in found.values() for cell in cells),
    *(cell for cells in LONE.values() for cell in cells),
    *PAPERS_LINK,
]


def _name(policy: str) -> str:
    return NAMES.get(policy, policy)


def _rows(session: Session) -> list[Row]:
    rows = []
    for cell in CELLS:
        case = Access(*cell)
        place: dict[str, int | float | str] = {
            "policy": case.policy,
            "preset": case.preset,
            "period_ms": case.period_ms,
            "lone": str(case.lone).lower(),
        }
        shown = (MAC_DELAY,) if case.lone else (*SHOWN, USED)
        rows += [each.row(session, case, place) for each in shown]
    return [row for row in rows if row.ours is not None]


def _table(session: Session, preset: str) -> Table:
    found = DOWNLOADS[preset]
    lines = [
        [
            str(period),
            MAC_DELAY.text(session, LONE[preset][at]),
            *(each.text(session, found[p][at]) for p in ACCESS_POLICIES for each in SHOWN),
        ]
        for at, period in enumerate(PERIODS_MS)
    ]
    columns = [("", "period, ms"), ("lone packet", "wait, ms")]
    columns += [(_name(policy), each.name) for policy in ACCESS_POLICIES for each in SHOWN]
    notes = ["RTT_min 40 ms, Mbit/s; delays in ms; kB over 20 s. Unsolicited grants every 5 ms."]
    return Table(f"{TITLES[preset]}: a download over the period of requests", columns, lines, notes)


def _own_table(session: Session) -> Table:
    lines = [[_name(c.policy), *(each.text(session, c) for each in SHOWN)] for c in PAPERS_LINK]
    columns = [("", ""), *(("", each.name) for each in SHOWN)]
    notes = ["RTT_min 100 ms, a download without end; kB over 20 s."]
    return Table("The paper's link, unsolicited grants beside", columns, lines, notes)


def _evaluate(session: Session, out: Path | None) -> ItemResult:
    title = titles(Path(__file__).parent)["requests"]
    complete, figures = session.complete(CELLS), []
    if out is not None and complete:
        about = (out, "wimax-requests", title, session.about)
        figures = session.draw(lambda: _draw(session, title), *about)
    tables = [*(_table(session, preset) for preset in TITLES), _own_table(session)]
    return ItemResult("requests", title, _rows(session), tables, figures, complete=complete)


def _draw(session: Session, title: str) -> Figure:
    shown = {"download, Mbit/s": TOTAL, "uplink delay, ms": MAC_DELAY, "uplink, kB": ALLOCATED}
    figure = plotting.new_figure(12.0, 7.4)
    panels: Any = figure.subplots(len(TITLES), len(shown), squeeze=False)
    for row, (preset, name) in zip(panels, TITLES.items(), strict=True):
        for axes, (quantity, measured) in zip(row, shown.items(), strict=True):
            for policy, cells in DOWNLOADS[preset].items():
                known = [measured.estimate(session, cell) for cell in cells]
                found = [each for each in known if each is not None]
                colour = plotting.COLOURS[COLOURS.get(policy, "purple")]
                look: dict[str, Any] = {"color": colour, "marker": "o", "lw": 1.2, "capsize": 2}
                bars = [each.error_bar for each in found]
                means = [each.mean for each in found]
                axes.errorbar(PERIODS_MS, means, yerr=bars, label=_name(policy), **look)
            axes.set(xscale="log", xlabel="period of requests, ms", title=f"{name}: {quantity}")
            axes.set_xticks(PERIODS_MS, [str(period) for period in PERIODS_MS])
            axes.minorticks_off()
            axes.set_ylim(bottom=0)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    about = f"RTT_min 40 ms, windows of 64 KB. {caption(session, 'requests')}"
    plotting.heading(figure, title, about)
    return figure


REQUESTS: Final = (CELLS, _evaluate)
"""The item's cells, and what makes its result."""
