"""Bar charts of distributions over integers, with error bars and coloured ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.present import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["count_drawn", "draw_shares"]

_RARE = 2e-4
"""Smaller shares at the end of a distribution are not plotted."""


def count_drawn(means: Sequence[float]) -> int:
    """Return the number of bars to plot: up to the last share above `_RARE`, and one more."""
    common = [k for k, share in enumerate(means) if share > _RARE]
    return common[-1] + 2 if common else 1


def draw_shares(
    panel: Axes,
    means: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    ranges: Sequence[tuple[float, str, str]],
) -> None:
    """Draw the shares of the values 0, 1, 2, … as bars with error bars.

    Parameters
    ----------
    panel : Axes
        Panel to draw on.
    means, low, high : sequence of float
        Shares in [0, 1], and the ends of their confidence intervals (NaN without an interval).
    ranges : sequence of tuple
        For each range of values: its first value (ascending from 0), a key of `style.COLOURS`, and
        the label in the legend (may be empty).
    """
    ends = [*(first for first, _, _ in ranges[1:]), len(means)]
    for (first, colour, label), end in zip(ranges, ends, strict=True):
        numbers = [k for k in range(len(means)) if first <= k < end]
        heights = [means[k] for k in numbers]
        panel.bar(numbers, heights, width=0.86, color=style.COLOURS[colour], label=label)
    centre = np.asarray(means, dtype=float)
    # Shares are in [0, 1], so intervals are cut at 0 and 1.
    below, above = centre - np.maximum(low, 0.0), np.minimum(high, 1.0) - centre
    if np.isfinite(below).any():
        bars: dict[str, Any] = {"fmt": "none", "ecolor": style.COLOURS["grey"], "elinewidth": 0.8}
        panel.errorbar(range(len(means)), centre, yerr=np.array([below, above]), **bars)
