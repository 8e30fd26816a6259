"""The difference of two independent means with its interval: Welch's, or Student's for one mean."""

from __future__ import annotations

import math
from collections.abc import Sequence

from airpath import _airpath
from airpath.results.intervals import Interval

__all__ = ["Sample", "independent_difference", "is_near_zero", "method_of"]

Sample = Sequence[float] | float
"""Independent values of a quantity, or a number that is known without error."""

_ERRORS_FROM_ZERO = 3.0
"""Standard errors that a mean has to be from 0 for a ratio with it to have a usable interval."""

_LARGEST_DF = 1000
"""Degrees of freedom; with more, the quantile is that of this number, 0.2 % larger at most."""


def independent_difference(
    before: Sample, after: Sample, confidence: float, resolution: float = 0.0
) -> tuple[Interval, Interval]:
    """Return `after` less `before`, and the same over `before`, the latter by the delta method.

    Parameters
    ----------
    before, after : sequence of float, or float
        Independent values without NaN, of each as many as there are; or a number without error.
    confidence : float
        In (0, 1).
    resolution : float
        Relative resolution of the values of a sample: both intervals are widened by that of both
        means. Default 0.

    Returns
    -------
    absolute, relative : Interval
        Their `reps` are 0: nothing is paired. Without ends where a sample has one value, or both
        are numbers; NaN where a sample is empty, the relative one also where a mean is within three
        of its standard errors of 0, so that a ratio says nothing.
    """
    x_mean, y_mean = _mean(before), _mean(after)
    x_of, y_of = _squared_error(before), _squared_error(after)
    mean = y_mean - x_mean
    half = _half_width([(x_of, before), (y_of, after)], confidence)
    unsure = [0.0 if isinstance(each, (int, float)) else resolution for each in (before, after)]
    absolute = Interval(mean, mean - half, mean + half, confidence, 0)
    absolute = absolute.widened(unsure[0] * abs(x_mean) + unsure[1] * abs(y_mean))
    if math.isnan(mean) or is_near_zero(before) or is_near_zero(after):
        return absolute, Interval(math.nan, math.nan, math.nan, confidence, 0)
    ratio = y_mean / x_mean
    parts = [(ratio**2 * x_of / x_mean**2, before), (y_of / x_mean**2, after)]
    half = _half_width(parts, confidence)
    relative = Interval(ratio - 1, ratio - 1 - half, ratio - 1 + half, confidence, 0)
    return absolute, relative.widened(abs(ratio) * sum(unsure))


def is_near_zero(sample: Sample) -> bool:
    """Return whether a mean is 0, or so near that a ratio with it has no usable interval."""
    squared = _squared_error(sample)
    within = 0.0 if math.isnan(squared) else _ERRORS_FROM_ZERO * math.sqrt(squared)
    return abs(_mean(sample)) <= within


def method_of(before: Sample, after: Sample) -> str:
    """Return whose interval `independent_difference` gives: ``Welch``, ``Student`` or ``none``."""
    exact = [isinstance(each, (int, float)) for each in (before, after)]
    sizes = [len(each) for each in (before, after) if not isinstance(each, (int, float))]
    if all(exact) or min(sizes, default=0) < 2:
        return "none"
    return "Student" if any(exact) else "Welch"


def _half_width(parts: Sequence[tuple[float, Sample]], confidence: float) -> float:
    """Return half an interval's width from the squared standard errors of independent means.

    Degrees of freedom by Welch and Satterthwaite, rounded down; n - 1 where one of the two is a
    number without error.
    """
    drawn = [
        (squared, len(sample)) for squared, sample in parts if not isinstance(sample, (int, float))
    ]
    if not drawn or min(n for _, n in drawn) < 2:
        return math.nan
    whole = math.fsum(squared for squared, _ in drawn)
    if whole == 0:
        return 0.0
    if len(drawn) == 1:
        return _student(drawn[0][1] - 1, confidence) * math.sqrt(whole)
    df = whole**2 / math.fsum(squared**2 / (n - 1) for squared, n in drawn)
    return _student(math.floor(df), confidence) * math.sqrt(whole)


def _student(df: int, confidence: float) -> float:
    """Return Student's quantile, two-sided: half the interval of a sample with standard error 1."""
    n = min(max(df, 1), _LARGEST_DF) + 1
    far = math.sqrt(n * (n - 1) / 2)
    _, low, high = _airpath.mean_interval([far, -far, *[0.0] * (n - 2)], confidence)
    return (high - low) / 2


def _mean(sample: Sample) -> float:
    if isinstance(sample, (int, float)):
        return float(sample)
    return math.fsum(sample) / len(sample) if sample else math.nan


def _squared_error(sample: Sample) -> float:
    """Return the squared standard error of a mean."""
    if isinstance(sample, (int, float)):
        return 0.0
    if len(sample) < 2:
        return math.nan
    mean = _mean(sample)
    return math.fsum((value - mean) ** 2 for value in sample) / (len(sample) - 1) / len(sample)
