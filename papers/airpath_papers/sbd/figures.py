"""Fig. 1, the grids of Figs. 6 to 13 and of the other bearers, the runs of Figs. 2, 14 and 15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from airpath.present.points import Point
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.manifest import Evaluate
from airpath.reproduction.parameter_plot import ParameterPlot
from airpath.reproduction.session import Session
from airpath_papers.sbd.data import (
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
from airpath_papers.sbd.scatter import Cloud
from airpath_papers.sbd.scenarios import SWITCH_S, TRACE, ByRate, Case, keys
from airpath_papers.sbd.tables import DELAY, GOODPUT, rows_of
from airpath_papers.sbd.traces import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FIG1_CELLS",
    "FLOWS",
    "GRIDS",
    "TRACES",
    "Grid",
    "cells_of_others",
    "cells_of_trace",
    "draw_fig1",
    "draw_grid",
    "evaluate_best",
    "evaluate_fig1",
    "grid_item",
    "trace_item",
]

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

FIG1: Final = "Fig. 1: drop-tail, 384 kbit/s, buffer sizes, one to four flows"

OVER_BUFFER: Final = ParameterPlot(
    "buffer",
    "SDUs",
    SIZES,
    {flows_named(n): [Case(384, n, DropTail(size)) for size in SIZES] for n in FLOWS},
    {GOODPUT_AXIS: GOODPUT, DELAY_AXIS: DELAY},
    dodge=0.0,
)
FIG1_CELLS: list[Cell] = [cell for cells in OVER_BUFFER.groups.values() for cell in cells]


def evaluate_fig1(session: Session, out: Path | None) -> ItemResult:
    """Return Fig. 1."""
    rows = []
    for size in SIZES:
        rows += _known(session, [Case(384, n, DropTail(size)) for n in FLOWS], buffer=size)
    notes = ["buffer in SDUs of 1500 bytes, goodput in kbit/s, delay in s."]
    complete, figures = session.complete(FIG1_CELLS), []
    if out is not None and complete:
        about = (out, "sbd-fig1", FIG1, session.about)
        figures = session.draw(lambda: draw_fig1(session), *about)
    table = OVER_BUFFER.table(FIG1, session, notes)
    return ItemResult("fig1", FIG1, rows, [table], figures, complete=complete)


def draw_fig1(session: Session) -> Figure:
    """Return the figure: goodput and delay over the buffer, both from 0 on, with intervals."""
    theirs = {flows_named(n): drop_tail()[384, n] for n in FLOWS if (384, n) in drop_tail()}
    goodput = {n: (BUFFER, f"paper, Table 6, {n}", row.goodput_kbps) for n, row in theirs.items()}
    delay = {n: (BUFFER, f"paper, Table 6, {n}", row.delay_s) for n, row in theirs.items()}
    about = f"Alcaraz & Cerdán 2006 · {session.effort.describe()} · "
    about += f"{100 * session.paper.confidence:g} % intervals"
    return OVER_BUFFER.figure(session, FIG1, about, {"goodput": goodput, "delay": delay})


# --- Figs. 6 to 13: the grids ------------------------------------------------------------------


class Grid(NamedTuple):
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

    def cases(self, session: Session) -> dict[int, list[Case]]:
        """Return its cases by minth, in the order of T_r or maxp."""

        def case(min_th: int, value: float) -> Case:
            aqm: Aqm = Sbd(int(value), min_th) if self.aqm == "sbd" else Red(value, min_th)
            return Case(self.bearer, self.flows, aqm)

        values = strengths(self.aqm, session.effort.grid_step)
        return {min_th: [case(min_th, value) for value in values] for min_th in GRID_MIN_TH}

    def all(self, session: Session) -> list[Case]:
        """Return its cases."""
        return [case for row in self.cases(session).values() for case in row]

    def cells(self, session: Session) -> list[Cell]:
        """Return its cases, with drop-tail and the printed settings for comparison."""
        printed = [Case(self.bearer, self.flows, aqm) for _, aqm in self._of_tables().values()]
        return list(dict.fromkeys([self.plain, *printed, *self.all(session)]))

    def cloud(self, session: Session) -> Cloud:
        """Return goodput and delay of it."""
        strength = "T_r, ms" if self.aqm == "sbd" else "maxp"
        values = strengths(self.aqm, session.effort.grid_step)
        plain = ("drop-tail", self.plain)
        cases = self.cases(session)
        marked = {
            f"simulated, setting of Table {n}": (marker, Case(self.bearer, self.flows, aqm))
            for n, (marker, aqm) in self._of_tables().items()
        }
        return Cloud(DELAY, GOODPUT, (0, 2), "minth", strength, values, cases, plain, marked)

    def _of_tables(self) -> dict[int, tuple[str, Aqm]]:
        """Return markers and printed settings by table; with four flows only the proposal."""
        numbers = {2: "s", 3: "D"} if self.aqm == "sbd" else {4: "s", 5: "D"}
        proposal = max(numbers)
        return {
            n: (marker, published_table(n)[self.bearer].aqm)
            for n, marker in numbers.items()
            if self.flows == 1 or n == proposal
        }

    def published(self) -> dict[str, tuple[str, Point]]:
        """Return what the paper's tables print for its bearer and flows: markers and points."""
        plain = drop_tail()[self.bearer, self.flows]
        found = {"paper, drop-tail": ("*", _printed(plain))}
        if self.flows == 1:
            tables = {
                f"paper, Table {n}": (marker, _printed(published_table(n)[self.bearer]))
                for n, (marker, _) in self._of_tables().items()
            }
            return {**tables, **found}
        # Table 6 prints these as improvements over its drop-tail.
        more, less = (
            1 + improvements()[self.bearer, self.flows, self.aqm, quantity] / 100
            for quantity in ("goodput", "delay")
        )
        managed = Point(plain.delay_s.mean * less, plain.goodput_kbps.mean * more)
        return {**found, "paper, Table 6": ("D", managed)}


