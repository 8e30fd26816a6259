"""Difference of two means with its interval, for pairs or for independent samples.

Replications with common random numbers are pairs; the interval is Student's over the differences
within pairs. For independent samples, it is Welch's, or Student's if one of the two is a number
without error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from airpath import _airpath
from airpath.results.intervals import Interval, finite, mean_interval

__all__ = [
    "Difference",
    "Sample",
    "independent_difference",
    "paired_difference",
    "paired_interval",
]

Sample = Sequence[float] | float
"""Independent values of a quantity, or a number without error."""

_ERRORS_FROM_ZERO = 3.0
"""Least distance of a mean from 0, in standard errors, for a usable interval of a ratio."""

_LARGEST_DF = 1000
"""Largest degrees of freedom; for more, this quantile is used, which is at most 0.2 % larger."""


@dataclass(frozen=True)
class Difference:
    """Difference between a mean and the mean of a base.

    Parameters
    ----------
    base_mean : float
        Mean of the base over the compared replications.
    absolute : Interval
        The difference, in the unit of the quantity. Its `reps` is the number of pairs, 0 for
        independent samples.
    relative : Interval
        The difference divided by `base_mean`, by the delta method. NaN if one of the means is
        within three standard errors of 0.
    method : str
        ``paired``, ``Welch``, ``Student`` (one of the two is a number without error), or ``none``
        (no interval).
    variance_ratio : float
        Variance of the differences within pairs divided by the variance of differences between
        independent replications: below 1 if pairing helps. NaN without pairs or variance.
    """

    base_mean: float
    absolute: Interval
    relative: Interval
    method: str
    variance_ratio: float = math.nan

    @property
    def is_significant(self) -> bool:
        """Whether a test is possible and the interval excludes 0."""
        return not self.untested and self.absolute.excludes_zero

    @property
    def untested(self) -> str:
        """Reason why the difference cannot be tested for significance; empty if it can.

        A test compares a difference with its variation.
        """
        if math.isnan(self.absolute.low):
            return "too few replications"
        if self.absolute.varies:
            return ""
        if self.absolute.resolution:
            return "the differences do not vary beyond the resolution of the quantiles"
        return "the differences do not vary"

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as a JSON object; NaN becomes null."""
        of = self.absolute, self.relative
        absolute, relative = ([finite(e) for e in (i.mean, i.low, i.high)] for i in of)
        return {
            **dict(zip(("mean", "low", "high"), absolute, strict=True)),
            **dict(zip(("relative", "relative_low", "relative_high"), relative, strict=True)),
            "method": self.method,
        }


# --- pairs -------------------------------------------------------------------------------------


def paired_interval(base: Sequence[float], values: Sequence[float], confidence: float) -> Interval:
    """Return the mean of the paired differences `values` - `base`, with its interval.

    Parameters
    ----------
    base, values : sequence of float
        Values by replication, from 0 on, without NaN. Surplus values of the longer sequence are
        ignored.
    confidence : float
        Confidence of the interval, in (0, 1).
    """
    return mean_interval([y - x for x, y in zip(base, values, strict=False)], confidence)


def paired_difference(
    base: Sequence[float], values: Sequence[float], confidence: float, resolution: float = 0.0
) -> Difference:
    """Return the difference `values` - `base` of samples with common random numbers.

    Parameters
    ----------
    base, values : sequence of float
        Values by replication, from 0 on. Pairs with a NaN and surplus values of the longer sequence
        are ignored.
    confidence : float
        Confidence of the interval, in (0, 1).
    resolution : float
        Relative resolution of the values. Both intervals are widened by the resolution of both
        means. Default 0.
    """
    pairs = [
        (x, y) for x, y in zip(base, values, strict=False) if not (math.isnan(x) or math.isnan(y))
    ]
    before, after = [x for x, _ in pairs], [y for _, y in pairs]
    absolute = paired_interval(before, after, confidence)
    absolute = absolute.widened(resolution * (abs(_mean(before)) + abs(_mean(after))))
    apart = _variance(before) + _variance(after)
    ratio = _variance([y - x for x, y in pairs]) / apart if apart > 0 else math.nan
    relative = _paired_ratio(before, after, confidence, resolution)
    return Difference(_mean(before), absolute, relative, "paired", ratio)


def _paired_ratio(
    before: Sequence[float], after: Sequence[float], confidence: float, resolution: float
) -> Interval:
    """Return the ratio of the means minus 1, with its interval by the delta method."""
    if not before or _is_near_zero(before) or _is_near_zero(after):
        return Interval(math.nan, math.nan, math.nan, confidence, len(before))
    x_mean, y_mean = _mean(before), _mean(after)
    ratio = y_mean / x_mean
    # The residuals have mean 0; their interval, shifted to the ratio, is the interval of the ratio.
    residuals = [(y - ratio * x) / x_mean for x, y in zip(before, after, strict=True)]
    half = mean_interval(residuals, confidence).half_width
    relative = Interval(ratio - 1, ratio - 1 - half, ratio - 1 + half, confidence, len(before))
    return relative.widened(2 * resolution * abs(ratio))


