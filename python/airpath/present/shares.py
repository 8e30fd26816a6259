"""Distributions over integers: a bar for each, in the colour of its range, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.present import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["count_drawn", "draw_shares"]

_RARE = 2e-4
"""Shares at the end of a distribution that are not drawn."""


def count_drawn(means: Sequence[float]) -> int:
    """Return how many numbers of a distribution are drawn: to the one after the last common one."""
    common = [k for k, share in enumerate(means) if share > _RARE]
    return common[-1] + 2 if common else 1


def draw_shares(
    panel: Axes,
    means: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    ranges: Sequence[tuple[float, str, str]],
) -> None:
    """Draw the shares of 0, 1, 2, … with their intervals.

    Parameters
    ----------
    panel : Axes
        Where to draw.
    means, low, high : sequence of float
        Shares in [0, 1] and the ends of their intervals; NaN where there is none.
    ranges : sequence of tuple
        The first number of each range, ascending from 0, a key of `style.COLOURS`, and what the
        legend says, empty for nothing.
    """
    ends = [*(first for first, _, _ in ranges[1:]), len(means)]
    for (first, colour, label), end in zip(ranges, ends, strict=True):
        numbers = [k for k in range(len(means)) if first <= k < end]
        heights = [means[k] for k in numbers]
        panel.bar(numbers, heights, width=0.86, color=style.COLOURS[colour], label=label)
    centre = np.asarray(means, dtype=float)
    # A share is in [0, 1], even if the interval is not.
    below, above = centre - np.maximum(low, 0.0), np.minimum(high, 1.0) - centre
    if np.isfinite(below).any():
        bars: dict[str, Any] = {"fmt": "none", "ecolor": style.COLOURS["grey"], "elinewidth": 0.8}
        panel.errorbar(range(len(means)), centre, yerr=[below, above], **bars)
