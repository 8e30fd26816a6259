"""Common style of all figures: font sizes, colours, headings and legends.

Figures require no display. The user's changes of matplotlib's settings take priority. The settings
are not changed permanently.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from airpath.present.drawing import current
from airpath.present.lettering import FONT, letters, literal, missing_note
from airpath.present.on_axes import OnAxes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

__all__ = [
    "COLOURS",
    "MARKERS",
    "SERIES",
    "colour_of",
    "columns_within",
    "dashes_of",
    "grid_of",
    "heading",
    "legend_above",
    "letters_in",
    "literal",
    "mark_beyond",
    "mark_levels",
    "new_figure",
    "own_figure",
    "points",
    "style",
    "wrapped",
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
"""Colours from the palette of Okabe and Ito (2008), which colour-blind readers can distinguish."""

SERIES = ("blue", "orange", "green", "red", "purple", "sky", "black", "grey")
MARKERS = ("o", "s", "D", "P", "X", "*", "<", ">")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)))
"""Colours, markers and dashes of the series of a figure, in order. Each series has another
combination of the three. ▲ and ▼ are not used as markers: they have a special meaning in figures.
"""

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
    """Apply this style while the block runs; restore the settings afterwards.

    The user's changes of ``matplotlib.rcParams`` override this style, and the option `style`
    overrides both.
    """
    import matplotlib as mpl

    now, usual = cast(Any, (mpl.rcParams, mpl.rcParamsDefault))
    own = {key: value for key, value in _SETTINGS.items() if now[key] == usual[key]}
    with mpl.rc_context(cast(Any, own)), mpl.rc_context(cast(Any, current().rc)), letters():
        yield


def colour_of(number: int) -> str:
    """Return the colour of the series with an index, from 0."""
    return COLOURS[SERIES[number % len(SERIES)]]


def dashes_of(number: int) -> Any:
    """Return the dashes of the series with an index, from 0, in the form of matplotlib."""
    return _DASHES[number % len(_DASHES)]


def new_figure(width_in: float, height_in: float) -> Figure:
    """Return an empty figure that needs no display and is not managed by pyplot.

    A notebook shows the figure only if it is the value of a cell.

    Parameters
    ----------
    width_in, height_in : float
        Default size, inches. A size that the user sets has priority.
    """
    from airpath.present.canvas import AirpathFigure

    if axes := current().axes:
        return cast("Figure", OnAxes(axes))
    return AirpathFigure(figsize=current().figure_size(width_in, height_in), layout="constrained")


def own_figure(figure: Figure) -> Figure:
    """Return the real figure, even if `figure` is an `OnAxes`."""
    return figure.root.figure if isinstance(figure, OnAxes) else figure


def columns_within(width_in: float, most: int, shared_in: float = 0.0) -> int:
    """Return how many panels fit side by side, at most `most`.

    Parameters
    ----------
    width_in : float
        Smallest width of a panel if the user sets the size of the figure, inches.
    most : int
        Number of panels side by side in a figure of the default size.
    shared_in : float
        Part of `width_in` that only the first panel of a row requires, inches. Default 0.
    """
    options = current()
    if options.axes or options.size_in is None:
        return most
    return max(1, min(most, int((options.size_in[0] - shared_in) / (width_in - shared_in))))


_MOST_ROWS = 4
"""Largest number of rows of a grid that is chosen to have no empty cells."""


def grid_of(count: int, most: int) -> tuple[int, int]:
    """Return the numbers of rows and columns for `count` panels, at most `most` side by side.

    The grid has no empty cells if this is possible with at most four rows.
    """
    rows = -(-count // most)
    columns = -(-count // rows)
    full = next(width for width in range(columns, 0, -1) if count % width == 0)
    return (count // full, full) if count // full <= _MOST_ROWS else (rows, columns)


def points(size: float) -> float:
    """Return a font size in points, scaled from the size in the default style."""
    import matplotlib as mpl

    return size * float(mpl.rcParams["font.size"]) / float(_SETTINGS["font.size"])


def letters_in(width_in: float, per_inch: float) -> int:
    """Return the number of letters of average text that fit into a width.

    Parameters
    ----------
    width_in : float
        The width, inches.
    per_inch : float
        Letters per inch at the default font size.
    """
    import matplotlib as mpl

    scale = _SETTINGS["font.size"] / float(mpl.rcParams["font.size"])
    return max(1, int(width_in * per_inch * scale))


def heading(figure: Figure, title: str, subtitle: str) -> None:
    """Draw a title, and a smaller line below it, at the top left of a figure.

    Parameters
    ----------
    figure : Figure
        Figure with all other texts.
    title, subtitle : str
        Texts, which are drawn literally. Long texts are wrapped, and the height of the figure
        grows. The title is also set as the figure's label.
    """
    import matplotlib as mpl

    options = current()
    if options.title is None and not options.has_usual_title:
        return
    title = options.title or title
    if isinstance(figure, OnAxes):
        figure.title(literal(title))
        return
    figure.set_label(title)
    look: dict[str, Any] = {
        "fontsize": mpl.rcParams["figure.titlesize"],
        "fontweight": mpl.rcParams["figure.titleweight"],
    }
    above = _lines(literal(title), figure, _TITLE_PER_INCH, look)
    figure.set_figheight(figure.get_figheight() + _TITLE_LINE_IN * (len(above) - 1))
    small: dict[str, Any] = {"fontsize": points(9.5)}
    below = _lines(literal(subtitle), figure, _SUBTITLE_PER_INCH, small)
    note = missing_note()
    below += [note] if note else []
    # Reserve space for the subtitle with empty lines: constrained layout only considers the title.
    space = [""] * (1 + round(0.8 * len(below)))
    figure.suptitle("\n".join([*above, *space]), x=0.01, ha="left")
    figure.text(
        0.01,
        1 - (0.14 + _TITLE_LINE_IN * len(above)) / figure.get_figheight(),
        "\n".join(below),
        ha="left",
        va="top",
        color=COLOURS["grey"],
        **small,
    )


def legend_above(axis: Axes) -> None:
    """Draw the legend of a panel, if any, above the right end of the panel, with few lines."""
    handles, labels = axis.get_legend_handles_labels()
    if not handles:
        return
    width = 0.8 * axis.figure.get_figwidth()  # type: ignore[union-attr]
    per_inch = letters_in(100, _LEGEND_PER_INCH) / 100
    labels = [wrapped(label, int(per_inch * (width - 0.5))) for label in labels]
    lengths = [max(map(len, label.split("\n"))) for label in labels]
    widest = max(lengths) / per_inch + 0.5
    whole = sum(length / per_inch + 0.5 for length in lengths)
    columns = len(labels) if whole <= width else max(1, int(width / widest))
    # Balance the lines, so that the last line is not nearly empty.
    columns = -(-len(labels) // -(-len(labels) // columns))
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0.2}
    room: dict[str, Any] = {"columnspacing": 1.3, "handletextpad": 0.5, "handlelength": 1.5}
    axis.legend(handles, labels, ncols=columns, **place, **room)


def mark_beyond(axis: Axes, x: ArrayLike, y: ArrayLike, colour: str, unit: str) -> None:
    """Mark points of a curve that lie above the panel with ▲ at its upper edge.

    Parameters
    ----------
    axis : Axes
        The panel, whose limits must be final.
    x, y : array_like, shape (n,)
        The curve.
    colour : str
        A key of `COLOURS`.
    unit : str
        Unit of `y`, for the legend, which shows the largest value.
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
# Largest width of a line as a share of the figure's width.
_TITLE_WIDTH = 0.98
# Letters of average text per inch.
_TITLE_PER_INCH, _SUBTITLE_PER_INCH, _LEGEND_PER_INCH = 10.0, 13.3, 13.0


