"""Figs. 6 to 13: goodput and delay over the grids of parameters; and those of the other bearers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from airpath.papers.kit.base import Cell, ItemResult, Row, Table
from airpath.papers.kit.grid import grid as cases_of
from airpath.papers.kit.grid import thinned
from airpath.papers.kit.session import Session
from airpath.papers.sbd.data import (
    BEARERS,
    GRID_MAX_P,
    GRID_MIN_TH,
    GRID_T_R_MS,
    Aqm,
    DropTail,
    Published,
    Red,
    Sbd,
    drop_tail,
    flows_named,
    improvements,
    published_table,
    strength,
    threshold,
)
from airpath.papers.sbd.measures import delay, goodput
from airpath.papers.sbd.scenarios import Case
from airpath.papers.sbd.tables import rows_of, spread
from airpath.results import style as plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "CLOUDS",
    "Cloud",
    "cells_of_cloud",
    "cells_of_others",
    "cloud_item",
    "draw_cloud",
    "evaluate_best",
    "grid",
    "strengths",
]


class Cloud(NamedTuple):
    """One of the figures: a discipline over its whole grid."""

    aqm: str
    """``sbd`` or ``red``."""
    bearer: int
    flows: int


CLOUDS = {
    "fig6": Cloud("sbd", 384, 1),
    "fig7": Cloud("sbd", 384, 4),
    "fig8": Cloud("sbd", 128, 1),
    "fig9": Cloud("sbd", 128, 4),
    "fig10": Cloud("red", 384, 1),
    "fig11": Cloud("red", 384, 4),
    "fig12": Cloud("red", 128, 1),
    "fig13": Cloud("red", 128, 4),
}
"""The paper's; the same of the other two bearers are the item ``bearers``."""

OTHERS = {
    f"{aqm}-{bearer}-{flows}": Cloud(aqm, bearer, flows)
    for aqm in ("sbd", "red")
    for bearer in (256, 64)
    for flows in (1, 4)
}


def strengths(aqm: str, step: int = 1) -> list[float]:
    """Return the values of T_r, ms, or of maxp: every `step`-th, and the last."""
    values: tuple[float, ...] = GRID_T_R_MS if aqm == "sbd" else GRID_MAX_P
    return thinned(values, step)


def _setting(aqm: str, value: float, min_th: int) -> Aqm:
    return Sbd(int(value), min_th) if aqm == "sbd" else Red(value, min_th)


def grid(cloud: Cloud, step: int = 1) -> dict[int, list[Case]]:
    """Return the cases of a cloud by minth, in the order of T_r or maxp."""

    def case(min_th: int, value: float) -> Case:
        return Case(cloud.bearer, cloud.flows, _setting(cloud.aqm, value, min_th))

    return cases_of(GRID_MIN_TH, strengths(cloud.aqm, step), case)


def cells_of_cloud(cloud: Cloud) -> Callable[[Session], Sequence[Cell]]:
    """Return what gives the cells of a cloud, with drop-tail for comparison."""

    def cells(session: Session) -> Sequence[Cell]:
        plain = Case(cloud.bearer, cloud.flows, DropTail())
        rows = grid(cloud, session.effort.grid_step).values()
        return [plain, *(case for row in rows for case in row)]

    return cells


def cells_of_others(session: Session) -> Sequence[Cell]:
    """Return the cells of every cloud: the item ``bearers`` looks for the best in all of them."""
    clouds = (*CLOUDS.values(), *OTHERS.values())
    return [cell for cloud in clouds for cell in cells_of_cloud(cloud)(session)]


def cloud_item(key: str) -> Callable[[Session, Path | None], ItemResult]:
    """Return what evaluates one of Figs. 6 to 13."""
    cloud = CLOUDS[key]

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = f"Fig. {key[3:]}: {_about(cloud)}"
        complete = session.complete(cells_of_cloud(cloud)(session))
        return ItemResult(
            key,
            title,
            _rows(cloud, session),
            [_table(title, cloud, session)],
            _draw(f"sbd-{key}", title, cloud, session, out) if out and complete else [],
            complete=complete,
        )

    return evaluate


def _about(cloud: Cloud) -> str:
    return f"{cloud.aqm.upper()}, {cloud.bearer} kbit/s, {flows_named(cloud.flows)}"


def _rows(cloud: Cloud, session: Session) -> list[Row]:
    cases = [case for row in grid(cloud, session.effort.grid_step).values() for case in row]
    return [row for case in cases for row in rows_of(session, case, None)]


