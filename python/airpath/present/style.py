"""One look for all figures: readable sizes, a colour-blind-safe palette.

Figures are drawn without touching the user's matplotlib settings, and without a display.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from airpath.present.lettering import FONT, letters, literal, missing_note

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

__all__ = [
    "COLOURS",
    "DASHES",
    "MARKERS",
    "SERIES",
    "colour_of",
    "heading",
    "legend_above",
    "literal",
    "mark_beyond",
    "mark_levels",
    "new_figure",
    "style",
]

COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "red": "#D55E00",
    "sky": "#56B4E9",
    "purple": "#CC79A7",
    "black": "#000000",
    "grey": "#5F6A72",
}
"""From the palette of Okabe and Ito (2008), which people with any colour vision can tell apart."""

SERIES = ("blue", "orange", "green", "red", "purple", "sky", "black", "grey")
MARKERS = ("o", "s", "D", "P", "X", "*", "<", ">")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)))
"""Colours, markers and dashes of the series of a figure, in order: colour alone never tells them
apart. ▲ and ▼ have a meaning of their own in figures."""

_SETTINGS: dict[str, Any] = {
    "font.family": [FONT],
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#DDE1E4",
    "grid.linewidth": 0.8,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "figure.titlesize": 12.5,
    "figure.titleweight": "bold",
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in this style; the settings from before come back afterwards."""
    import matplotlib as mpl

    with mpl.rc_context(cast(Any, _SETTINGS)), letters():
        yield


def colour_of(number: int) -> str:
    """Return the colour of the series with a number, from 0."""
    return COLOURS[SERIES[number % len(SERIES)]]


def new_figure(width_in: float, height_in: float) -> Figure:
    """Return an empty figure, which needs no display and is not one of pyplot's.

    Notebooks show it where it is the last value of a cell, once.

    Parameters
    ----------
    width_in, height_in : float
        Its size, inches.
    """
    from airpath.present.canvas import AirpathFigure

    return AirpathFigure(figsize=(width_in, height_in), layout="constrained")


def heading(figure: Figure, title: str, subtitle: str) -> None:
    """Put a title and a smaller line under it at the top left of a figure.

    Parameters
    ----------
    figure : Figure
        All its other texts are there.
    title, subtitle : str
        Drawn as written, long ones on several lines, for which the figure grows.
    """
    above = _lines(literal(title), figure, _TITLE_PER_INCH)
    figure.set_figheight(figure.get_figheight() + _TITLE_LINE_IN * (len(above) - 1))
    below = _lines(literal(subtitle), figure, _SUBTITLE_PER_INCH)
    note = missing_note()
    below += [note] if note else []
    # Room for the smaller lines; constrained layout knows of the title only.
    room = [""] * (1 + round(0.8 * len(below)))
    figure.suptitle("\n".join([*above, *room]), x=0.01, ha="left")
    figure.text(
        0.01,
        1 - (0.14 + _TITLE_LINE_IN * len(above)) / figure.get_figheight(),
        "\n".join(below),
        ha="left",
        va="top",
        color=COLOURS["grey"],
        fontsize=9.5,
    )


def legend_above(axis: Axes) -> None:
    """Put the legend of a panel, if it has one, above its right end, on as few lines as fit."""
    handles, labels = axis.get_legend_handles_labels()
    if not handles:
        return
    width = 0.8 * axis.figure.get_figwidth()  # type: ignore[union-attr]
    widest = max(map(len, labels)) / _LEGEND_PER_INCH + 0.5
    whole = sum(len(label) / _LEGEND_PER_INCH + 0.5 for label in labels)
    columns = len(labels) if whole <= width else max(1, int(width / widest))
    # A last line with one entry is not longer than it needs to be.
    columns = -(-len(labels) // -(-len(labels) // columns))
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0.2}
    room: dict[str, Any] = {"columnspacing": 1.3, "handletextpad": 0.5, "handlelength": 1.5}
    axis.legend(handles, labels, ncols=columns, **place, **room)


def mark_beyond(axis: Axes, x: ArrayLike, y: ArrayLike, colour: str, unit: str) -> None:
    """Mark with ▲ at the upper edge of a panel where a curve is above it; nothing else is ▲.

    Parameters
    ----------
    axis : Axes
        The panel, with its final limits.
    x, y : array_like, shape (n,)
        The curve.
    colour : str
        A key of `COLOURS`.
    unit : str
        Of `y`, for the legend, which says how far it goes.
    """
    places, heights = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    left, right = axis.get_xlim()
    top = axis.get_ylim()[1]
    beyond = (heights > top) & (places >= left) & (places <= right)
    if beyond.any():
        axis.plot(
            places[beyond],
            np.ones(int(beyond.sum())),
            "^",
            ms=4.5,
            color=COLOURS[colour],
            transform=axis.get_xaxis_transform(),
            clip_on=False,
            zorder=5,
            label=f"beyond the panel, up to {heights[beyond].max():.3g} {unit}".rstrip(),
        )
        legend_above(axis)


# Height of a line of the title, inches.
_TITLE_LINE_IN = 0.22
# Letters of the average text that fit beside each other.
_TITLE_PER_INCH, _SUBTITLE_PER_INCH, _LEGEND_PER_INCH = 10.0, 13.3, 13.0


def _lines(text: str, figure: Figure, per_inch: float) -> list[str]:
    width = int(figure.get_figwidth() * per_inch)
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def mark_levels(axis: Axes, levels: Mapping[float, Sequence[str]], height: float) -> None:
    """Draw lines at levels that have names, of a panel from 0 to `height`."""
    for level, names in levels.items():
        axis.axhline(level, color=COLOURS["grey"], lw=1, ls=(0, (4, 3)))
        axis.annotate(
            " = ".join(names),
            (1, level),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va=_side(level, levels, height),
            fontsize=8.5,
            color=COLOURS["grey"],
        )


def _side(level: float, levels: Mapping[float, Any], height: float) -> str:
    """Return on which side of its line a label stands, so that neighbours do not overlap."""
    near = [other - level for other in levels if 0 < abs(other - level) < 0.12 * height]
    if not near:
        return "center"
    return "top" if min(near, key=abs) > 0 else "bottom"
