"""Figs. 2, 6, 7 and 8: windows, queues and rates over time (clamp-2008 §5.1, §5.7, §5.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airpath.present import style as plotting
from airpath.reproduction.items import item_of
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.clamp.dynamics import BUFFER_BYTES as LONG_BUFFER_BYTES
from airpath_papers.clamp.dynamics import END_S
from airpath_papers.clamp.link import BUFFER_BYTES, JOINS_S, fluid_queue_bytes
from airpath_papers.clamp.measures import QUEUES, empty_share
from airpath_papers.clamp.sweeps import DYNAMICS, NAMES, SWEEPS
from airpath_papers.paths import CLAMP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["TRACES"]

SHOWN_S: Final = (2700.0, 3000.0)
TRACED: Final[dict[int, dict[bool, SweepPoint]]] = {
    delay_ms: dict(zip((True, False), SWEEPS.cells("traced", delay_ms=delay_ms), strict=True))
    for delay_ms in (50, 180)
}
"""CLAMP and New Reno, by the mean queueing delay in fast fading, ms."""

JOINS: Final = SWEEPS.cells("joins")
FIG8: Final = {True: DYNAMICS["a=40000"], False: DYNAMICS["newreno"]}
COLOURS: Final = {True: "blue", False: "orange"}
PER_BIN: Final = 100
"""Samples of a queue in each bin."""
PIPE_KB: Final = (10e6 / 8 * 0.05 + BUFFER_BYTES) / 1e3
DRAWN_BUFFER: Final = LONG_BUFFER_BYTES / 1500


def _line(
    axes: Axes, found: Any, colour: str, label: str, scale: float = 1.0, from_s: float = 0.0
) -> None:
    times, values = found
    first = max(0, int(np.searchsorted(times, from_s, "right")) - 1)
    times, values = times[first:], values[first:]
    look: Any = {"color": plotting.COLOURS[colour], "lw": 0.7, "where": "post", "label": label}
    axes.step(times, values * scale, **look)


def _band(axes: Axes, found: Any, edges: NDArray[np.float64], clamp: bool, label: str = "") -> None:
    """Draw a queue: of each bin the range and the mean over time."""
    times, values = found
    grid = np.linspace(edges[0], edges[-1], PER_BIN * (len(edges) - 1), endpoint=False)
    levels = values[np.maximum(np.searchsorted(times, grid, "right") - 1, 0)]
    bins = levels.reshape(-1, PER_BIN)
    colour = plotting.COLOURS[COLOURS[clamp]]
    centres = (edges[:-1] + edges[1:]) / 2
    ends = (bins.min(axis=1), bins.max(axis=1))
    axes.fill_between(centres, *ends, color=colour, alpha=0.3, lw=0, step="mid")
    axes.plot(centres, bins.mean(axis=1), color=colour, lw=1.0, label=label or NAMES[clamp])


def _finished(figure: Figure, axes: Sequence[Axes]) -> Figure:
    for each in axes:
        each.set_ylim(bottom=0)
        each.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, fontsize=8)
    return figure


def _fig2(session: Session) -> Figure:
    figure = plotting.new_figure(9.6, 7.6)
    windows, queues, enlarged = figure.subplots(3, 1, sharex=True)
    clamp, plain = JOINS
    _line(windows, session.series(plain, "cwnd").of(0), "orange", "New Reno, CWND of flow 1", 1e-3)
    for flow, colour in enumerate(("blue", "green", "purple")):
        name = f"CLAMP, AWND of flow {flow + 1}"
        _line(windows, session.series(clamp, "awnd").of(flow), colour, name, 1e-3)
    windows.axhline(PIPE_KB, color=plotting.COLOURS["grey"], lw=0.8, ls=":", zorder=0)
    for is_clamp, point in ((False, plain), (True, clamp)):
        found = session.series(point, "queue").of(0)
        _line(queues, found, COLOURS[is_clamp], NAMES[is_clamp], 1.5)
    averaged = session.series(clamp, "average_queue").of(0)
    _line(enlarged, averaged, "blue", "CLAMP, averaged queue of the router", 1e-3)
    queues.axhline(BUFFER_BYTES / 1e3, color=plotting.COLOURS["grey"], lw=0.8, ls=":", zorder=0)
    times = sorted({time for span in JOINS_S for time in span})
    fluid = [
        fluid_queue_bytes(sum(start <= time < stop for start, stop in JOINS_S)) / 1e3
        for time in times[:-1]
    ]
    for axes in (queues, enlarged):
        axes.stairs(
            fluid, times, baseline=None, color=plotting.COLOURS["red"], label="kτ + a", zorder=5
        )
    windows.set(ylabel="window, kB", xlim=(0, times[-1]))
    queues.set_ylabel("queue, kB")
    enlarged.set_xlabel("time, s")
    drawn = _finished(figure, [windows, queues, enlarged])
    windows.set_ylim(0, 135)
    queues.set_ylim(0, 55)
    enlarged.set(ylabel="average, kB", ylim=(0, 12))
    return drawn


def _fig6(session: Session) -> Figure:
    figure = plotting.new_figure(9.6, 6.4)
    panels: Any = figure.subplots(len(TRACED), 1, sharex=True)
    for axes, (delay_ms, cases) in zip(panels, TRACED.items(), strict=True):
        lines = [
            (cases[True], "cwnd", "sky", "CLAMP, CWND"),
            (cases[False], "cwnd", "orange", "New Reno, CWND"),
            (cases[True], "awnd", "blue", "CLAMP, AWND"),
        ]
        for case, series, colour, label in lines:
            _line(axes, session.series(case, series).of(0), colour, label, 1e-3, SHOWN_S[0])
        axes.set_title(f"{delay_ms} ms of queueing", loc="left")
        axes.set(ylabel="window of 30, kB", xlim=SHOWN_S)
    panels[-1].set_xlabel("time, s")
    return _finished(figure, panels)


def _fig7(session: Session) -> Figure:
    figure = plotting.new_figure(9.6, 8.4)
    panels: Any = figure.subplots(2 * len(TRACED), 1, sharex=True)
    edges = np.arange(SHOWN_S[0], SHOWN_S[1] + 0.5)
    place = list(QUEUES).index("130")
    for pair, (delay_ms, cases) in zip(panels.reshape(-1, 2), TRACED.items(), strict=True):
        for axes, (clamp, case) in zip(pair, cases.items(), strict=True):
            empty = empty_share("130")(session.replications(case)[0])
            label = f"{NAMES[clamp]}, {delay_ms} ms of queueing: empty {empty:.0%} of the time"
            _band(axes, session.series(case, "queue").of(place), edges, clamp, label)
            axes.set(ylabel="packets", xlim=SHOWN_S)
        most = max(axes.get_ylim()[1] for axes in pair)
        for axes in pair:
            axes.set_ylim(0, most)
    panels[-1].set_xlabel("time, s")
    return _finished(figure, list(panels))


def _fig8(session: Session) -> Figure:
    figure = plotting.new_figure(9.6, 7.6)
    rates, *queues = figure.subplots(3, 1, sharex=True)
    edges = np.arange(0.0, END_S + 0.5)
    rates.set_xlim(0, END_S)
    for axes, (clamp, case) in zip(queues, FIG8.items(), strict=True):
        times, received = session.series(case, "delivered").of(0)
        found = 8e-6 * np.histogram(times, bins=edges, weights=received)[0]
        colour = plotting.COLOURS[COLOURS[clamp]]
        rates.stairs(found, edges, baseline=None, color=colour, label=NAMES[clamp])
        _band(axes, session.series(case, "queue").of(0), edges, clamp)
        axes.axhline(DRAWN_BUFFER, color=plotting.COLOURS["grey"], lw=0.8, ls=":", zorder=0)
        axes.set_ylabel("queue, packets")
    most = max(axes.get_ylim()[1] for axes in queues)
    for axes in queues:
        axes.set_ylim(0, most)
    rates.set_ylabel("long flow, Mbit/s")
    queues[-1].set_xlabel("time, s")
    return _finished(figure, [rates, *queues])


LEGENDS: Final = {
    "fig2": (
        "Flows: 0 to 250 s, 50 to 200 s and 100 to 150 s. Dotted: bandwidth-delay product plus New "
        "Reno's buffer (62.5 + 19.5 kB); that buffer. Peaks of CWND are fast recovery, where each "
        "duplicate ACK adds a segment; the first, and the queues' first peaks, are beyond the axes."
    ),
    "fig6": "CLAMP is in control while AWND is below its own run's CWND.",
    "fig7": "Queue of the 130 ms flow: mean of each second, and its range within the second.",
    "fig8": (
        "Rate over 1 s; queue: mean of each second, and its range within the second. Dotted: New "
        "Reno's buffer of 65 kB. Short flows arrive until 100 s."
    ),
}
_TRACED: Final = [case for cases in TRACED.values() for case in cases.values()]
_DRAWN: Final = {
    "fig2": (JOINS, _fig2),
    "fig6": (_TRACED, _fig6),
    "fig7": (_TRACED, _fig7),
    "fig8": (list(FIG8.values()), _fig8),
}
TRACES: Final = {
    key: item_of(
        CLAMP,
        key,
        cells,
        lambda _session, _title: ([], []),
        draw,
        f"The first replication. {LEGENDS[key]}",
    )
    for key, (cells, draw) in _DRAWN.items()
}
"""Cells and evaluation of each item."""