def _table(title: str, cloud: Cloud, session: Session) -> Table:
    """Return goodput and delay, a line for each T_r or maxp."""
    step = session.effort.grid_step
    cases = grid(cloud, step)
    lines = []
    for place, value in enumerate(strengths(cloud.aqm, step)):
        line = [f"{value:g}"]
        for min_th in GRID_MIN_TH:
            case = cases[min_th][place]
            found = goodput(session, case), delay(session, case)
            line.append(
                "/".join(f"{e.mean:.{d}f}" for e, d in zip(found, (0, 2), strict=True) if e)
            )
        lines.append(line)
    name = "T_r, ms" if cloud.aqm == "sbd" else "maxp"
    columns = [("", name), *(("goodput, kbit/s / delay, s, by minth", str(n)) for n in GRID_MIN_TH)]
    plain = Case(cloud.bearer, cloud.flows, DropTail())
    notes = [
        f"drop-tail: {spread(goodput(session, plain), 1)} kbit/s, "
        f"{spread(delay(session, plain), 2)} s."
    ]
    return Table(title, columns, lines, notes)


# --- the best of the grids ---------------------------------------------------------------------


def evaluate_best(session: Session, out: Path | None) -> ItemResult:
    """Return the clouds of the other bearers, and the setting with the largest goodput of each."""
    title = "the grids on all bearers: the settings with the largest goodput, one flow"
    rows, lines = [], []
    for number, aqm in ((2, "sbd"), (4, "red")):
        for bearer in BEARERS:
            theirs = published_table(number)[bearer]
            cases = grid(Cloud(aqm, bearer, 1), session.effort.grid_step).values()
            known = {case: e for row in cases for case in row if (e := goodput(session, case))}
            if not known:
                continue
            best = max(known, key=lambda case: known[case].mean)
            rows += rows_of(session, best, None)
            lines.append(
                [
                    *(aqm.upper(), str(bearer)),
                    *(
                        f"{strength(theirs.aqm):g}",
                        str(threshold(theirs.aqm)),
                        f"{theirs.goodput_kbps.mean:.1f}",
                    ),
                    *(f"{strength(best.aqm):g}", str(threshold(best.aqm)), spread(known[best], 1)),
                    spread(delay(session, best), 2),
                ]
            )
    names = ("T_r / maxp", "minth", "goodput")
    columns = [("", ""), ("", "bearer"), *(("paper", name) for name in names)]
    columns += [("ours", name) for name in (*names, "delay")]
    notes = [
        "One flow; T_r in ms, goodput in kbit/s, delay in s. Ours is the largest of many means: "
        "with few runs it is too large, by about ±, and which setting it belongs to is chance."
    ]
    complete = session.complete(cells_of_others(session))
    figures = []
    for key, cloud in OTHERS.items():
        rows += _rows(cloud, session)
        if out is not None and complete:
            figures += _draw(f"sbd-{key}", _about(cloud), cloud, session, out)
    table = Table(title, columns, lines, notes)
    return ItemResult("bearers", title, rows, [table], figures, complete=complete)


# --- drawing -----------------------------------------------------------------------------------


def _draw(stem: str, title: str, cloud: Cloud, session: Session, out: Path) -> list[Path]:
    with plotting.style():
        figure = draw_cloud(title, cloud, session)
        return session.write(figure, out, stem, title, session.about)


def draw_cloud(title: str, cloud: Cloud, session: Session) -> Figure:
    """Return the figure of a cloud: goodput over delay from 0 on, and its part enlarged.

    Every point has its intervals, ours and the paper's; the lines between points are pale, for
    they join means of different runs and no curve.
    """
    figure = plotting.new_figure(11.0, 5.6)
    panels: Any = figure.subplots(1, 2, width_ratios=(1, 1.7))
    points = {**_ours(cloud, session), **_published(cloud)}
    for panel in panels:
        for name, (look, found) in points.items():
            _draw_points(panel, name, look, found)
        panel.set_xlabel("downlink delay, s")
        panel.grid(visible=True, axis="both")
    _limits(panels, [found for _, each in points.values() for found in each])
    panels[0].set_title("(a) from 0 on; the frame is (b)")
    panels[1].set_title("(b) enlarged")
    panels[0].set_ylabel("goodput (delivered in order, payload), kbit/s")
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    name, unit = ("T_r", " ms") if cloud.aqm == "sbd" else ("maxp", "")
    values = strengths(cloud.aqm, session.effort.grid_step)
    confidence = 100 * session.paper.confidence
    runs = session.effort_of(Case(cloud.bearer, cloud.flows, DropTail())).replications
    plotting.heading(
        figure,
        title,
        f"Alcaraz & Cerdán 2006 · {session.effort.describe()}, {runs} of drop-tail and of the "
        f"settings of Tables 2 to 5 · bars: {confidence:g} % intervals "
        f"of the means · along each pale line {name} rises from {values[0]:g} (large dot) to "
        f"{values[-1]:g}{unit}",
    )
    return figure


