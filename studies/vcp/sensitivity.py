"""The items ``advantage`` and ``sensitivity``: one choice of README.md changed at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.present.axes import legend_below
from airpath.reproduction.base import Cell, Row, Table
from airpath.reproduction.formulas import Point
from airpath.reproduction.items import Cells, Evaluate, item_of
from airpath.reproduction.session import Session
from airpath_papers.vcp.quantities import DELIVERED, NAMING, QUEUE_PACKETS
from airpath_papers.vcp.scenarios import NAMES, PROTOCOLS

from .checks import DIRECTORY, SWEEPS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CHANGED"]

SETTINGS: Final = {"r = 0.93, 14 dB": 14.0, "no FEC, 20 dB": 20.0}
"""SNR_G, dB, past the threshold, and where a hundredth of the data is lost."""
COLOURS: Final = {"vcp": "blue", "tcp-rem": "orange"}

_CHOSEN: Final = ""


def _changes(key: str) -> dict[str, str]:
    """Return the changes of an item in words, that of nothing first."""
    return {_CHOSEN: "as chosen", **SWEEPS.changes(key)}


def _points(key: str, setting: str, change: str) -> dict[str, Point]:
    """Return the points of a change by transport; one that it does not concern is missing."""
    place: dict[str, Any] = {"snr_db": SETTINGS[setting]}
    if change != _CHOSEN:
        place["change"] = change
    found = SWEEPS.points("as-chosen" if change == _CHOSEN else key, **place)
    return {point.place["protocol"]: point for point in found}


def _all(key: str) -> list[Point]:
    return [
        point
        for setting in SETTINGS
        for change in _changes(key)
        for point in _points(key, setting, change).values()
    ]


def _against(session: Session, key: str, setting: str, found: Mapping[str, Point]) -> str:
    """Return VCP's lead over TCP/REM, the one that is not changed as chosen."""
    both = {**_points(key, setting, _CHOSEN), **found}
    vcp, tcp = (DELIVERED.estimate(session, both[name].cell) for name in PROTOCOLS)
    if vcp is None or tcp is None or tcp.mean == 0:
        return ""
    return f"{100 * (vcp.mean / tcp.mean - 1):+.1f}"


def _table(session: Session, key: str, setting: str) -> Table:
    lines = []
    for change, words in _changes(key).items():
        found = _points(key, setting, change)
        texts = [
            each.text(session, found[protocol].cell) if protocol in found else ""
            for protocol in PROTOCOLS
            for each in (DELIVERED, QUEUE_PACKETS)
        ]
        lines.append([words, *texts, _against(session, key, setting, found)])
    columns = [("", "changed")]
    columns += [(NAMES[each], name) for each in PROTOCOLS for name in ("delivered", "mean queue")]
    columns.append(("", "lead, %"))
    notes = [
        "Both directions, last 10 s. The lead is VCP's over TCP/REM, each changed if it can be."
    ]
    return Table(setting, columns, lines, notes)


def _found(session: Session, key: str) -> tuple[list[Row], list[Table]]:
    rows = [
        each.row(session, point.cell, {**NAMING.place_of(point), "variant": _variant(point)})
        for point in _all(key)
        for each in (DELIVERED, QUEUE_PACKETS)
    ]
    return rows, [_table(session, key, setting) for setting in SETTINGS]


def _variant(point: Point) -> str:
    return str(point.place.get("change", "as-chosen"))


def _draw(session: Session, key: str) -> Figure:
    from matplotlib.ticker import MultipleLocator

    changes = _changes(key)
    figure = plotting.new_figure(10.4, 2.0 + 0.32 * len(changes))
    panels: Any = figure.subplots(1, len(SETTINGS), sharey=True)
    for axes, setting in zip(panels, SETTINGS, strict=True):
        lines = [_points(key, setting, change) for change in changes]
        for protocol in PROTOCOLS:
            found = {
                height: DELIVERED.estimate(session, line[protocol].cell)
                for height, line in enumerate(lines)
                if protocol in line
            }
            known = {height: each for height, each in found.items() if each is not None}
            look: dict[str, Any] = {
                "color": plotting.COLOURS[COLOURS[protocol]],
                "label": NAMES[protocol],
                "xerr": [each.error_bar for each in known.values()],
            }
            axes.errorbar([e.mean for e in known.values()], [*known], fmt="o", capsize=2, **look)
        axes.set(title=f"2x2, {setting}", xlabel="delivered packets")
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MultipleLocator(5000))
    panels[0].set_yticks(range(len(changes)), [*changes.values()])
    panels[0].invert_yaxis()
    legend_below(figure, panels[0].get_legend_handles_labels()[0], "")
    return figure


def _item(key: str) -> tuple[Cells, Evaluate]:
    cells: list[Cell] = [point.cell for point in _all(key)]
    return item_of(
        DIRECTORY,
        key,
        cells,
        lambda session, _title: _found(session, key),
        lambda session: _draw(session, key),
    )


CHANGED: Final = {key: _item(key) for key in ("advantage", "sensitivity")}
"""Cells and evaluation of each item."""
