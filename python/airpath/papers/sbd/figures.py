"""Fig. 1, the grids of Figs. 6 to 13 and of the other bearers, the runs of Figs. 2, 14 and 15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from airpath.papers.kit.base import Cell, ItemResult, Row, Table
from airpath.papers.kit.declared import Evaluate
from airpath.papers.kit.grid import grid as cases_of
from airpath.papers.kit.points import OPEN, Point, Points, draw, enlarged, half_width
from airpath.papers.kit.session import Session
from airpath.papers.kit.traces import Trace
from airpath.papers.sbd.data import (
    BEARERS,
    BUFFER,
    GRID_MIN_TH,
    Aqm,
    DropTail,
    Published,
    Red,
    Sbd,
    drop_tail,
    flows_named,
    improvements,
    published_table,
    strengths,
)
from airpath.papers.sbd.scenarios import SWITCH_S, TRACE, ByRate, Case, keys
from airpath.papers.sbd.tables import DELAY, GOODPUT, rows_of
from airpath.results import style as plotting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "CLOUDS",
    "FIG1_CELLS",
    "FLOWS",
    "TRACES",
    "Cloud",
    "cells_of_cloud",
    "cells_of_others",
    "cells_of_trace",
    "cloud_item",
    "draw_cloud",
    "draw_fig1",
    "evaluate_best",
    "evaluate_fig1",
    "trace_item",
]

COLOURS: Final = plotting.COLOURS
GOODPUT_AXIS: Final = "goodput (delivered in order, payload), kbit/s"
DELAY_AXIS: Final = "downlink delay, s"


def _known(session: Session, cases: Sequence[Case], **more: int) -> list[Row]:
    """Return goodput and delay of those cases that were simulated."""
    rows = [row for case in cases for row in rows_of(session, case, None, **more)]
    return [row for row in rows if row.ours is not None]


# --- Fig. 1 ------------------------------------------------------------------------------------

SIZES: Final = (10, 20, 30, 40, 50, 60, 80, 100)
"""Buffer sizes, SDUs; the paper's are not printed."""

FLOWS: Final = (1, 2, 3, 4)

DODGE: Final = 0.9
"""By how much points of one size are drawn beside each other, SDUs."""

FIG1: Final = "Fig. 1: drop-tail, 384 kbit/s, buffer sizes, one to four flows"
FIG1_CELLS: list[Cell] = [Case(384, flows, DropTail(size)) for flows in FLOWS for size in SIZES]


def evaluate_fig1(session: Session, out: Path | None) -> ItemResult:
    """Return Fig. 1."""
    rows, lines = [], []
    for size in SIZES:
        cases = [Case(384, flows, DropTail(size)) for flows in FLOWS]
        rows += _known(session, cases, buffer=size)
        both = [q.text(session, case) for case in cases for q in (GOODPUT, DELAY)]
        lines.append([str(size), *both])
    columns = [("", "buffer")]
    columns += [(flows_named(n), q.name) for n in FLOWS for q in (GOODPUT, DELAY)]
    notes = ["buffer in SDUs of 1500 bytes, goodput in kbit/s, delay in s."]
    complete, figures = session.complete(FIG1_CELLS), []
    if out is not None and complete:
        with plotting.style():
            figures = session.write(draw_fig1(session), out, "sbd-fig1", FIG1, session.about)
    table = Table(FIG1, columns, lines, notes)
    return ItemResult("fig1", FIG1, rows, [table], figures, complete=complete)


