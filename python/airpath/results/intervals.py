"""Means over replications with Student-t intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from airpath import _airpath
from airpath.arguments import check_all, error_prefix, fraction
from airpath.errors import BadValueError

__all__ = [
    "POSITIVE",
    "ROUNDING",
    "SHARE",
    "UNBOUNDED",
    "Interval",
    "decimals",
    "finite",
    "mean_interval",
    "text",
]

UNBOUNDED = (-math.inf, math.inf)
"""Bounds of a quantity that may have any value."""
POSITIVE = (0.0, math.inf)
"""Bounds of a quantity that cannot be negative, such as a delay."""
SHARE = (0.0, 1.0)
"""Bounds of shares, probabilities and Jain's index."""

ROUNDING = 1e-9
"""Intervals with a relative half-width up to this value are considered rounding errors."""
_DIGITS = 4
"""Significant digits of a mean whose interval has width 0."""


@dataclass(frozen=True)
class Interval:
    """Mean over replications with its confidence interval.

    Parameters
    ----------
    mean : float
        Mean; NaN without values.
    low, high : float
        Ends of the interval; NaN for fewer than two values.
    confidence : float
        Confidence of the interval, in (0, 1).
    reps : int
        Number of replications that have a value.
    resolution : float
        Amount by which the interval was widened on each side to account for the resolution of the
        values. Default 0.
    """

    mean: float
    low: float
    high: float
    confidence: float
    reps: int
    resolution: float = 0.0

    @property
    def half_width(self) -> float:
        """Half the width of the interval; NaN if there is no interval."""
        return (self.high - self.low) / 2

    @property
    def error_bar(self) -> float:
        """Length of an error bar on each side: `half_width`, or 0 without an interval."""
        return 0.0 if math.isnan(self.half_width) else self.half_width

    @property
    def varies(self) -> bool:
        """Whether the values differ by more than the resolution and rounding errors."""
        return self.half_width > self.resolution + ROUNDING * abs(self.mean)

    @property
    def excludes_zero(self) -> bool:
        """Whether an interval exists and does not contain 0."""
        return self.low > 0 or self.high < 0

    def widened(self, by: float) -> Interval:
        """Return the interval widened by a resolution on each side.

        Parameters
        ----------
        by : float
            Resolution in the unit of the mean.
        """
        low, high, resolution = self.low - by, self.high + by, self.resolution + by
        return replace(self, low=low, high=high, resolution=resolution)

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as a dict for JSON; NaN becomes None."""
        return {
            "mean": finite(self.mean),
            "low": finite(self.low),
            "high": finite(self.high),
            "confidence": self.confidence,
            "reps": self.reps,
        }


def mean_interval(
    values: Iterable[float | None],
    confidence: float,
    bounds: tuple[float, float] = UNBOUNDED,
    resolution: float = 0.0,
) -> Interval:
    """Return the mean of independent values and its Student-t interval, cut at the bounds.

    Parameters
    ----------
    values : iterable of float or None
        One value per replication; None and NaN are ignored.
    confidence : float
        Confidence of the interval, in (0, 1).
    bounds : pair of float
        The smallest and largest possible value of the quantity. Default: unbounded.
    resolution : float
        Relative resolution: the interval is widened on each side by this share of the mean, before
        it is cut, in [0, 1). Default 0.

    Raises
    ------
    BadValueError
        If values are not numbers, or `confidence` or `resolution` is out of range.
    """
    # `fraction` rejects 0, but a resolution of 0 is valid.
    unsure = None if type(resolution) is float and resolution == 0 else resolution
    check_all(
        fraction("confidence", confidence),
        None if unsure is None else fraction("resolution", resolution),
    )
    try:
        known = [float(value) for value in values if value is not None and not math.isnan(value)]
    except (TypeError, ValueError, OverflowError):
        accepted = "Use a list with one for each replication, or None where there is none"
        raise BadValueError(f"{error_prefix('values', values)}: not numbers. {accepted}.") from None
    try:
        least, most = map(float, bounds)
    except (TypeError, ValueError, OverflowError):
        accepted = "Use the smallest and the largest value"
        raise BadValueError(f"{error_prefix('bounds', bounds)}: not a pair. {accepted}.") from None
    if not known:
        return Interval(math.nan, math.nan, math.nan, confidence, 0)
    mean, low, high = _airpath.mean_interval(known, confidence)
    by = resolution * abs(mean)
    # In this order, min and max return NaN if `end` is NaN.
    low, high = (min(max(end, least), most) for end in (low - by, high + by))
    return Interval(mean, low, high, confidence, len(known), by)


def text(value: Interval, scale: float, digits: int, unit: str = "") -> str:
    """Return a mean and its interval as text, with both ends if the interval is asymmetric.

    If the interval has width 0, the mean is shown with four significant digits.
    """
    if math.isnan(value.mean):
        return "–"
    if value.high - value.low <= 2 * ROUNDING * abs(value.mean):
        digits = min(digits, decimals(value.mean * scale, _DIGITS))
    shown = f"{value.mean * scale:.{digits}f}"
    if not math.isnan(value.low):
        above, below = value.high - value.mean, value.mean - value.low
        if math.isclose(above, below, rel_tol=1e-6, abs_tol=1e-9 * abs(value.mean)):
            shown += f" ± {value.half_width * scale:.{digits}f}"
        else:
            shown += f" ({value.low * scale:.{digits}f} … {value.high * scale:.{digits}f})"
    return f"{shown} {unit}".rstrip()


def decimals(value: float, digits: int) -> int:
    """Return the number of decimals that shows `digits` significant digits of a value."""
    return max(digits - 1 - math.floor(math.log10(abs(value))), 0) if value else digits


def finite(value: float) -> float | None:
    """Return the value, or None if JSON cannot represent it."""
    return value if math.isfinite(value) else None
