"""Limits of an axis with means and their intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from airpath.results.intervals import Interval

__all__ = ["limits"]


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
