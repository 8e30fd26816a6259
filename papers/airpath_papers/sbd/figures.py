"""The grids of Figs. 6 to 13 and of the other bearers, the runs of Figs. 2, 14 and 15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from airpath.present import style as plotting
from airpath.present.points import OPEN, Point, Points, enlarged
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.items import Cells, Evaluate, Found, item_of
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.paths import SBD
from airpath_papers.sbd.claims import SWEEPS
from airpath_papers.sbd.data import (
    BEARERS,
    PROPOSED,
    Published,
    drop_tail,
    flows_named,
    improvements,
    published_table,
)
from airpath_papers.sbd.scenarios import SWITCH_S, setting_at
from airpath_papers.sbd.tables import DELAY, GOODPUT, TABLE6, keys, rows_of
from airpath_papers.sbd.traces import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "GRIDS",
    "TRACES",
    "Grid",
    "cells_of_others",
    "evaluate_best",
    "grid_item",
    "trace_item",
]


def _known(session: Session, points: Sequence[SweepPoint]) -> list[Row]:
    """Return goodput and delay of those points that were simulated."""
    rows = [row for point in points for row in rows_of(session, point)]
    return [row for row in rows if row.ours is not None]


# --- Figs. 6 to 13: the grids ------------------------------------------------------------------

COLOURS: Final = ("sky", "blue", "green", "orange", "red", "purple")
"""Of the lines of equal minth."""


class Grid(NamedTuple):
    """One of the figures: SBD or RED over its whole grid, goodput over delay."""

    aqm: str
    bearer: int
    flows: int

    @property
    def about(self) -> str:
        """What it shows, for titles."""
        return f"{self.aqm}, {self.bearer} kbit/s, {flows_named(self.flows)}"

    @property
    def plain(self) -> SweepPoint:
        """Drop-tail, for comparison."""
        return TABLE6[self.bearer, self.flows, "drop-tail"]

    def all(self, session: Session) -> list[SweepPoint]:
        """Return its points, by minth, in the order of T_r or maxp."""
        return SWEEPS.cells("grids", effort=session.effort, **self._asdict())

    def cells(self, session: Session) -> list[Cell]:
        """Return its points, with drop-tail and the printed settings for comparison."""
        printed = [point for _, point in self._of_tables().values()]
        return list(dict.fromkeys([self.plain, *printed, *self.all(session)]))

    def _lines(self, session: Session) -> dict[int, list[SweepPoint]]:
        lines: dict[int, list[SweepPoint]] = {}
        for point in self.all(session):
            lines.setdefault(point.axes["minth"], []).append(point)
        return lines

    @property
    def _strength(self) -> tuple[str, str]:
        """The axis that rises along a line, and its name with its unit."""
        return ("t_r_ms", "T_r, ms") if self.aqm == "SBD" else ("maxp", "maxp")

    def _of_tables(self) -> dict[int, tuple[str, SweepPoint]]:
        """Return markers and printed settings by table; with four flows only the proposal."""
        proposal = PROPOSED[self.aqm]
        tables = (proposal - 1, proposal) if self.flows == 1 else (proposal,)
        place: dict[str, Any] = {"bearer": self.bearer, "flows": self.flows, "table": tables}
        found = SWEEPS.points("settings", **place)
        return {p.place["table"]: ("sD"[p.place["table"] == proposal], p.cell) for p in found}

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

    def table(self, title: str, session: Session) -> Table:
        """Return goodput and delay, a line for each value of T_r or maxp."""
        axis, strength = self._strength
        lines: dict[str, list[str]] = {}
        for point in self.all(session):
            means = [each.estimate(session, point) for each in (GOODPUT, DELAY)]
            pairs = zip(means, (0, 2), strict=True)
            text = "/".join(f"{mean.mean:.{d}f}" for mean, d in pairs if mean)
            lines.setdefault(f"{point.axes[axis]:g}", []).append(text)
        heading = "goodput, kbit/s / delay, s, by minth"
        columns = [("", strength), *((heading, str(n)) for n in self._lines(session))]
        both = [f"{each.text(session, self.plain)} {each.unit}" for each in (GOODPUT, DELAY)]
        notes = [f"drop-tail: {', '.join(both)}."]
        return Table(title, columns, [[n, *texts] for n, texts in lines.items()], notes)

    def figure(self, session: Session, title: str) -> Figure:
        """Return goodput over delay from 0 on, and the part that has the points enlarged."""
        pale = {"lw": 0.8, "alpha": 0.35}
        lines = self._lines(session)
        shown = []
        for (min_th, points), colour in zip(lines.items(), COLOURS, strict=True):
            look = {"marker": "o", "color": plotting.COLOURS[colour], "markersize": 3.5}
            found = _points(session, points)
            shown.append(Points(f"minth {min_th}", found, look, pale, begins=True))
        named = {f"simulated, setting of Table {n}": of for n, of in self._of_tables().items()}
        for label, (marker, point) in {**named, "drop-tail": ("*", self.plain)}.items():
            shown.append(Points(label, _points(session, [point]), _look(marker, "black", 4)))
        for label, (marker, printed) in self.published().items():
            shown.append(Points(label, [printed], {**_look(marker, "grey", 5), **OPEN}))
        runs = session.effort_of(self.plain).replications
        (axis, strength), values = self._strength, next(iter(lines.values()))
        symbol, _, unit = strength.partition(", ")
        about = (
            f"Alcaraz & Cerdán 2006 · {session.effort.describe()}, {runs} of drop-tail and of the "
            f"settings of Tables 2 to 5 · bars: {100 * session.paper.confidence:g} % intervals "
            f"of the means · along each pale line {symbol} rises from {values[0].axes[axis]:g} "
            f"(large dot) to {values[-1].axes[axis]:g} {unit}"
        )
        names = ("downlink delay, s", "goodput (delivered in order, payload), kbit/s")
        return enlarged(shown, names, title, about.rstrip())


def _points(session: Session, points: Sequence[SweepPoint]) -> list[Point]:
    both = [[each.estimate(session, point) for each in (DELAY, GOODPUT)] for point in points]
    return [Point(x.mean, y.mean, x.error_bar, y.error_bar) for x, y in both if x and y]


def _look(marker: str, colour: str, zorder: int) -> dict[str, Any]:
    size = 11 if marker == "*" else 7
    found = {"marker": marker, "color": plotting.COLOURS[colour]}
    return {**found, "markersize": size, "zorder": zorder}


def _printed(row: Published) -> Point:
    delay, goodput = row.delay_s, row.goodput_kbps
    return Point(delay.mean, goodput.mean, delay.half_width, goodput.half_width)


def _grids(bearers: Sequence[int]) -> list[Grid]:
    return [Grid(aqm, b, flows) for aqm in PROPOSED for b in bearers for flows in (1, 4)]


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
        rows, table = _known(session, grid.all(session)), grid.table(title, session)
        return ItemResult(key, title, rows, [table], figures, complete=complete)

    return evaluate


def _write(stem: str, title: str, grid: Grid, session: Session, out: Path) -> list[Path]:
    return session.draw(lambda: grid.figure(session, title), out, stem, title, session.about)


# --- the best of the grids ---------------------------------------------------------------------


def evaluate_best(session: Session, out: Path | None) -> ItemResult:
    """Return the grids of the other bearers, and the setting with the largest goodput of each."""
    title = "the grids on all bearers: the settings with the largest goodput, one flow"
    rows, lines = [], []
    for aqm, proposal in PROPOSED.items():
        for bearer in BEARERS:
            theirs = published_table(proposal - 1)[bearer]
            points = Grid(aqm, bearer, 1).all(session)
            known = {point: e for point in points if (e := GOODPUT.estimate(session, point))}
            if not known:
                continue
            best = max(known, key=lambda point: known[point].mean)
            rows += _known(session, [best])
            found = [f"{v:g}" for of in (theirs.setting, setting_at(best.axes)) for v in of[1:]]
            found[2:2] = [f"{theirs.goodput_kbps.mean:.1f}"]
            measured = (GOODPUT.text(session, best), DELAY.text(session, best))
            lines.append([aqm, str(bearer), *found, *measured])
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
            stem = f"sbd-{grid.aqm.lower()}-{grid.bearer}-{grid.flows}"
            figures += _write(stem, grid.about, grid, session, out)
    table = Table(title, columns, lines, notes)
    return ItemResult("bearers", title, rows, [table], figures, complete=complete)


# --- Figs. 2, 14 and 15: two flows over a bearer that changes after 50 s -----------------------

TRACES: Final[Mapping[str, tuple[str, SweepPoint]]] = {
    key: (name, point)
    for key, name, point in zip(
        ("fig2", "fig14", "fig15"),
        ("drop-tail", "SBD, reconfigured", "RED, reconfigured"),
        SWEEPS.cells("traces"),
        strict=True,
    )
}
"""The three traces: what manages the buffer, and the point."""

START_S: Final = 10.0
"""Until when the connections count as starting."""


def trace_item(key: str) -> tuple[Cells, Evaluate]:
    """Return the cells and the evaluation of Fig. 2, 14 or 15."""
    name, point = TRACES[key]

    def trace(session: Session) -> Trace:
        parts = {
            "start": (0.0, START_S),
            "384 kbit/s": (START_S, SWITCH_S),
            "change": (SWITCH_S, SWITCH_S + START_S),
            "128 kbit/s": (SWITCH_S + START_S, session.effort_of(point).duration_s),
        }
        return Trace(session, point, parts)

    def found(session: Session, title: str) -> Found:
        made = trace(session)
        return made.rows({"aqm": str(keys(point)["aqm"])}), [made.table(title)]

    return item_of(
        SBD,
        key,
        [point],
        found,
        lambda session: trace(session).figure((SWITCH_S, "128 kbit/s")),
        "BO: occupancy of the RLC buffer, 1500-byte SDUs.",
        title=f"two flows, 384 to 128 kbit/s at {SWITCH_S:g} s, {name}",
        whole=True,
    )
