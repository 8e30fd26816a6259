"""Figs. 2, 6, 7 and 8: windows, queues and rates over time (clamp-2008 §5.1, §5.7, §5.8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airpath.papers.clamp.dynamics import END_S, Dynamics
from airpath.papers.clamp.link import JOINS_S, LINK_CELLS, fluid_queue_bytes
from airpath.papers.clamp.measures import QUEUES
from airpath.papers.clamp.scenarios import Case
from airpath.papers.clamp.sweeps import NAMES
from airpath.papers.kit.base import Cell, ItemResult
from airpath.papers.kit.declared import Evaluate, titles
from airpath.papers.kit.session import Session
from airpath.results import style as plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["TRACES"]

SHOWN_S: Final = (2700.0, 3000.0)
KNOBS: Final = {50: {True: 7000, False: 17_500}, 180: {True: 32_000, False: 52_000}}
"""a and buffer, bytes, by the mean queueing delay that they give in fast fading, ms."""

WINDOWS: Final = ("awnd", "cwnd", "queue")
TRACED: Final[Mapping[int, Mapping[bool, Case]]] = {
    delay_ms: {clamp: Case(True, False, clamp, knob, "", WINDOWS) for clamp, knob in knobs.items()}
    for delay_ms, knobs in KNOBS.items()
}
DYNAMICS: Final = {
    True: Dynamics("clamp", 2000, 40_000),
    False: Dynamics("newreno", 2000, 0),
}
COLOURS: Final = {True: "blue", False: "orange"}


def _line(
    axes: Axes, found: Any, colour: str, label: str, scale: float = 1.0, from_s: float = 0.0
) -> None:
    times, values = found
    first = max(0, int(np.searchsorted(times, from_s, "right")) - 1)
    times, values = times[first:], values[first:]
    look: Any = {"color": plotting.COLOURS[colour], "lw": 0.7, "where": "post", "label": label}
    axes.step(times, values * scale, **look)


def _finished(figure: Figure, title: str, session: Session, axes: Sequence[Axes]) -> Figure:
    axes[-1].set_xlabel("time, s")
    for each in axes:
        each.set_ylim(bottom=0)
        each.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, fontsize=8)
    about = f"Andrew, Hanly & Mukhtar 2008 · one run, seed {session.seed}."
    plotting.heading(figure, title, about)
    return figure


def _fig2(session: Session, title: str) -> Figure:
    figure = plotting.new_figure(9.6, 7.6)
    windows, queues, enlarged = figure.subplots(3, 1, sharex=True)
    clamp, plain = LINK_CELLS
    _line(windows, session.series(plain, "cwnd").of(0), "orange", "New Reno, CWND of flow 1", 1e-3)
    for flow, colour in enumerate(("blue", "green", "purple")):
        name = f"CLAMP, AWND of flow {flow + 1}"
        _line(windows, session.series(clamp, "awnd").of(flow), colour, name, 1e-3)
    for axes, cases in ((queues, (plain, clamp)), (enlarged, (clamp,))):
        for case in cases:
            found = session.series(case, "queue").of(0)
            _line(axes, found, COLOURS[case.clamp], NAMES[case.clamp], 1.5)
    times = sorted({time for span in JOINS_S for time in span})
    fluid = [
        fluid_queue_bytes(sum(start <= time < stop for start, stop in JOINS_S)) / 1e3
        for time in times[:-1]
    ]
    for axes in (queues, enlarged):
        axes.stairs(fluid, times, color=plotting.COLOURS["red"], label="kτ + a", zorder=5)
    windows.set(ylabel="window, kB", ylim=(0, 110))
    queues.set_ylabel("queue, kB")
    drawn = _finished(figure, title, session, [windows, queues, enlarged])
    enlarged.set(ylabel="queue of CLAMP, kB", ylim=(0, 25))
    return drawn


def _rows(session: Session, title: str, draw: Callable[[Axes, int], None], name: str) -> Figure:
    figure = plotting.new_figure(9.6, 6.4)
    panels: Any = figure.subplots(len(TRACED), 1, sharex=True)
    for axes, delay_ms in zip(panels, TRACED, strict=True):
        draw(axes, delay_ms)
        axes.set_title(f"{delay_ms} ms of queueing", loc="left")
        axes.set(ylabel=name, xlim=SHOWN_S)
    return _finished(figure, title, session, panels)


def _fig6(session: Session, title: str) -> Figure:
    def draw(axes: Axes, delay_ms: int) -> None:
        ours, theirs = TRACED[delay_ms][True], TRACED[delay_ms][False]
        lines = [
            (ours, "cwnd", "sky", "CLAMP, CWND"),
            (theirs, "cwnd", "orange", "New Reno, CWND"),
            (ours, "awnd", "blue", "CLAMP, AWND"),
        ]
        for case, series, colour, label in lines:
            _line(axes, session.series(case, series).of(0), colour, label, 1e-3, SHOWN_S[0])

    return _rows(session, title, draw, "window of 30, kB")


def _fig7(session: Session, title: str) -> Figure:
    def draw(axes: Axes, delay_ms: int) -> None:
        place = list(QUEUES).index("130")
        for clamp, case in TRACED[delay_ms].items():
            found = session.series(case, "queue").of(place)
            _line(axes, found, COLOURS[clamp], NAMES[clamp], from_s=SHOWN_S[0])

    return _rows(session, title, draw, "queue of 130, packets")


def _fig8(session: Session, title: str) -> Figure:
    figure = plotting.new_figure(9.6, 6.0)
    rates, queues = figure.subplots(2, 1, sharex=True)
    edges = np.arange(0.0, END_S + 0.5)
    for clamp, case in DYNAMICS.items():
        times, received = session.series(case, "delivered").of(0)
        found = 8e-6 * np.histogram(times, bins=edges, weights=received)[0]
        rates.stairs(found, edges, color=plotting.COLOURS[COLOURS[clamp]], label=NAMES[clamp])
        _line(queues, session.series(case, "queue").of(0), COLOURS[clamp], NAMES[clamp])
    rates.set_ylabel("rate of the long flow, Mbit/s")
    queues.set_ylabel("queue, packets")
    return _finished(figure, title, session, [rates, queues])


def _item(key: str, cells: Sequence[Cell], draw: Callable[[Session, str], Figure]) -> Evaluate:
    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = f"Fig. {key[3:]}: {titles('clamp')[key]}"
        complete, figures = session.complete(cells), []
        if out is not None and complete:
            about = (out, f"clamp-{key}", title, session.about)
            figures = session.draw(lambda: draw(session, title), *about)
        return ItemResult(key, title, [], [], figures, complete=complete)

    return evaluate


_TRACED: Final = [case for cases in TRACED.values() for case in cases.values()]
_DRAWN: Final[Mapping[str, tuple[Sequence[Cell], Callable[[Session, str], Figure]]]] = {
    "fig2": (LINK_CELLS, _fig2),
    "fig6": (_TRACED, _fig6),
    "fig7": (_TRACED, _fig7),
    "fig8": (list(DYNAMICS.values()), _fig8),
}
TRACES: Final = {
    key: (list(cells), _item(key, cells, draw)) for key, (cells, draw) in _DRAWN.items()
}
"""Cells and evaluation of each item."""
