"""Figures of computed curves: panels beside each other, a logarithmic parameter, shared heights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from airpath.present import style as plotting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CurveSpec", "Panel", "draw_panels"]


class CurveSpec(NamedTuple):
    """A curve, or published points."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    look: Mapping[str, Any]
    """Matplotlib's: colour, marker, dashes."""


class Panel(NamedTuple):
    """What one panel shows."""

    title: str
    curves: Sequence[CurveSpec]
    published: Sequence[CurveSpec] = ()
    """CurveSpec as open stars in their colour."""


STAR: Final[Mapping[str, Any]] = {
    "marker": "*",
    "markersize": 13,
    "fillstyle": "none",
    "linestyle": "none",
}
"""Published points."""


def draw_panels(
    panels: Sequence[Panel],
    names: tuple[str, str],
    limits: tuple[tuple[float, float], tuple[float, float]],
    size_in: tuple[float, float],
    source: str,
) -> Figure:
    """Return the figure of up to four panels; of several each has a letter.

    Parameters
    ----------
    panels : sequence of Panel
        From left to right. The first has the curves of the legend.
    names : tuple of str
        Of the axes.
    limits : tuple of tuple of float
        Of the axes; the horizontal one is logarithmic.
    size_in : tuple of float
        Width and height, inches.
    source : str
        What the legend calls the published points.
    """
    figure = plotting.new_figure(*size_in)
    drawn = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for letter, panel, what in zip("abcd", drawn, panels, strict=False):
        for curve in what.curves:
            size = {"markersize": 3.5, "linewidth": 1.4, "markevery": 2}
            panel.plot(curve.x, curve.y, label=curve.label, **size, **curve.look)
        panel.set_xscale("log")
        panel.set_xlim(*limits[0])
        panel.set_xlabel(names[0])
        for star in what.published:
            look = {**STAR, "color": star.look["color"], "zorder": 4}
            panel.plot(star.x, star.y, gid="published", **look)
        panel.set_title(f"({letter}) {what.title}" if len(panels) > 1 else "")
    drawn[0].set_ylim(*limits[1])
    drawn[0].set_ylabel(names[1])
    if any(panel.published for panel in panels):
        drawn[0].plot([], [], label=source, color=plotting.COLOURS["black"], **STAR)
    handles, labels = drawn[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    return figure
