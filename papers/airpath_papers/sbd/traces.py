"""One run as it goes: the occupancy of the RLC buffer, the windows, the sequence numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airpath.present import style as plotting
from airpath.reproduction.base import Row, Table
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.sbd.data import BUFFER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Trace"]

FLOWS: Final = 2
SEGMENT: Final = 1460
"""Payload of a packet, bytes."""


@dataclass(frozen=True)
class Trace:
    """The first run of a point.

    Parameters
    ----------
    session : Session
        Has the point.
    point : SweepPoint
        Records the queue, the windows, the sequence numbers and the drops.
    parts : mapping of str to tuple of float
        Names of parts of the run, each from when to when, s.
    """

    session: Session
    point: SweepPoint
    parts: Mapping[str, tuple[float, float]]

    def rows(self, place: Mapping[str, str]) -> list[Row]:
        """Return what was measured in each part as rows that `place` and the part name."""
        return [
            Row({**place, "part": part}, quantity, "SDUs", None, value)
            for part, times in self.parts.items()
            for quantity, value in self._measured(*times).items()
        ]

    def table(self, title: str) -> Table:
        """Return what was measured in each part as a table."""
        lines = []
        for part, (low, high) in self.parts.items():
            found = self._measured(low, high)
            values = (f"{found['mean_occupancy']:.1f}", f"{found['largest_occupancy']:.0f}")
            drops = (f"{found['overflow_drops']:.0f}", f"{found['early_drops']:.0f}")
            lines.append([part, f"{low:g}-{high:g}", *values, *drops])
        columns = [("", "part"), ("", "s"), ("occupancy", "mean"), ("occupancy", "largest")]
        columns += [("drops", "overflow"), ("drops", "early")]
        return Table(title, columns, lines, ["One run; occupancy in SDUs of 1500 bytes."])

    def _measured(self, low: float, high: float) -> dict[str, float]:
        times, levels = self.session.series(self.point, "queue").of(0)
        grid = np.arange(low, high, 0.01)
        occupancy = levels[np.maximum(np.searchsorted(times, grid, "right") - 1, 0)]
        drops = self.session.series(self.point, "drop")
        reasons = drops.value[(drops.time_s >= low) & (drops.time_s < high)]
        return {
            "mean_occupancy": float(occupancy.mean()),
            "largest_occupancy": float(occupancy.max()),
            "overflow_drops": float((reasons == 0).sum()),
            "early_drops": float((reasons == 1).sum()),
        }

    def figure(self, change: tuple[float, str]) -> Figure:
        """Return the figure without heading: occupancy, windows, sequence numbers.

        Parameters
        ----------
        change : tuple of float and str
            When something changes, s, and to what.
        """
        from matplotlib.lines import Line2D

        flows, colours = FLOWS, [*plotting.COLOURS.values()]
        figure = plotting.new_figure(9.6, 1.0 + 1.6 * (1 + 2 * flows))
        heights = (1.1, *(0.9,) * flows, *(1.3,) * flows)
        panels: Any = figure.subplots(1 + 2 * flows, 1, sharex=True, height_ratios=heights)
        windows, numbers = panels[1 : 1 + flows], panels[1 + flows :]
        grey = {"color": plotting.COLOURS["grey"], "linestyle": (0, (4, 3)), "linewidth": 1.0}
        self._occupancy(panels[0], change, grey)
        for flow, (panel, below) in enumerate(zip(windows, numbers, strict=True)):
            times, window = self.session.series(self.point, "cwnd").of(flow)
            line = {"color": colours[flow], "lw": 0.9}
            panel.step(times, window / SEGMENT, where="post", **line)
            panel.set_ylabel(f"cwnd {flow + 1},\nsegments")
            self._sequence(below, flow)
        # What the flows did is compared: on the same scale.
        for group in (windows, numbers):
            top = max(panel.get_ylim()[1] for panel in group)
            for panel in group:
                panel.set_ylim(0, top)
        for panel in panels:
            panel.axvline(change[0], **grey)
        end_s = self.session.effort_of(self.point).duration_s
        panels[-1].set(xlabel="time, s", xlim=(0, end_s))
        figure.align_ylabels()
        dots: dict[str, Any] = {"linestyle": "", "markersize": 6}
        handles = [
            Line2D([], [], color=plotting.COLOURS[colour], marker=marker, **dots)
            for _, _, colour, marker in _SEQUENCES
        ]
        names = [name for _, name, _, _ in _SEQUENCES]
        figure.legend(handles, names, loc="outside lower center", ncols=3)
        return figure

    def _occupancy(self, panel: Axes, change: tuple[float, str], grey: Mapping[str, Any]) -> None:
        times, levels = self.session.series(self.point, "queue").of(0)
        panel.step(times, levels, where="post", color=plotting.COLOURS["black"], lw=0.7)
        panel.axhline(BUFFER, **grey)
        panel.set_ylim(0, BUFFER + 10)
        panel.set_ylabel("BO, SDUs")
        panel.annotate(change[1], (change[0], BUFFER + 9), xytext=(3, 0), va="top", **_NEAR)
        panel.annotate("buffer", (0, BUFFER), xytext=(3, 2), va="bottom", **_NEAR)

    def _sequence(self, panel: Axes, flow: int) -> None:
        for series, name, colour, marker in _SEQUENCES:
            times, numbers = self.session.series(self.point, series).of(flow)
            crosses = {"markersize": 6.0, "markeredgewidth": 1.4}
            size = crosses if marker == "x" else {"markersize": 1.5}
            line: Any = {"color": plotting.COLOURS[colour], "linestyle": "", **size}
            panel.plot(times, numbers / SEGMENT, marker, label=name, **line)
        panel.set_ylabel(f"flow {flow + 1},\nsegment")


_NEAR: Any = {"textcoords": "offset points", "fontsize": 8.5, "color": plotting.COLOURS["grey"]}

_SEQUENCES: Final[Sequence[tuple[str, str, str, str]]] = (
    ("seq_sent", "sent", "sky", "."),
    ("seq_received", "received", "green", "."),
    ("seq_dropped", "dropped at the buffer", "red", "x"),
)
"""Series, what the legend says, colour, mark."""
