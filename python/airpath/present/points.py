"""Plots of means with error bars.

Lines between points are pale, because they only connect means of different runs; no values were
measured between the points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from airpath.present import style as plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["OPEN", "STAR", "Point", "Points", "draw", "enlarged"]

OPEN: Final[Mapping[str, Any]] = {"fillstyle": "none"}
"""Style of published points."""

STAR: Final[Mapping[str, Any]] = {"marker": "*", "markersize": 11, **OPEN}
"""Style of a single published point."""


class Point(NamedTuple):
    """Point with the half-widths of its confidence intervals in x and y; 0 without an interval.

    `x_above` and `y_above` are the lengths of the upper parts of the intervals if they are not
    symmetric; `x_half` and `y_half` are then the lengths of the lower parts.
    """

    x: float
    y: float
    x_half: float = 0.0
    y_half: float = 0.0
    y_above: float | None = None
    x_above: float | None = None


@dataclass(frozen=True)
class Points:
    """Series of points with a common style.

    Parameters
    ----------
    label : str
        Label in the legend.
    points : sequence of Point
        Points, in the order in which a line connects them. If empty, nothing is drawn.
    look : mapping
        matplotlib keyword arguments for colour, marker and marker size. Without a marker, only the
        line is drawn.
    line : mapping, optional
        Style of the line that connects the points. Default: no line.
    begins : bool
        Whether a larger dot marks the first point. Default False.
    bars : mapping
        Style of the error bars.
    """

    label: str
    points: Sequence[Point]
    look: Mapping[str, Any]
    line: Mapping[str, Any] | None = None
    begins: bool = False
    bars: Mapping[str, Any] = field(default_factory=lambda: {"elinewidth": 0.7, "capsize": 0})


def draw(panel: Axes, found: Points) -> None:
    """Draw a series of points with error bars."""
    if not found.points:
        return
    x, y, *_ = zip(*found.points, strict=True)
    colour = found.look["color"]
    if "marker" not in found.look:
        panel.plot(x, y, label=found.label, **found.look)
        return
    if found.line is not None:
        panel.plot(x, y, color=colour, **{"linestyle": "-", **found.line})
    if found.begins:
        panel.plot(x[0], y[0], "o", color=colour, markersize=7)
    x_ends = _ends((point.x_half, point.x_above) for point in found.points)
    y_ends = _ends((point.y_half, point.y_above) for point in found.points)
    ends: dict[str, Any] = {"xerr": x_ends} if any(map(any, x_ends)) else {}
    bars: dict[str, Any] = {**ends, "yerr": y_ends, "linestyle": "", **found.bars}
    panel.errorbar(x, y, label=found.label, **bars, **found.look)


def _ends(parts: Iterable[tuple[float, float | None]]) -> tuple[list[float], list[float]]:
    """Return the lengths of the lower and of the upper parts of error bars."""
    both = [(below, below if above is None else above) for below, above in parts]
    return [below for below, _ in both], [above for _, above in both]


def enlarged(points: Sequence[Points], names: tuple[str, str]) -> Figure:
    """Draw two panels with the same points: (a) with axes from 0 on, and (b) enlarged.

    Parameters
    ----------
    points : sequence of Points
        All series of points.
    names : tuple of str
        Labels of the x-axis and the y-axis, with units.
    """
    figure = plotting.new_figure(11.0, 5.6)
    panels: Any = figure.subplots(1, 2, width_ratios=(1, 1.7))
    for panel in panels:
        for each in points:
            draw(panel, each)
        panel.set_xlabel(names[0])
        panel.grid(visible=True, axis="both")
    _limits(panels, [point for each in points for point in each.points])
    panels[0].set_title("(a) from 0 on; the frame is (b)")
    panels[1].set_title("(b) enlarged")
    panels[0].set_ylabel(names[1])
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def _limits(panels: Sequence[Axes], points: Iterable[Point]) -> None:
    """Set the axis limits: (a) from 0 on, (b) around all error bars; mark area (b) in (a)."""
    ends = [(p.x - p.x_half, p.x + p.x_half, p.y - p.y_half, p.y + p.y_half) for p in points]
    low_x, high_x = min(end[0] for end in ends), max(end[1] for end in ends)
    low_y, high_y = min(end[2] for end in ends), max(end[3] for end in ends)
    x_room, y_room = 0.04 * (high_x - low_x), 0.04 * (high_y - low_y)
    whole, part = panels
    whole.set(xlim=(0, 1.08 * high_x), ylim=(0, 1.08 * high_y))
    part.set(xlim=(low_x - x_room, high_x + x_room), ylim=(low_y - y_room, high_y + y_room))
    (left, right), (bottom, top) = part.get_xlim(), part.get_ylim()
    frame: dict[str, Any] = {"color": plotting.COLOURS["grey"], "lw": 0.9, "zorder": 1}
    whole.plot([left, right, right, left, left], [bottom, bottom, top, top, bottom], **frame)