def _printed(row: Published) -> Point:
    delay, goodput = row.delay_s, row.goodput_kbps
    return Point(delay.mean, goodput.mean, delay.half_width, goodput.half_width)


def _grids(bearers: Sequence[int]) -> list[Grid]:
    return [Grid(aqm, b, flows) for aqm in ("sbd", "red") for b in bearers for flows in (1, 4)]


GRIDS: Final = {f"fig{n}": grid for n, grid in enumerate(_grids((384, 128)), 6)}
"""The paper's; the same of the other two bearers are the item ``bearers``."""

OTHERS: Final = _grids((256, 64))


def cells_of_others(session: Session) -> Sequence[Cell]:
    """Return the cells of every grid: the item ``bearers`` looks for the best in all of them."""
    return [cell for grid in (*GRIDS.values(), *OTHERS) for cell in grid.cells(session)]


def grid_item(key: str) -> Evaluate:
    """Return what evaluates one of Figs. 6 to 13."""
    grid = GRIDS[key]
    title = f"Fig. {key[3:]}: {grid.about}"

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        complete = session.complete(grid.cells(session))
        figures = _write(f"sbd-{key}", title, grid, session, out) if out and complete else []
        rows, table = _known(session, grid.all(session)), grid.cloud(session).table(title, session)
        return ItemResult(key, title, rows, [table], figures, complete=complete)

    return evaluate


def _write(stem: str, title: str, grid: Grid, session: Session, out: Path) -> list[Path]:
    return session.draw(lambda: draw_grid(title, grid, session), out, stem, title, session.about)


def draw_grid(title: str, grid: Grid, session: Session) -> Figure:
    """Return the figure of a grid: goodput over delay from 0 on, and its part enlarged."""
    runs = session.effort_of(grid.plain).replications
    about = (
        f"Alcaraz & Cerdán 2006 · {session.effort.describe()}, {runs} of drop-tail and of the "
        f"settings of Tables 2 to 5 · bars: {100 * session.paper.confidence:g} % intervals "
        "of the means"
    )
    names = (DELAY_AXIS, GOODPUT_AXIS)
    return grid.cloud(session).figure(session, title, about, names, grid.published())


# --- the best of the grids ---------------------------------------------------------------------


def evaluate_best(session: Session, out: Path | None) -> ItemResult:
    """Return the grids of the other bearers, and the setting with the largest goodput of each."""
    title = "the grids on all bearers: the settings with the largest goodput, one flow"
    rows, lines = [], []
    for number, aqm in ((2, "sbd"), (4, "red")):
        for bearer in BEARERS:
            theirs = published_table(number)[bearer]
            cases = Grid(aqm, bearer, 1).all(session)
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
    for grid in OTHERS:
        rows += _known(session, grid.all(session))
        if out is not None and complete:
            figures += _write("sbd-{}-{}-{}".format(*grid), grid.about, grid, session, out)
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
            drawn = (title, about, "BO, SDUs", (SWITCH_S, "128 kbit/s"))
            about_files = (f"sbd-{key}", title, f"{session.paper.citation} {run}")
            figures = session.draw(lambda: trace.figure(*drawn), out, *about_files)
        rows = trace.rows({"aqm": str(keys(Case(*cell))["aqm"])})
        return ItemResult(key, title, rows, [trace.table(title)], figures)

    return evaluate
