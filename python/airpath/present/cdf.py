"""Plots of empirical distribution functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.present import style
from airpath.present.axes import label_decades

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["Curve", "draw_curve", "finish_axis", "is_wide", "time_unit"]

_WIDE = 10.0
"""The axis is logarithmic if the ratio of the 99th to the 1st percentile is at least this."""
_TAIL = 0.99
_BAND = 0.2
"""Opacity of a confidence band."""


@dataclass(frozen=True)
class Curve:
    """Empirical distribution function.

    Parameters
    ----------
    value : ndarray, shape (n,)
        Ascending values.
    cdf, low, high : ndarray, shape (n,)
        Share of values up to each value, and the ends of its confidence interval (NaN without an
        interval).
    total : int
        Number of values.
    """

    value: NDArray[np.float64]
    cdf: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    total: int

    def at(self, share: float) -> float:
        """Return the smallest value at which `cdf` reaches `share`, or the last value."""
        place = min(int(np.searchsorted(self.cdf, share)), len(self.value) - 1)
        return float(self.value[place])


def time_unit(curves: Iterable[Curve]) -> tuple[str, float]:
    """Return a suitable time unit for curves in seconds, and the factor from seconds to it."""
    largest = max((curve.at(_TAIL) for curve in curves if curve.total), default=0.0)
    return ("s", 1.0) if largest >= 2.0 else ("ms", 1e3)


def is_wide(curves: Iterable[Curve]) -> bool:
    """Return whether the axis of the values should be logarithmic."""
    known = [curve for curve in curves if curve.total]
    low = min((curve.at(1 - _TAIL) for curve in known), default=0.0)
    return low > 0 and max(curve.at(_TAIL) for curve in known) >= _WIDE * low


def draw_curve(
    axis: Axes, curve: Curve, scale: float, number: int, *, complementary: bool, label: str = ""
) -> Any:
    """Draw a distribution function, or its complement, with a confidence band; return the line.

    Parameters
    ----------
    axis : Axes
        The panel.
    curve : Curve
        Curve with at least one value.
    scale : float
        Factor for the values.
    number : int
        Index of the curve, which selects colour and dashes.
    complementary : bool
        Whether to draw the complement, the share of larger values.
    label : str
        Label for the legend. Default: none.
    """
    value = scale * np.concatenate((curve.value[:1], curve.value))

    def shares(found: NDArray[np.float64]) -> NDArray[np.float64]:
        whole = np.concatenate(([0.0], found))
        # The share above the last value is 0, which a logarithmic scale cannot show.
        return np.where(whole < 1, 1 - whole, np.nan) if complementary else whole

    colour = style.COLOURS[style.SERIES[number]]
    look: dict[str, Any] = {"color": colour, "ls": style.dashes_of(number), "lw": 1.6}
    line = axis.step(value, shares(curve.cdf), where="post", label=label or None, **look)[0]
    if not np.isnan(curve.low).all():
        low, high = shares(curve.low), shares(curve.high)
        if complementary:
            # A band that reaches 0 is drawn to the lower edge of the panel.
            low, high = (np.nan_to_num(edge, nan=1e-12) for edge in (low, high))
        axis.fill_between(value, low, high, step="post", color=colour, alpha=_BAND, lw=0)
    return line


def finish_axis(axis: Axes, curves: Iterable[Curve], *, complementary: bool, wide: bool) -> None:
    """Set scales and limits of the axes of a panel.

    Parameters
    ----------
    axis : Axes
        Panel in which the curves are drawn.
    curves : iterable of Curve
        Curves of all panels that share the axes.
    complementary : bool
        Whether the curves are complements, on a logarithmic scale.
    wide : bool
        Whether the axis of the values is logarithmic.
    """
    most = max((curve.total for curve in curves), default=1)
    if complementary:
        axis.set_yscale("log")
        axis.set_ylim(max(0.5 / most, 1e-6), 1.2)
    else:
        axis.set_ylim(0, 1.02)
    if wide:
        axis.set_xscale("log")
        label_decades(axis.xaxis)
    axis.grid(visible=True, axis="both")