def wrapped(text: str, letters: int) -> str:
    """Wrap a text; only words that are too long for a line are split, at hyphens."""
    letters = max(letters, 1)
    has_long = max(map(len, text.split()), default=0) > letters
    return "\n".join(textwrap.wrap(text, letters, break_on_hyphens=has_long)) or text


def _lines(text: str, figure: Figure, per_inch: float, look: Mapping[str, Any]) -> list[str]:
    """Wrap a text to the width of a figure, for the text style `look`."""
    most = letters_in(figure.get_figwidth(), per_inch)
    lines = textwrap.wrap(text, most, break_on_hyphens=False) or [""]
    drawn = figure.text(0, 0, "\n".join(lines), **look)
    share = drawn.get_window_extent().width / (_TITLE_WIDTH * figure.bbox.width)
    drawn.remove()
    if share <= 1:
        return lines
    return textwrap.wrap(text, max(1, int(max(map(len, lines)) / share)), break_on_hyphens=False)


def mark_levels(axis: Axes, levels: Mapping[float, Sequence[str]], height: float) -> None:
    """Draw labelled horizontal lines at levels of a panel whose y-axis is 0 to `height`."""
    for level, names in levels.items():
        axis.axhline(level, color=COLOURS["grey"], lw=1, ls=(0, (4, 3)))
        axis.annotate(
            " = ".join(names),
            (1, level),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va=_side(level, levels, height),
            fontsize=points(8.5),
            color=COLOURS["grey"],
        )


def _side(level: float, levels: Mapping[float, Any], height: float) -> str:
    """Return the vertical alignment of a label so that labels of close lines do not overlap."""
    near = [other - level for other in levels if 0 < abs(other - level) < 0.12 * height]
    if not near:
        return "center"
    return "top" if min(near, key=abs) > 0 else "bottom"