def draw_fig1(session: Session) -> Figure:
    """Return the figure: goodput and delay over the buffer, both from 0 on, with intervals."""
    figure = plotting.new_figure(9.6, 4.8)
    panels: Any = figure.subplots(1, 2)
    colours = [COLOURS[name] for name in ("blue", "orange", "green", "red")]
    look = dict(zip(FLOWS, zip(colours, "osDP", strict=True), strict=True))
    for panel, quantity in zip(panels, (GOODPUT, DELAY), strict=True):
        for flows, (colour, marker) in look.items():
            points = []
            for size in SIZES:
                found = quantity.estimate(session, Case(384, flows, DropTail(size)))
                beside = size + DODGE * (FLOWS.index(flows) - 1.5)
                if found is not None:
                    points.append(Point(beside, found.mean, 0.0, half_width(found)))
            drawn = {"color": colour, "marker": marker, "markersize": 5}
            pale, bars = {"lw": 0.9, "alpha": 0.4}, {"elinewidth": 1.0, "capsize": 2}
            draw(panel, Points(flows_named(flows), points, drawn, pale, bars=bars))
        for flows, (colour, _) in look.items():
            if (384, flows) in drop_tail():
                # Open, beside ours, so that both intervals can be seen.
                theirs = getattr(drop_tail()[384, flows], _COLUMN[quantity.name])
                place = [Point(BUFFER + 3 * DODGE, theirs.mean, 0.0, theirs.half_width)]
                star = {"color": colour, "marker": "*", "markersize": 11, **OPEN}
                label = f"paper, Table 6, {flows_named(flows)}"
                draw(panel, Points(label, place, star, bars={"capsize": 2}))
        panel.set(xlabel="buffer, SDUs", xlim=(0, 1.03 * max(SIZES)))
        panel.set_ylim(bottom=0)
    panels[0].set_title(GOODPUT_AXIS)
    panels[1].set_title(DELAY_AXIS)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    about = f"Alcaraz & Cerdán 2006 · {session.effort.describe()} · "
    about += f"{100 * session.paper.confidence:g} % intervals · "
    about += "points of one size stand beside each other"
    plotting.heading(figure, FIG1, about)
    return figure


_COLUMN: Final = {"goodput": "goodput_kbps", "delay": "delay_s"}

# --- Figs. 6 to 13: the grids ------------------------------------------------------------------


class Cloud(NamedTuple):
    """One of the figures: a discipline over its whole grid."""

    aqm: str
    """``sbd`` or ``red``."""
    bearer: int
    flows: int

    @property
    def about(self) -> str:
        """What it shows, for titles."""
        return f"{self.aqm.upper()}, {self.bearer} kbit/s, {flows_named(self.flows)}"

    @property
    def plain(self) -> Case:
        """Drop-tail, for comparison."""
        return Case(self.bearer, self.flows, DropTail())

    def grid(self, session: Session) -> dict[int, list[Case]]:
        """Return its cases by minth, in the order of T_r or maxp."""

        def case(min_th: int, value: float) -> Case:
            aqm: Aqm = Sbd(int(value), min_th) if self.aqm == "sbd" else Red(value, min_th)
            return Case(self.bearer, self.flows, aqm)

        return cases_of(GRID_MIN_TH, strengths(self.aqm, session.effort.grid_step), case)

    def cases(self, session: Session) -> list[Case]:
        """Return the cases of its grid."""
        return [case for row in self.grid(session).values() for case in row]


def _clouds(bearers: Sequence[int]) -> list[Cloud]:
    return [Cloud(aqm, b, flows) for aqm in ("sbd", "red") for b in bearers for flows in (1, 4)]


CLOUDS: Final = {f"fig{n}": cloud for n, cloud in enumerate(_clouds((384, 128)), 6)}
"""The paper's; the same of the other two bearers are the item ``bearers``."""

OTHERS: Final = _clouds((256, 64))


def cells_of_cloud(cloud: Cloud) -> Callable[[Session], Sequence[Cell]]:
    """Return what gives the cells of a cloud, with drop-tail for comparison."""
    return lambda session: [cloud.plain, *cloud.cases(session)]


def cells_of_others(session: Session) -> Sequence[Cell]:
    """Return the cells of every cloud: the item ``bearers`` looks for the best in all of them."""
    clouds = (*CLOUDS.values(), *OTHERS)
    return [cell for cloud in clouds for cell in cells_of_cloud(cloud)(session)]


def cloud_item(key: str) -> Evaluate:
    """Return what evaluates one of Figs. 6 to 13."""
    cloud = CLOUDS[key]

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = f"Fig. {key[3:]}: {cloud.about}"
        complete = session.complete(cells_of_cloud(cloud)(session))
        figures = _write(f"sbd-{key}", title, cloud, session, out) if out and complete else []
        rows, table = _known(session, cloud.cases(session)), _table(title, cloud, session)
        return ItemResult(key, title, rows, [table], figures, complete=complete)

    return evaluate