class _Point(NamedTuple):
    """A delay and a goodput, with the half-widths of their intervals; 0 where there is none."""

    delay_s: float
    goodput_kbps: float
    delay_half_s: float = 0.0
    goodput_half_kbps: float = 0.0


_Points = dict[str, tuple[dict[str, Any], list[_Point]]]


def _ours(cloud: Cloud, session: Session) -> _Points:
    colours = ("sky", "blue", "green", "orange", "red", "purple")
    rows = grid(cloud, session.effort.grid_step).items()
    found: _Points = {}
    for (min_th, cases), colour in zip(rows, colours, strict=True):
        look = {"marker": "o", "color": plotting.COLOURS[colour], "markersize": 3.5, "joined": True}
        found[f"minth {min_th}"] = look, _points(cases, session)
    plain = Case(cloud.bearer, cloud.flows, DropTail())
    look = {"marker": "*", "color": plotting.COLOURS["black"], "markersize": 11}
    found["drop-tail"] = look, _points([plain], session)
    return found


def _points(cases: Sequence[Case], session: Session) -> list[_Point]:
    both = [(delay(session, case), goodput(session, case)) for case in cases]
    return [
        _Point(d.mean, g.mean, *(0.0 if isnan(e.half_width) else e.half_width for e in (d, g)))
        for d, g in both
        if d and g
    ]


def _published(cloud: Cloud) -> _Points:
    """Return what the paper's tables print for the bearer and the flows of a cloud."""
    open_ = {"color": plotting.COLOURS["grey"], "fillstyle": "none", "markersize": 7}
    found: _Points = {}
    for number, marker in ((2, "s"), (3, "D")) if cloud.aqm == "sbd" else ((4, "s"), (5, "D")):
        theirs = published_table(number)[cloud.bearer]
        if cloud.flows == theirs.flows:
            look = {**open_, "marker": marker}
            found[f"paper, Table {number}"] = look, [_printed(theirs)]
    plain = drop_tail()[cloud.bearer, cloud.flows]
    found["paper, drop-tail"] = {**open_, "marker": "*", "markersize": 12}, [_printed(plain)]
    if cloud.flows > 1:
        # Table 6 prints these as improvements over its drop-tail.
        more, less = (
            1 + improvements()[cloud.bearer, cloud.flows, cloud.aqm, quantity] / 100
            for quantity in ("goodput", "delay")
        )
        managed = _Point(plain.delay_s.mean * less, plain.goodput_kbps.mean * more)
        found["paper, Table 6"] = {**open_, "marker": "D"}, [managed]
    return found


def _printed(theirs: Published) -> _Point:
    delay_s, goodput_kbps = theirs.delay_s, theirs.goodput_kbps
    halves = (delay_s.half_width, goodput_kbps.half_width)
    return _Point(delay_s.mean, goodput_kbps.mean, *halves)


def _draw_points(panel: Axes, name: str, look: Mapping[str, Any], points: list[_Point]) -> None:
    if not points:
        return
    look = dict(look)
    bars: dict[str, Any] = {"elinewidth": 0.7, "capsize": 0, "linestyle": ""}
    x, y, x_half, y_half = zip(*points, strict=True)
    if look.pop("joined", False):
        panel.plot(x, y, "-", color=look["color"], lw=0.8, alpha=0.35)
        panel.plot(x[0], y[0], "o", color=look["color"], markersize=7)
    panel.errorbar(x, y, xerr=x_half, yerr=y_half, label=name, **bars, **look)


def _limits(panels: Sequence[Axes], points: Sequence[_Point]) -> None:
    """Let (a) begin at 0, and (b) show every point with its intervals; frame (b) in (a)."""
    low_x = min(point.delay_s - point.delay_half_s for point in points)
    high_x = max(point.delay_s + point.delay_half_s for point in points)
    low_y = min(point.goodput_kbps - point.goodput_half_kbps for point in points)
    high_y = max(point.goodput_kbps + point.goodput_half_kbps for point in points)
    x_room, y_room = 0.04 * (high_x - low_x), 0.04 * (high_y - low_y)
    whole, part = panels
    whole.set(xlim=(0, 1.08 * high_x), ylim=(0, 1.08 * high_y))
    part.set(xlim=(low_x - x_room, high_x + x_room), ylim=(low_y - y_room, high_y + y_room))
    (left, right), (bottom, top) = part.get_xlim(), part.get_ylim()
    frame: dict[str, Any] = {"color": plotting.COLOURS["grey"], "lw": 0.9, "zorder": 1}
    whole.plot([left, right, right, left, left], [bottom, bottom, top, top, bottom], **frame)
