"""Computes limits and scale of an axis that shows means and intervals in several panels."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from airpath.present.axes import label_decades
from airpath.results.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["is_logarithmic", "limits", "set_scale"]

_WIDE = 20.0
"""Least ratio of largest to smallest mean for a logarithmic axis."""
_FLAT = 0.2
"""Means that span less than this fraction of a linear axis are indistinguishable."""
_GAIN = 1.5
"""Least factor by which a logarithmic axis must enlarge the flattest panel."""


def is_logarithmic(panels: Iterable[Iterable[float]]) -> bool:
    """Return whether an axis that several panels share is logarithmic.

    It is logarithmic if the means differ by a factor of 20, or if a panel is flat on a linear axis
    but not on a logarithmic axis.

    Parameters
    ----------
    panels : iterable of iterable of float
        The means of each panel; NaN is ignored.
    """
    known = [[mean for mean in means if math.isfinite(mean)] for means in panels]
    known = [means for means in known if means]
    every = [mean for means in known for mean in means]
    if not every or min(every) <= 0 or min(every) == max(every):
        return False
    if max(every) / min(every) >= _WIDE:
        return True
    spread = [means for means in known if max(means) > min(means)]
    linear = min((_share(means, every) for means in spread), default=1.0)
    logs = [[math.log(mean) for mean in means] for means in (every, *spread)]
    return linear < _FLAT and min(_share(means, logs[0]) for means in logs[1:]) > _GAIN * linear


def _share(means: Sequence[float], every: Sequence[float]) -> float:
    """Return the range of a panel's means as a fraction of the range of the means of all panels."""
    return (max(means) - min(means)) / (max(every) - min(every))


def set_scale(
    panel: Axes, way: Literal["x", "y"], panels: Sequence[Sequence[Interval]], scale: float
) -> None:
    """Set scale and limits of an axis that several panels share.

    Parameters
    ----------
    panel : Axes
        One of the panels.
    way : {"x", "y"}
        Axis to set.
    panels : sequence of sequence of Interval
        Intervals of each panel.
    scale : float
        Factor for the intervals.
    """
    found = [each for intervals in panels for each in intervals]
    if is_logarithmic([[each.mean for each in intervals] for intervals in panels]):
        getattr(panel, f"set_{way}scale")("log")
        both = limits([_logarithm(each, scale) for each in found], 1.0)
        ends = None if both is None else (10 ** both[0], 10 ** both[1])
    else:
        ends = limits(found, scale)
    if ends is not None:
        getattr(panel, f"set_{way}lim")(ends)
    axis = panel.xaxis if way == "x" else panel.yaxis
    if axis.get_scale() == "log":
        label_decades(axis)


def _logarithm(of: Interval, scale: float) -> Interval:
    mean, low, high = (
        math.log10(end * scale) if end > 0 else math.nan for end in (of.mean, of.low, of.high)
    )
    return replace(of, mean=mean, low=low, high=high)


def limits(
    intervals: Iterable[Interval], scale: float, also: Iterable[float] = ()
) -> tuple[float, float] | None:
    """Return limits of an axis that keep means distinguishable despite a few wide intervals.

    The interval of two replications can be hundreds of times wider than the others; it is clipped.

    Parameters
    ----------
    intervals : iterable of Interval
        Intervals. All means are inside the limits. Ends of intervals are inside if their distance
        from the means is at most the span of the means or the median length of the intervals.
    scale : float
        Factor for the intervals.
    also : iterable of float
        Further values inside the limits, in the unit of the axis. Default: none.

    Returns
    -------
    limits : tuple of float or None
        Limits; None if there is no mean.
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