def _table(title: str, cloud: Cloud, session: Session) -> Table:
    """Return goodput and delay, a line for each T_r or maxp."""
    cases = cloud.grid(session)
    lines = []
    for place, value in enumerate(strengths(cloud.aqm, session.effort.grid_step)):
        line = [f"{value:g}"]
        for min_th in GRID_MIN_TH:
            case = cases[min_th][place]
            goodput, delay = (q.estimate(session, case) for q in (GOODPUT, DELAY))
            line.append(f"{goodput.mean:.0f}/{delay.mean:.2f}" if goodput and delay else "")
        lines.append(line)
    name = "T_r, ms" if cloud.aqm == "sbd" else "maxp"
    columns = [("", name), *(("goodput, kbit/s / delay, s, by minth", str(n)) for n in GRID_MIN_TH)]
    plain = f"{GOODPUT.text(session, cloud.plain)} kbit/s, {DELAY.text(session, cloud.plain)} s"
    return Table(title, columns, lines, [f"drop-tail: {plain}."])


def _write(stem: str, title: str, cloud: Cloud, session: Session, out: Path) -> list[Path]:
    with plotting.style():
        figure = draw_cloud(title, cloud, session)
        return session.write(figure, out, stem, title, session.about)


def draw_cloud(title: str, cloud: Cloud, session: Session) -> Figure:
    """Return the figure of a cloud: goodput over delay from 0 on, and its part enlarged."""
    name, unit = ("T_r", " ms") if cloud.aqm == "sbd" else ("maxp", "")
    values = strengths(cloud.aqm, session.effort.grid_step)
    runs = session.effort_of(cloud.plain).replications
    about = (
        f"Alcaraz & Cerdán 2006 · {session.effort.describe()}, {runs} of drop-tail and of the "
        f"settings of Tables 2 to 5 · bars: {100 * session.paper.confidence:g} % intervals "
        f"of the means · along each pale line {name} rises from {values[0]:g} (large dot) to "
        f"{values[-1]:g}{unit}"
    )
    points = [*_ours(cloud, session), *_published(cloud)]
    return enlarged(points, (DELAY_AXIS, GOODPUT_AXIS), title, about)


def _points(cases: Sequence[Case], session: Session) -> list[Point]:
    both = [[q.estimate(session, case) for q in (DELAY, GOODPUT)] for case in cases]
    return [
        Point(delay.mean, goodput.mean, half_width(delay), half_width(goodput))
        for delay, goodput in both
        if delay and goodput
    ]


def _ours(cloud: Cloud, session: Session) -> list[Points]:
    colours = ("sky", "blue", "green", "orange", "red", "purple")
    pale = {"lw": 0.8, "alpha": 0.35}
    found = []
    for (min_th, cases), colour in zip(cloud.grid(session).items(), colours, strict=True):
        look = {"marker": "o", "color": COLOURS[colour], "markersize": 3.5}
        points = _points(cases, session)
        found.append(Points(f"minth {min_th}", points, look, pale, begins=True))
    look = {"marker": "*", "color": COLOURS["black"], "markersize": 11}
    return [*found, Points("drop-tail", _points([cloud.plain], session), look)]


def _published(cloud: Cloud) -> list[Points]:
    """Return what the paper's tables print for the bearer and the flows of a cloud."""
    plain = drop_tail()[cloud.bearer, cloud.flows]
    numbers = {2: "s", 3: "D"} if cloud.aqm == "sbd" else {4: "s", 5: "D"}
    shown: list[tuple[str, str, Point]] = []
    if cloud.flows == 1:
        for number, marker in numbers.items():
            row = published_table(number)[cloud.bearer]
            shown.append((f"paper, Table {number}", marker, _printed(row)))
    shown.append(("paper, drop-tail", "*", _printed(plain)))
    if cloud.flows > 1:
        # Table 6 prints these as improvements over its drop-tail.
        more, less = (
            1 + improvements()[cloud.bearer, cloud.flows, cloud.aqm, quantity] / 100
            for quantity in ("goodput", "delay")
        )
        managed = Point(plain.delay_s.mean * less, plain.goodput_kbps.mean * more)
        shown.append(("paper, Table 6", "D", managed))
    look = {"color": COLOURS["grey"], **OPEN}
    return [
        Points(label, [point], {**look, "markersize": 12 if mark == "*" else 7, "marker": mark})
        for label, mark, point in shown
    ]


