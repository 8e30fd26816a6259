"""Limits and kind of an axis with means and their intervals, the same for all panels."""

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
"""Largest over smallest mean from which on an axis is logarithmic."""
_FLAT = 0.2
"""Share of a linear axis below which the means of a panel are indistinguishable."""
_GAIN = 1.5
"""Factor by which a logarithmic axis has to enlarge the flattest panel."""


def is_logarithmic(panels: Iterable[Iterable[float]]) -> bool:
    """Return whether an axis that several panels share is logarithmic.

    It is where the means differ twentyfold, or where a linear axis makes a panel flat that a
    logarithmic one does not.

    Parameters
    ----------
    panels : iterable of iterable of float
        The means of each panel; NaN is left out.
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
    """Return which share of the axis of all means those of a panel take."""
    return (max(means) - min(means)) / (max(every) - min(every))


def set_scale(
    panel: Axes, way: Literal["x", "y"], panels: Sequence[Sequence[Interval]], scale: float
) -> None:
    """Set kind and limits of an axis that several panels share.

    Parameters
    ----------
    panel : Axes
        One of them.
    way : {"x", "y"}
        Which axis.
    panels : sequence of sequence of Interval
        Of each panel.
    scale : float
        What they are multiplied by.
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
    """Return the ends of an axis on which means are distinguishable, despite a few wide intervals.

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
