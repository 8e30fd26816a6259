"""Differences of two means with confidence intervals, for paired or independent samples.

Two replications with common random numbers form a pair. The interval of paired samples is the
Student-t interval of the differences within pairs. For independent samples, the Welch interval is
used, or the Student-t interval if one of the samples is a number without error.
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
"""Independent values of a quantity, or one exact number (without statistical error)."""

_ERRORS_FROM_ZERO = 3.0
"""Intervals of ratios require means at least this many standard errors from 0."""

_LARGEST_DF = 1000
"""Upper limit of the degrees of freedom; its quantile is at most 0.2 % above the exact one."""


@dataclass(frozen=True)
class Difference:
    """Difference between the mean of a sample and the mean of a base sample.

    Parameters
    ----------
    base_mean : float
        Mean of the base over the compared replications.
    absolute : Interval
        The difference, in the unit of the quantity. The interval's `reps` is the number of pairs,
        or 0 for independent samples.
    relative : Interval
        The difference divided by `base_mean`, with an interval by the delta method. NaN if one of
        the means is within three standard errors of 0.
    method : str
        ``paired``, ``Welch``, ``Student`` (if one of the samples is a number without error), or
        ``none`` (no interval).
    variance_ratio : float
        Variance of the differences within pairs, divided by the variance of differences between
        independent replications. A value below 1 means that pairing narrows the interval. NaN
        without pairs or if the variance is 0.
    """

    base_mean: float
    absolute: Interval
    relative: Interval
    method: str
    variance_ratio: float = math.nan

    @property
    def is_significant(self) -> bool:
        """Whether a significance test is possible and the interval excludes 0."""
        return not self.untested and self.absolute.excludes_zero

    @property
    def untested(self) -> str:
        """Reason why the difference cannot be tested for significance; empty if a test is possible.

        A test requires that the difference varies between replications.
        """
        if math.isnan(self.absolute.low):
            return "too few replications"
        if self.absolute.varies:
            return ""
        if self.absolute.resolution:
            return "the differences do not vary beyond the resolution of the quantiles"
        return "the differences do not vary"

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as a dict for JSON; NaN becomes None."""
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
        One value per replication, in order from replication 0, without NaN. Surplus values of the
        longer sequence are ignored.
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
        One value per replication, in order from replication 0. Pairs with a NaN and surplus values
        of the longer sequence are ignored.
    confidence : float
        Confidence of the interval, in (0, 1).
    resolution : float
        Relative resolution of the values. The absolute and the relative interval are widened by the
        sum of the resolutions of the two means. Default 0.
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
    # The residuals have mean 0. Their interval, shifted by the ratio, is the interval of the ratio.
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
        Independent values without NaN, or a number without error. The two samples may have
        different sizes.
    confidence : float
        Confidence of the interval, in (0, 1).
    resolution : float
        Relative resolution of the values of a sample. The absolute and the relative interval are
        widened by the sum of the resolutions of the two means. Default 0.

    Returns
    -------
    difference : Difference
        The difference. The ends of its intervals are NaN if a sample has only one value, or if both
        samples are numbers. The means are also NaN if a sample is empty.
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
    """Return the half-width of the interval of a weighted sum of independent means.

    The degrees of freedom follow the Welch–Satterthwaite equation, rounded down. If one of the
    samples is a number without error, they are n - 1.
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
    """Return the two-sided Student-t quantile: the half-width for a standard error of 1."""
    n = min(max(df, 1), _LARGEST_DF) + 1
    far = math.sqrt(n * (n - 1) / 2)
    _, low, high = _airpath.mean_interval([far, -far, *[0.0] * (n - 2)], confidence)
    return (high - low) / 2


# --- samples -----------------------------------------------------------------------------------


def _is_near_zero(sample: Sample) -> bool:
    """Return whether the mean of a sample is too close to 0 for an interval of a ratio."""
    squared = _squared_error(sample)
    within = 0.0 if math.isnan(squared) else _ERRORS_FROM_ZERO * math.sqrt(squared)
    return abs(_mean(sample)) <= within


def _mean(sample: Sample) -> float:
    if isinstance(sample, (int, float)):
        return float(sample)
    return math.fsum(sample) / len(sample) if sample else math.nan


def _squared_error(sample: Sample) -> float:
    """Return the squared standard error of the mean of a sample."""
    if isinstance(sample, (int, float)):
        return 0.0
    return _variance(sample) / len(sample) if len(sample) > 1 else math.nan


def _variance(values: Sequence[float]) -> float:
    if len(values) < 2:
        return math.nan
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
