"""The item ``stations``: 1 to 40 stations, CUBIC, uploads beside, short transfers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.claims import caption
from airpath.reproduction.manifest import titles
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath_papers.wimax.crowds import COLLIDING, COUNTS, SIZES_KB, Crowd
from airpath_papers.wimax.data import NAMES, POLICIES
from airpath_papers.wimax.delays import COLOURS
from airpath_papers.wimax.measures import (
    ALLOCATED,
    EFFICIENCY,
    MAC_DELAY,
    TIMEOUTS,
    TOTAL,
    USED,
    collided_share,
    completion_ms,
    contention_share,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["STATIONS"]

COLLIDED: Final = Measured("collided_share", "1", collided_share, 4)
CONTENTION: Final = Measured("contention_share", "1", contention_share, 3)
COMPLETION: Final = Measured("completion", "ms", completion_ms, 0)

ENDLESS: Final = (TOTAL, MAC_DELAY, EFFICIENCY, USED, ALLOCATED, COLLIDED, CONTENTION, TIMEOUTS)

KINDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "New Reno": {},
    "CUBIC": {"cc": "cubic"},
    "an upload beside": {"upload": True},
}
"""What the downloads are, by name."""

CROWDS: Final = {
    name: {policy: [Crowd(policy, n, **entries) for n in COUNTS] for policy in POLICIES}
    for name, entries in KINDS.items()
}
SHORT: Final = {policy: [Crowd(policy, size_kb=size) for size in SIZES_KB] for policy in POLICIES}
CELLS: Final[list[Cell]] = [
    *(cell for found in CROWDS.values() for cells in found.values() for cell in cells),
    *(cell for cells in SHORT.values() for cell in cells),
    *COLLIDING.values(),
]


def _rows(session: Session) -> list[Row]:
    rows = []
    for cell in CELLS:
        case = Crowd(*cell)
        place: dict[str, int | float | str] = {
            "policy": case.policy,
            "stations": case.stations,
            "cc": case.cc,
            "upload": str(case.upload).lower(),
            "codes": case.codes,
            "size_kb": case.size_kb,
        }
        shown = (COMPLETION, MAC_DELAY, EFFICIENCY) if case.size_kb else ENDLESS
        rows += [each.row(session, case, place) for each in shown]
    return [row for row in rows if row.ours is not None]


def _table(session: Session, title: str, name: str) -> Table:
    shown = (TOTAL, MAC_DELAY, USED, COLLIDED)
    lines = [
        [
            str(n),
            *(each.text(session, CROWDS[name][p][at]) for p in POLICIES for each in shown),
        ]
        for at, n in enumerate(COUNTS)
    ]
    columns = [("", "stations")]
    columns += [(NAMES[policy], each.name) for policy in POLICIES for each in shown]
    notes = ["All downloads, Mbit/s; delays in ms, bytes in kB over 20 s."]
    return Table(f"{title}: {name}", columns, lines, notes)


def _short_table(session: Session) -> Table:
    lines = [
        [str(size), *(COMPLETION.text(session, SHORT[policy][at]) for policy in POLICIES)]
        for at, size in enumerate(SIZES_KB)
    ]
    columns = [("", "kB"), *(("completion, ms", NAMES[policy]) for policy in POLICIES)]
    return Table("Short transfers, one station, RTT_min 100 ms", columns, lines)


def _evaluate(session: Session, out: Path | None) -> ItemResult:
    title = titles(Path(__file__).parent)["stations"]
    complete, figures = session.complete(CELLS), []
    if out is not None and complete:
        about = (out, "wimax-stations", title, session.about)
        figures = session.draw(lambda: _draw(session, title), *about)
    tables = [*(_table(session, title, name) for name in KINDS), _short_table(session)]
    return ItemResult("stations", title, _rows(session), tables, figures, complete=complete)


def _line(
    axes: Any,
    session: Session,
    places: Sequence[float],
    cells: Sequence[Cell],
    what: Measured,
    policy: str,
) -> None:
    known = [what.estimate(session, cell) for cell in cells]
    found = [each for each in known if each is not None]
    bars: dict[str, Any] = {"yerr": [each.error_bar for each in found], "capsize": 2}
    look: dict[str, Any] = {"color": plotting.COLOURS[COLOURS[policy]], "marker": "o", "lw": 1.2}
    axes.errorbar(places, [each.mean for each in found], label=NAMES[policy], **bars, **look)


def _draw(session: Session, title: str) -> Figure:
    shown = {
        "downloads, Mbit/s": TOTAL,
        "uplink delay, ms": MAC_DELAY,
        "uplink used, kB": USED,
        "codes that collide": COLLIDED,
    }
    figure = plotting.new_figure(13.6, 10.4)
    panels: Any = figure.subplots(len(KINDS) + 1, len(shown), squeeze=False)
    for row, name in zip(panels, KINDS, strict=False):
        for axes, (quantity, measured) in zip(row, shown.items(), strict=True):
            for policy in POLICIES:
                _line(axes, session, COUNTS, CROWDS[name][policy], measured, policy)
            axes.set(xscale="log", xlabel="stations", title=f"{name}: {quantity}")
            axes.set_xticks(COUNTS, [str(n) for n in COUNTS])
            axes.minorticks_off()
            axes.set_ylim(bottom=0)
    last = panels[-1]
    for policy in POLICIES:
        _line(last[0], session, SIZES_KB, SHORT[policy], COMPLETION, policy)
    last[0].set(xlabel="size, kB", title="short transfers: completion, ms", xscale="log")
    last[0].set_xticks(SIZES_KB, [str(size) for size in SIZES_KB])
    last[0].minorticks_off()
    last[0].set_ylim(bottom=0)
    for axes in last[1:]:
        axes.set_visible(False)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    runs = session.effort_of(CELLS[0]).replications
    about = f"RTT_min 100 ms, windows of 64 KB, 64QAM 5/6 down, 8 codes, {runs} runs of 20 s. "
    plotting.heading(figure, title, about + caption(session, "stations"))
    return figure


STATIONS: Final = (CELLS, _evaluate)
"""The item's cells, and what makes its result."""
