"""Axes and legends of figures with several panels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airpath.present import style
from airpath.present.drawing import current

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["label_decades", "legend_below"]

_LETTERS_PER_INCH, _KEY = 13, 8
"""Of the legend's text, and what a handle takes, letters."""
_MOST_IN_PANEL = 6
"""Entries of a legend that is put in the place of a panel."""
_FEW_DECADES = 2.7
"""On an axis of at most this many decades, 2 and 5 are labelled too."""


def label_decades(axis: Axis) -> None:
    """Label a logarithmic axis at 1, 10, 100, and at 2 and 5 times these where there is room.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        Its limits are set.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    few = math.log10(high / low) <= _FEW_DECADES
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=20))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(LogLocator(subs=range(2, 10), numticks=20))
    axis.set_minor_formatter(NullFormatter())


def _spare_place(figure: Figure) -> dict[str, Any]:
    """Return where a legend is in place of a missing panel; empty if no panel is missing."""
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
    figure: Figure, handles: Sequence[Any], title: str, side: str = "center", share: float = 1.0
) -> None:
    """Put a legend for all panels below them, on as few lines as fit.

    In a figure whose size the user gives, a short one is put where a panel is missing in the grid.

    Parameters
    ----------
    figure : Figure
        With a constrained layout.
    handles : sequence of artist
        Each with its label.
    title : str
        Above the entries; empty for none.
    side : {"center", "left", "right"}
        Where it stands. Default in the middle.
    share : float
        Of the figure's width, what it may take, in (0, 1]. Default all.
    """
    spare = _spare_place(figure) if share == 1 and len(handles) <= _MOST_IN_PANEL else {}
    if spare:
        share = 1 / figure.axes[0].get_gridspec().ncols  # type: ignore[union-attr]
    letters = style.letters_in(share * figure.get_figwidth(), _LETTERS_PER_INCH)
    for handle in handles:
        handle.set_label(style.wrapped(handle.get_label(), letters - _KEY))
    widest = max(len(line) for handle in handles for line in handle.get_label().split("\n"))
    columns = int(letters / (widest + _KEY))
    columns = max(1, min(len(handles), columns))
    # A last line with one entry is not longer than it needs to be.
    columns = -(-len(handles) // -(-len(handles) // columns))
    place: dict[str, Any] = spare or {"loc": f"outside lower {side}"}
    columns = 1 if spare else columns
    figure.legend(
        handles=list(handles),
        **place,
        ncols=columns,
        title=style.literal(title) or None,
        title_fontsize=_title_size(),
    )
