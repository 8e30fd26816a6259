"""Tick labels of logarithmic axes, and legends of figures with several panels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airpath.present import style
from airpath.present.drawing import current

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["label_decades", "legend_below", "legends_below"]

_LETTERS_PER_INCH = 13
"""Letters per inch in the text of a legend."""
_KEY, _MARKER_KEY = 8, 5
"""Width of a line handle and of a marker handle, including the space around it, in letters."""
_MOST_IN_PANEL = 6
"""Largest number of entries of a legend that is drawn in an empty position of the grid."""
_FEW_DECADES = 2.7
"""Largest number of decades of an axis on which 2 and 5 are also labelled."""


def label_decades(axis: Axis) -> None:
    """Label a logarithmic axis at powers of 10, and on short axes at 2 and 5 times these.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        Axis whose limits are set.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    few = math.log10(high / low) <= _FEW_DECADES
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=20))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(LogLocator(subs=range(2, 10), numticks=20))
    axis.set_minor_formatter(NullFormatter())


def _spare_place(figure: Figure) -> dict[str, Any]:
    """Return the position of an empty cell of the grid for a legend; empty if there is none."""
    from matplotlib.transforms import IdentityTransform

    if current().size_in is None or current().axes:
        return {}
    spare = next((axes for axes in figure.axes if not axes.get_visible()), None)
    if spare is None:
        return {}
    at: Any = IdentityTransform()
    return {"loc": "center", "bbox_to_anchor": spare.bbox, "bbox_transform": at}


def _title_size() -> Any:
    import matplotlib as mpl

    return mpl.rcParams["legend.title_fontsize"] or mpl.rcParams["legend.fontsize"]


def legend_below(
    figure: Figure,
    handles: Sequence[Any],
    title: str,
    side: str = "center",
    share: float = 1.0,
    columns: int | None = None,
) -> None:
    """Draw a common legend below all panels, with as few lines as possible.

    If the user sets the size of the figure, a short legend is drawn in an empty cell of the grid
    instead.

    Parameters
    ----------
    figure : Figure
        Figure with a constrained layout.
    handles : sequence of artist
        Handles with labels, the entries of the legend.
    title : str
        Title above the entries; empty for none.
    side : {"center", "left", "right"}
        Horizontal position. Default: the middle.
    share : float
        Largest width as a share of the figure's width, in (0, 1]. Default 1.
    columns : int, optional
        Number of columns. Default: as many as fit.
    """
    spare = _spare_place(figure) if share == 1 and len(handles) <= _MOST_IN_PANEL else {}
    if spare:
        share = 1 / figure.axes[0].get_gridspec().ncols  # type: ignore[union-attr]
    letters = style.letters_in(share * figure.get_figwidth(), _LETTERS_PER_INCH)
    for handle in handles:
        handle.set_label(style.wrapped(handle.get_label(), letters - _key(handles)))
    if columns is None:
        columns = max(1, min(len(handles), int(letters / _entry(handles))))
        # Balance the lines, so that the last line is not nearly empty.
        columns = -(-len(handles) // -(-len(handles) // columns))
    place: dict[str, Any] = spare or {"loc": f"outside lower {side}"}
    columns = 1 if spare else columns
    space: dict[str, Any] = {}
    if _key(handles) == _MARKER_KEY:
        space = {"handlelength": 1.0, "handletextpad": 0.5, "columnspacing": 1.0}
    figure.legend(
        handles=list(handles),
        **place,
        ncols=columns,
        title=style.literal(title) or None,
        title_fontsize=_title_size(),
        **space,
    )


def legends_below(figure: Figure, legends: Sequence[tuple[str, Sequence[Any]]]) -> None:
    """Draw one or two common legends side by side below all panels, with few lines.

    If the user passed axes, two legends are merged.

    Parameters
    ----------
    figure : Figure
        Figure with a constrained layout.
    legends : sequence of (str, sequence of artist)
        Title and entries of each legend.
    """
    if len(legends) == 2 and not current().axes:
        whole = style.letters_in(figure.get_figwidth(), _LETTERS_PER_INCH)
        columns = _columns(legends, whole)
        for (title, handles), side, count in zip(legends, ("left", "right"), columns, strict=True):
            share = 0.5 if columns == (1, 1) else _width(title, handles, count) / whole
            legend_below(figure, handles, title, side, share, count)
    elif legends:
        title = " · ".join(title for title, _ in legends)
        legend_below(figure, [handle for _, of in legends for handle in of], title)


def _columns(legends: Sequence[tuple[str, Sequence[Any]]], whole: int) -> tuple[int, int]:
    """Return the numbers of columns with which two legends in a given width have fewest lines."""
    (_, first), (_, second) = legends

    def lines(columns: tuple[int, int]) -> tuple[int, int]:
        rows = max(-(-len(first) // columns[0]), -(-len(second) // columns[1]))
        return rows, sum(columns)

    fitting = (
        pair
        for pair in itertools.product(range(1, len(first) + 1), range(1, len(second) + 1))
        if sum(_width(*of, count) for of, count in zip(legends, pair, strict=True)) <= whole
    )
    return min(fitting, key=lines, default=(1, 1))


def _width(title: str, handles: Sequence[Any], columns: int) -> int:
    return max(columns * _entry(handles), len(title) + 1)


def _entry(handles: Sequence[Any]) -> int:
    """Return the width of the widest entry of a legend, letters."""
    lines = [line for handle in handles for line in handle.get_label().split("\n")]
    return max(map(len, lines)) + _key(handles)


def _key(handles: Sequence[Any]) -> int:
    return _KEY if any(map(_has_line, handles)) else _MARKER_KEY


def _has_line(handle: Any) -> bool:
    # Points with error bars are a container, which has no line style.
    line = handle.lines[0] if hasattr(handle, "lines") else handle
    return line is None or line.get_linestyle() != "None"
