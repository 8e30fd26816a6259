"""Means over replications with Student-t intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from airpath import _airpath
from airpath.arguments import blamed, check_all, fraction
from airpath.errors import BadValueError

__all__ = ["Interval", "finite", "mean_interval", "text"]


@dataclass(frozen=True)
class Interval:
    """A mean over replications with its confidence interval.

    Parameters
    ----------
    mean : float
        NaN when there is no value.
    low, high : float
        The interval; NaN for fewer than two values.
    confidence : float
        In (0, 1).
    reps : int
        Replications that have a value.
    """

    mean: float
    low: float
    high: float
    confidence: float
    reps: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object; what is not a number becomes null."""
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
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """Return the mean of independent values and its Student-t interval, cut at the bounds.

    Parameters
    ----------
    values : iterable of float or None
        One for each replication; None and NaN are left out.
    confidence : float
        In (0, 1).
    bounds : pair of float
        The least and the largest value that the quantity can have. Default: none.

    Raises
    ------
    BadValueError
        If these are not numbers, or `confidence` is not between 0 and 1.
    """
    check_all(fraction("confidence", confidence))
    try:
        known = [float(value) for value in values if value is not None and not math.isnan(value)]
    except (TypeError, ValueError, OverflowError):
        accepted = "Write a list with one for each replication, or None where there is none"
        raise BadValueError(f"{blamed('values', values)}: not numbers. {accepted}.") from None
    try:
        least, most = map(float, bounds)
    except (TypeError, ValueError, OverflowError):
        accepted = "Write the least and the largest value"
        raise BadValueError(f"{blamed('bounds', bounds)}: not a pair. {accepted}.") from None
    if not known:
        return Interval(math.nan, math.nan, math.nan, confidence, 0)
    mean, low, high = _airpath.mean_interval(known, confidence)
    # In this order, for NaN stays what it is.
    low, high = (min(max(end, least), most) for end in (low, high))
    return Interval(mean, low, high, confidence, len(known))


def text(value: Interval, scale: float, digits: int, unit: str = "") -> str:
    """Return a mean and its interval as text; both ends where the interval is cut on one side."""
    if math.isnan(value.mean):
        return "–"
    shown = f"{value.mean * scale:.{digits}f}"
    if not math.isnan(value.low):
        above, below = value.high - value.mean, value.mean - value.low
        if math.isclose(above, below, rel_tol=1e-6, abs_tol=1e-9 * abs(value.mean)):
            shown += f" ± {(value.high - value.low) / 2 * scale:.{digits}f}"
        else:
            shown += f" ({value.low * scale:.{digits}f} … {value.high * scale:.{digits}f})"
    return f"{shown} {unit}".rstrip()


def finite(value: float) -> float | None:
    """Return the value, or None when JSON has no number for it."""
    return value if math.isfinite(value) else None