# --- independent samples -----------------------------------------------------------------------


def independent_difference(
    base: Sample, values: Sample, confidence: float, resolution: float = 0.0
) -> Difference:
    """Return the difference `values` - `base` of independent samples.

    Parameters
    ----------
    base, values : sequence of float, or float
        Independent values without NaN (the numbers of values may differ), or a number without
        error.
    confidence : float
        Confidence of the interval, in (0, 1).
    resolution : float
        Relative resolution of the values of a sample. Both intervals are widened by the resolution
        of both means. Default 0.

    Returns
    -------
    difference : Difference
        The difference. Its intervals have no ends if a sample has one value, or both are numbers.
        They are NaN if a sample is empty.
    """
    x_mean, y_mean = _mean(base), _mean(values)
    x_of, y_of = _squared_error(base), _squared_error(values)
    method = _method(base, values)
    mean = y_mean - x_mean
    half = _half_width([(x_of, base), (y_of, values)], confidence)
    unsure = [0.0 if isinstance(each, (int, float)) else resolution for each in (base, values)]
    absolute = Interval(mean, mean - half, mean + half, confidence, 0)
    absolute = absolute.widened(unsure[0] * abs(x_mean) + unsure[1] * abs(y_mean))
    if math.isnan(mean) or _is_near_zero(base) or _is_near_zero(values):
        relative = Interval(math.nan, math.nan, math.nan, confidence, 0)
        return Difference(x_mean, absolute, relative, method)
    ratio = y_mean / x_mean
    parts = [(ratio**2 * x_of / x_mean**2, base), (y_of / x_mean**2, values)]
    half = _half_width(parts, confidence)
    relative = Interval(ratio - 1, ratio - 1 - half, ratio - 1 + half, confidence, 0)
    return Difference(x_mean, absolute, relative.widened(abs(ratio) * sum(unsure)), method)


def _method(base: Sample, values: Sample) -> str:
    """Return the name of the method that `independent_difference` uses."""
    exact = [isinstance(each, (int, float)) for each in (base, values)]
    sizes = [len(each) for each in (base, values) if not isinstance(each, (int, float))]
    if all(exact) or min(sizes, default=0) < 2:
        return "none"
    return "Student" if any(exact) else "Welch"


def _half_width(parts: Sequence[tuple[float, Sample]], confidence: float) -> float:
    """Return the half-width of an interval from the squared standard errors of independent means.

    Degrees of freedom are by Welch and Satterthwaite, rounded down; n - 1 if one of the two is a
    number without error.
    """
    samples = [
        (squared, len(sample)) for squared, sample in parts if not isinstance(sample, (int, float))
    ]
    if not samples or min(n for _, n in samples) < 2:
        return math.nan
    whole = math.fsum(squared for squared, _ in samples)
    if whole == 0:
        return 0.0
    if len(samples) == 1:
        return _student(samples[0][1] - 1, confidence) * math.sqrt(whole)
    df = whole**2 / math.fsum(squared**2 / (n - 1) for squared, n in samples)
    return _student(math.floor(df), confidence) * math.sqrt(whole)


def _student(df: int, confidence: float) -> float:
    """Return Student's two-sided quantile: the half-width for a standard error of 1."""
    n = min(max(df, 1), _LARGEST_DF) + 1
    far = math.sqrt(n * (n - 1) / 2)
    _, low, high = _airpath.mean_interval([far, -far, *[0.0] * (n - 2)], confidence)
    return (high - low) / 2


# --- samples -----------------------------------------------------------------------------------


def _is_near_zero(sample: Sample) -> bool:
    """Return whether a mean is too near to 0 for a usable interval of a ratio."""
    squared = _squared_error(sample)
    within = 0.0 if math.isnan(squared) else _ERRORS_FROM_ZERO * math.sqrt(squared)
    return abs(_mean(sample)) <= within


def _mean(sample: Sample) -> float:
    if isinstance(sample, (int, float)):
        return float(sample)
    return math.fsum(sample) / len(sample) if sample else math.nan


def _squared_error(sample: Sample) -> float:
    """Return the squared standard error of a mean."""
    if isinstance(sample, (int, float)):
        return 0.0
    return _variance(sample) / len(sample) if len(sample) > 1 else math.nan


def _variance(values: Sequence[float]) -> float:
    if len(values) < 2:
        return math.nan
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
