"""Curves over time for many users, drawn as quantiles over the users."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.present import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["draw_quantiles", "largest_in_bins", "mean_levels", "quantiles_in_bins"]

_LOW, _HIGH = 0.1, 0.9
"""Lower and upper quantile of a band."""


def mean_levels(
    times_s: NDArray[np.float64], values: NDArray[np.float64], edges_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the time average of a level in each bin. The level is 0 before its first value.

    Parameters
    ----------
    times_s, values : ndarray, shape (n,)
        Ascending times, and the value of the level from each time on.
    edges_s : ndarray, shape (m + 1,)
        Edges of the bins.

    Returns
    -------
    means : ndarray, shape (m,)
        Means in the unit of `values`.
    """
    if not len(times_s):
        return np.zeros(len(edges_s) - 1)
    ends = np.append(times_s[1:], max(edges_s[-1], times_s[-1]))
    area = np.concatenate(([0.0], np.cumsum(values * (ends - times_s))))
    until = np.interp(edges_s, np.append(times_s, ends[-1]), area)
    means: NDArray[np.float64] = np.diff(until) / np.diff(edges_s)
    return means


def largest_in_bins(
    times_s: NDArray[np.float64], values: NDArray[np.float64], edges_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the largest value in each bin, or NaN for an empty bin; shapes as in `mean_levels`."""
    where = np.digitize(times_s, edges_s) - 1
    largest = np.full(len(edges_s) - 1, np.nan)
    inside = (where >= 0) & (where < len(largest))
    np.fmax.at(largest, where[inside], values[inside])
    return largest


def quantiles_in_bins(
    times_s: NDArray[np.float64], values: NDArray[np.float64], edges_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the 0.1, 0.5 and 0.9 quantiles of the values in each bin; shape (3, m)."""
    where = np.searchsorted(times_s, edges_s)
    found = np.full((3, len(edges_s) - 1), np.nan)
    for number, (begin, end) in enumerate(pairwise(where)):
        if end > begin:
            found[:, number] = np.quantile(values[begin:end], (_LOW, 0.5, _HIGH))
    return found


def draw_quantiles(
    axis: Axes, curves: NDArray[np.float64], edges_s: NDArray[np.float64], what: str
) -> None:
    """Draw the median of the users' curves, and a band from the 10 % to the 90 % quantile.

    Parameters
    ----------
    axis : Axes
        The panel.
    curves : ndarray, shape (users, bins)
        One curve per user; NaN where a curve has no value.
    edges_s : ndarray, shape (bins + 1,)
        Edges of the bins, s.
    what : str
        Name of the users in the legend: ``40 users``.
    """
    known = ~np.isnan(curves).all(axis=0)
    found = np.full((3, curves.shape[1]), np.nan)
    found[:, known] = np.nanquantile(curves[:, known], (_LOW, 0.5, _HIGH), axis=0)
    low, middle, high = found
    look: dict[str, Any] = {"color": style.COLOURS["blue"], "lw": 0}
    label = f"10 % to 90 % of {what}"
    axis.stairs(high, edges_s, baseline=low, fill=True, alpha=0.3, label=label, **look)
    look["lw"] = 1.2
    axis.stairs(middle, edges_s, baseline=None, label=f"median of {what}", **look)
