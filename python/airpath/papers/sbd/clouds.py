"""Figs. 6 to 13: goodput and delay over the grids of parameters; and those of the other bearers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from airpath.papers.base import Cell, ItemResult, Row, Table
from airpath.papers.sbd.data import (
    BEARERS,
    GRID_MAX_P,
    GRID_MIN_TH,
    GRID_T_R_MS,
    Aqm,
    DropTail,
    Red,
    Sbd,
    published_table,
    strength,
    threshold,
)
from airpath.papers.sbd.measures import delay, goodput
from airpath.papers.sbd.scenarios import Case
from airpath.papers.sbd.tables import rows_of, spread
from airpath.papers.session import Session
from airpath.results import style as plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "CLOUDS",
    "Cloud",
    "cells_of_cloud",
    "cells_of_others",
    "cloud_item",
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
    return list(dict.fromkeys([*values[::step], values[-1]]))


def _setting(aqm: str, value: float, min_th: int) -> Aqm:
    return Sbd(int(value), min_th) if aqm == "sbd" else Red(value, min_th)


def grid(cloud: Cloud, step: int = 1) -> dict[int, list[Case]]:
    """Return the cases of a cloud by minth, in the order of T_r or maxp."""
    return {
        min_th: [
            Case(cloud.bearer, cloud.flows, _setting(cloud.aqm, value, min_th))
            for value in strengths(cloud.aqm, step)
        ]
        for min_th in GRID_MIN_TH
    }


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
        complete = all(session.finished(cell) for cell in cells_of_cloud(cloud)(session))
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
    flows = "1 flow" if cloud.flows == 1 else f"{cloud.flows} flows"
    return f"{cloud.aqm.upper()}, {cloud.bearer} kbit/s, {flows}"


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
    complete = all(session.finished(cell) for cell in cells_of_others(session))
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
        figure = plotting.new_figure(7.6, 5.2)
        panel = figure.subplots()
        _cloud_panel(panel, cloud, session)
        panel.set_xlabel("downlink delay, s")
        panel.set_ylabel("goodput, kbit/s")
        figure.legend(*panel.get_legend_handles_labels(), loc="outside right center")
        name = "T_r" if cloud.aqm == "sbd" else "maxp"
        unit = " ms" if cloud.aqm == "sbd" else ""
        values = strengths(cloud.aqm, session.effort.grid_step)
        plotting.heading(
            figure,
            title,
            f"Alcaraz & Cerdán 2006 · {session.effort.describe()} · along each line {name} rises "
            f"from {values[0]:g} (large dot) to {values[-1]:g}{unit}",
        )
        about = f"{session.paper.citation} seed {session.seed}, {session.effort.describe()}"
        return plotting.save(figure, out, stem, title, about)


def _cloud_panel(panel: Axes, cloud: Cloud, session: Session) -> None:
    colours = ("sky", "blue", "green", "orange", "red", "purple")
    for (min_th, cases), colour in zip(
        grid(cloud, session.effort.grid_step).items(), colours, strict=True
    ):
        found = [(delay(session, case), goodput(session, case)) for case in cases]
        points = [(d.mean, g.mean) for d, g in found if d and g]
        line = plotting.COLOURS[colour]
        panel.plot(*zip(*points, strict=True), ".-", color=line, label=f"minth {min_th}", lw=0.9)
        panel.plot(*points[0], "o", color=line, markersize=7)
    plain = Case(cloud.bearer, cloud.flows, DropTail())
    at, height = delay(session, plain), goodput(session, plain)
    if at and height:
        panel.plot(at.mean, height.mean, "k*", markersize=11, label="drop-tail")
    for number, marker in ((2, "s"), (3, "D")) if cloud.aqm == "sbd" else ((4, "s"), (5, "D")):
        theirs = published_table(number)[cloud.bearer]
        if cloud.flows == theirs.flows:
            panel.plot(
                theirs.delay_s.mean,
                theirs.goodput_kbps.mean,
                marker,
                color=plotting.COLOURS["grey"],
                fillstyle="none",
                linestyle="",
                label=f"paper, Table {number}",
            )
