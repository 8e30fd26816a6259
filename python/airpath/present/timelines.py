"""Plots of recorded series over time: steps, dots, rates, and bands for fast-changing levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np

from airpath.present import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["KINDS", "Kind", "draw_series", "draw_texts", "levels_at"]

Kind = Literal["steps", "dots", "crosses", "rates", "band"]
KINDS: Final = get_args(Kind)
"""Plot styles of series, see `draw_series`."""

_PER_BIN: Final = 100
"""Number of samples of a level in each bin of a band."""
_DASHED: Final[Mapping[str, Any]] = {
    "color": style.COLOURS["grey"],
    "linestyle": (0, (4, 3)),
    "linewidth": 1.0,
    "zorder": 0,
}


def levels_at(
    times_s: NDArray[np.float64], values: NDArray[np.float64], at_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the values of a level at given times; before the first time, the first value.

    Parameters
    ----------
    times_s, values : ndarray, shape (n,)
        Ascending times, s, and the value of the level from each time on.
    at_s : ndarray, shape (m,)
        Times at which the level is returned, s.

    Returns
    -------
    levels : ndarray, shape (m,)
        Levels in the unit of `values`.
    """
    found: NDArray[np.float64] = values[np.maximum(np.searchsorted(times_s, at_s, "right") - 1, 0)]
    return found


def draw_series(
    axis: Axes,
    kind: Kind,
    times_s: NDArray[np.float64],
    values: NDArray[np.float64],
    edges_s: NDArray[np.float64],
    **look: Any,
) -> None:
    """Draw a recorded series.

    Parameters
    ----------
    axis : Axes
        The panel.
    kind : str
        Plot style. ``steps``: a level as a step curve. ``dots``, ``crosses``: a mark for each
        value. ``rates``: the sum of the values in each bin, divided by the bin width. ``band``:
        mean and range of a level in each bin.
    times_s, values : ndarray, shape (n,)
        The series.
    edges_s : ndarray, shape (m + 1,)
        Edges of the bins; only values between the first and last edge are plotted.
    **look
        Colour and label.
    """
    first = max(0, int(np.searchsorted(times_s, edges_s[0], "right")) - 1)
    times_s, values = times_s[first:], values[first:]
    if kind == "steps":
        axis.step(times_s, values, where="post", lw=0.8, **look)
    elif kind == "rates":
        sums = np.histogram(times_s, bins=edges_s, weights=values)[0]
        axis.stairs(sums / np.diff(edges_s), edges_s, baseline=None, **look)
    elif kind == "band":
        count = _PER_BIN * (len(edges_s) - 1)
        places = np.linspace(edges_s[0], edges_s[-1], count, endpoint=False)
        bins = levels_at(times_s, values, places).reshape(-1, _PER_BIN)
        centres = (edges_s[:-1] + edges_s[1:]) / 2
        ends = (bins.min(axis=1), bins.max(axis=1))
        axis.fill_between(centres, *ends, color=look["color"], alpha=0.3, lw=0, step="mid")
        axis.plot(centres, bins.mean(axis=1), lw=1.0, **look)
    else:
        marks = {"marker": "x", "markersize": 6.0, "markeredgewidth": 1.4}
        dots = {"marker": ".", "markersize": 1.5}
        mark: Any = dots if kind == "dots" else marks
        axis.plot(times_s, values, linestyle="", **mark, **look)


def draw_texts(axis: Axes, levels: Mapping[float, str], events: Mapping[float, str]) -> None:
    """Draw dashed lines at levels and times. Mappings contain the labels, which may be empty."""
    near: Any = {
        "textcoords": "offset points",
        "fontsize": style.points(8.5),
        "color": style.COLOURS["grey"],
    }
    for level, text in levels.items():
        axis.axhline(level, **_DASHED)
        axis.annotate(
            text, (0, level), xycoords=("axes fraction", "data"), xytext=(3, 2), va="bottom", **near
        )
    for time_s, text in events.items():
        axis.axvline(time_s, **_DASHED)
        axis.annotate(
            text, (time_s, 1), xycoords=("data", "axes fraction"), xytext=(3, -2), va="top", **near
        )
