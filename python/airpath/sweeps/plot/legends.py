"""Legends of figures with several panels."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from airpath.results import style

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from airpath.results.intervals import Interval

__all__ = ["label_decades", "legend_below", "limits"]

_LETTERS_PER_INCH, _KEY = 13, 8
"""Of the legend's text, and what a handle takes, letters."""
_FEW_DECADES = 2.7
"""On so many 2 and 5 are labelled too."""


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


def legend_below(
    figure: Figure, handles: Sequence[Any], title: str, side: str = "center", share: float = 1.0
) -> None:
    """Put a legend for all panels below them, on as few lines as fit.

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
    widest = max(len(handle.get_label()) for handle in handles)
    columns = int(share * _LETTERS_PER_INCH * figure.get_figwidth() / (widest + _KEY))
    columns = max(1, min(len(handles), columns))
    # A last line with one entry is not longer than it needs to be.
    columns = -(-len(handles) // -(-len(handles) // columns))
    place: dict[str, Any] = {"loc": f"outside lower {side}"}
    figure.legend(
        handles=list(handles),
        **place,
        ncols=columns,
        title=style.literal(title) or None,
        title_fontsize=9.5,
    )


def limits(
    intervals: Iterable[Interval], scale: float, also: Iterable[float] = ()
) -> tuple[float, float] | None:
    """Return the ends of an axis on which means can be told apart, whatever a few intervals are.

    An interval of two replications can be hundreds of times as wide as the others; it leaves the
    panel.

    Parameters
    ----------
    intervals : iterable of Interval
        All means are shown; ends of intervals as far beyond these as the means are apart, or as
        half of the intervals are long.
    scale : float
        What they are multiplied by.
    also : iterable of float
        What is shown besides, in the axis's unit. Default: nothing.

    Returns
    -------
    limits : tuple of float or None
        None where there is no mean.
    """
    known = [each for each in intervals if math.isfinite(each.mean)]
    means = [*(each.mean * scale for each in known), *also]
    if not known:
        return None
    low, high = min(means), max(means)
    lengths = [(each.high - each.low) * scale for each in known if math.isfinite(each.low)]
    usual = statistics.median(lengths) if lengths else 0.0
    room = max(high - low, usual) or 0.5 * abs(high) or 1.0
    ends = (end * scale for each in known for end in (each.low, each.high))
    shown = [end for end in ends if low - room <= end <= high + room]
    low, high = min([low, *shown]), max([high, *shown])
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return low - margin, high + margin