def _printed(row: Published) -> Point:
    delay, goodput = row.delay_s, row.goodput_kbps
    return Point(delay.mean, goodput.mean, delay.half_width, goodput.half_width)


# --- the best of the grids ---------------------------------------------------------------------


def evaluate_best(session: Session, out: Path | None) -> ItemResult:
    """Return the clouds of the other bearers, and the setting with the largest goodput of each."""
    title = "the grids on all bearers: the settings with the largest goodput, one flow"
    rows, lines = [], []
    for number, aqm in ((2, "sbd"), (4, "red")):
        for bearer in BEARERS:
            theirs = published_table(number)[bearer]
            cases = Cloud(aqm, bearer, 1).cases(session)
            known = {case: e for case in cases if (e := GOODPUT.estimate(session, case))}
            if not known:
                continue
            best = max(known, key=lambda case: known[case].mean)
            rows += _known(session, [best])
            setting, ours = theirs.aqm[:2], best.aqm[:2]
            printed = (*map("{:g}".format, setting), f"{theirs.goodput_kbps.mean:.1f}")
            found = (*map("{:g}".format, ours), GOODPUT.text(session, best))
            lines.append([aqm.upper(), str(bearer), *printed, *found, DELAY.text(session, best)])
    names = ("T_r / maxp", "minth", "goodput")
    columns = [("", ""), ("", "bearer"), *(("paper", name) for name in names)]
    columns += [("ours", name) for name in (*names, "delay")]
    notes = [
        "One flow; T_r in ms, goodput in kbit/s, delay in s. Ours is the largest of many means: "
        "with few runs it is too large, by about ±, and which setting it belongs to is chance."
    ]
    complete = session.complete(cells_of_others(session))
    figures: list[Path] = []
    for cloud in OTHERS:
        rows += _known(session, cloud.cases(session))
        if out is not None and complete:
            figures += _write("sbd-{}-{}-{}".format(*cloud), cloud.about, cloud, session, out)
    table = Table(title, columns, lines, notes)
    return ItemResult("bearers", title, rows, [table], figures, complete=complete)


# --- Figs. 2, 14 and 15: two flows over a bearer that changes after 50 s -----------------------

TRACES: Final[Mapping[str, tuple[str, Aqm | ByRate]]] = {
    "fig2": ("drop-tail", DropTail()),
    "fig14": ("SBD, reconfigured", ByRate("sbd")),
    "fig15": ("RED, reconfigured", ByRate("red")),
}
"""The three traces: what manages the buffer."""

START_S: Final = 10.0
"""Until when the connections count as starting."""


def cells_of_trace(key: str) -> list[Cell]:
    """Return the one case of a trace."""
    return [Case(384, 2, TRACES[key][1], use=TRACE)]


def trace_item(key: str) -> Evaluate:
    """Return what evaluates Fig. 2, 14 or 15."""
    name, (cell,) = TRACES[key][0], cells_of_trace(key)

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = f"Fig. {key[3:]}: two flows, 384 to 128 kbit/s at {SWITCH_S:g} s, {name}"
        if not session.finished(cell):
            return ItemResult(key, title, [], complete=False)
        parts = {
            "start": (0.0, START_S),
            "384 kbit/s": (START_S, SWITCH_S),
            "change": (SWITCH_S, SWITCH_S + START_S),
            "128 kbit/s": (SWITCH_S + START_S, session.effort_of(cell).duration_s),
        }
        trace, figures = Trace(session, cell, parts, BUFFER, "SDUs"), []
        if out is not None:
            run = f"one run, seed {session.seed}"
            about = f"Alcaraz & Cerdán 2006 · {run} · "
            about += "BO: occupancy of the RLC buffer, 1500-byte SDUs"
            with plotting.style():
                figure = trace.figure(title, about, "BO, SDUs", (SWITCH_S, "128 kbit/s"))
                said = f"{session.paper.citation} {run}"
                figures = session.write(figure, out, f"sbd-{key}", title, said)
        rows = trace.rows({"aqm": str(keys(Case(*cell))["aqm"])})
        return ItemResult(key, title, rows, [trace.table(title)], figures)

    return evaluate
