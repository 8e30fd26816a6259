"""Items of the tables' setting, one change at a time: ``sizing`` and ``radio``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from airpath.present import style as plotting
from airpath.present.points import STAR, Point, Points, draw
from airpath.reproduction.base import Cell, Row, Table
from airpath.reproduction.items import Cells, Evaluate, Found, grouped, item_of
from airpath.reproduction.parameter_plot import means_of
from airpath.reproduction.quantities import improvement
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.claims import SWEEPS
from airpath_papers.wimax.data import COLOURS, NAMES, POLICIES, printed
from airpath_papers.wimax.measures import EFFICIENCY, GOODPUT, GRANTS, MAC_DELAY, QUANTITIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["RADIO_ITEM", "SIZING_ITEM", "Change", "change_table", "changed_item", "changes_of"]


class Change(NamedTuple):
    """A change at an RTT_min, ms, and its points by policy."""

    name: str
    about: str
    base_rtt_ms: int
    points: Mapping[str, SweepPoint]


CHOSEN: Final = Change(
    "as-chosen",
    "as chosen",
    100,
    {place["policy"]: point for place, point in SWEEPS.points("table1")},
)


def changes_of(sweeps: Sweeps, *names: str) -> list[Change]:
    """Return the changes of some sweeps, each over its RTT_min."""
    found = []
    for name in names:
        for change, about in sweeps.changes(name).items():
            points = sweeps.points(name, change=change)
            for rtt, group in grouped(points, lambda p: p.cell.axes["base_rtt_ms"]).items():
                by_policy = {place["policy"]: point for place, point in group}
                found.append(Change(change, about, rtt, by_policy))
    return found


def _rows(session: Session, changes: Sequence[Change]) -> list[Row]:
    return [
        each.row(session, point, {"policy": policy, "base_rtt_ms": rtt, "variant": name})
        for name, _about, rtt, points in changes
        for policy, point in points.items()
        for each in (*QUANTITIES.values(), GRANTS)
    ]


def _gain(session: Session, points: Mapping[str, SweepPoint]) -> str:
    found = improvement(session, points["adapt-bi"], points["uni"], GOODPUT)
    return "not simulated" if found is None else f"{found.per_cent:+.1f}"


def change_table(session: Session, title: str, changes: Sequence[Change]) -> Table:
    """Return a table: a line for each change, and adapt-BI's gain over UNI."""
    shown = (GOODPUT, MAC_DELAY, EFFICIENCY, GRANTS)
    lines = []
    for _name, about, rtt, points in changes:
        texts = [each.text(session, points[policy]) for policy in POLICIES for each in shown]
        lines.append([about, str(rtt), *texts, _gain(session, points)])
    columns = [("", "changed"), ("", "RTT_min, ms")]
    columns += [(NAMES[policy], each.name) for policy in POLICIES for each in shown]
    columns.append(("", "gain, %"))
    notes = ["Throughput in Mbit/s, delays in ms; the gain is adapt-BI's over UNI."]
    return Table(title, columns, lines, notes)


def changed_item(
    key: str,
    changes: Sequence[Change],
    directory: Path = WIMAX,
    over_rtts: Sequence[Change] = (),
    more: Sequence[Cell] = (),
    more_tables: Callable[[Session], list[Table]] = lambda _session: [],
) -> tuple[Cells, Evaluate]:
    """Return an item: the setting as chosen and changed.

    Parameters
    ----------
    key : str
        Of the item.
    changes : sequence of Change
        At RTT_min = 100 ms.
    directory : Path
        Of the ``paper.toml`` with its title. Default: the paper's.
    over_rtts : sequence of Change
        Those whose rows follow. Default: none.
    more : sequence of Cell
        Further cells. Default: none.
    more_tables : callable
        Makes further tables. Default: none.
    """
    shown, every = [CHOSEN, *changes], [CHOSEN, *changes, *over_rtts]

    def found(session: Session, title: str) -> Found:
        tables = [change_table(session, title, shown), *more_tables(session)]
        return _rows(session, every), tables

    cells = [*(point for change in every for point in change.points.values()), *more]
    return item_of(directory, key, cells, found, partial(_draw, shown), "RTT_min 100 ms.")


def _draw(changes: Sequence[Change], session: Session) -> Figure:
    """Return the figure: a line for each change, the policies as points."""
    figure = plotting.new_figure(10.4, 1.8 + 0.32 * len(changes))
    panels: Any = figure.subplots(1, 3, sharey=True)
    shown = {"throughput, Mbit/s": GOODPUT, "mean delay, ms": MAC_DELAY, "efficiency": EFFICIENCY}
    places = range(len(changes))
    for panel, (name, quantity) in zip(panels, shown.items(), strict=True):
        for policy in POLICIES:
            points = [change.points[policy] for change in changes]
            look = {"color": plotting.COLOURS[COLOURS[policy]], "marker": "o"}
            means = means_of(session, quantity, points, places)
            lying = [Point(mean.y, mean.x, mean.y_half) for mean in means]
            draw(panel, Points(NAMES[policy], lying, look, bars={"capsize": 2}))
            star = [Point(printed("table2")[100, policy][quantity.name], 0.0)]
            draw(panel, Points("", star, {**look, **STAR}))
        panel.plot([], [], "k", label="paper, Table 2", linestyle="", **STAR)
        panel.set_xlabel(name)
        panel.set_xlim(left=0)
    panels[0].set_yticks(list(places), [change.about for change in changes])
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


SIZING_ITEM: Final = changed_item("sizing", changes_of(SWEEPS, "sizing"))
RADIO_ITEM: Final = changed_item("radio", changes_of(SWEEPS, "distances", "radio"))
"""Cells and evaluation of each item."""
