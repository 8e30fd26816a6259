"""The difference of two means with its interval: of pairs, or of independent samples.

Replications that share their random numbers are pairs; the interval is Student's over the
differences within pairs. Of independent samples it is Welch's, or Student's where one of the two is
a number without error.
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
"""Independent values of a quantity, or a number that is known without error."""

_ERRORS_FROM_ZERO = 3.0
"""Standard errors that a mean has to be from 0 for a ratio with it to have a usable interval."""

_LARGEST_DF = 1000
"""Degrees of freedom; with more, the quantile is that of this number, 0.2 % larger at most."""


@dataclass(frozen=True)
class Difference:
    """A mean less the mean of a base.

    Parameters
    ----------
    base_mean : float
        Of the base, over the replications that are compared.
    absolute : Interval
        The difference, in the unit of the quantity; its `reps` are pairs, 0 for independent
        samples.
    relative : Interval
        The difference over `base_mean`, by the delta method; NaN where one of the two means is
        within three of its standard errors of 0.
    method : str
        ``paired``; ``Welch``; ``Student`` where one of the two is a number without error; ``none``
        without interval.
    variance_ratio : float
        Variance of the differences within pairs over that of differences between independent
        replications: below 1 where pairing helps. NaN where nothing is paired, or nothing varies.
    """

    base_mean: float
    absolute: Interval
    relative: Interval
    method: str
    variance_ratio: float = math.nan

    @property
    def is_significant(self) -> bool:
        """Whether there is a test, and the interval excludes 0."""
        return not self.untested and self.absolute.excludes_zero

    @property
    def untested(self) -> str:
        """Why the difference cannot be tested for significance; empty if it can.

        A test compares a difference with how much it varies.
        """
        if math.isnan(self.absolute.low):
            return "too few replications"
        if self.absolute.varies:
            return ""
        if self.absolute.resolution:
            return "the differences do not vary beyond the resolution of the quantiles"
        return "the differences do not vary"

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object; what is not a number becomes null."""
        of = self.absolute, self.relative
        absolute, relative = ([finite(e) for e in (i.mean, i.low, i.high)] for i in of)
        return {
            **dict(zip(("mean", "low", "high"), absolute, strict=True)),
            **dict(zip(("relative", "relative_low", "relative_high"), relative, strict=True)),
            "method": self.method,
        }


# --- pairs -------------------------------------------------------------------------------------


def paired_interval(base: Sequence[float], values: Sequence[float], confidence: float) -> Interval:
    """Return the mean of `values` less `base`, replication by replication, with its interval.

    Parameters
    ----------
    base, values : sequence of float
        One for each replication, from 0 on, without NaN. What the longer one has besides is left
        out.
    confidence : float
        In (0, 1).
    """
    return mean_interval([y - x for x, y in zip(base, values, strict=False)], confidence)


def paired_difference(
    base: Sequence[float], values: Sequence[float], confidence: float, resolution: float = 0.0
) -> Difference:
    """Return `values` less `base`, whose replications share their random numbers.

    Parameters
    ----------
    base, values : sequence of float
        One for each replication, from 0 on. Pairs with a NaN are left out, and what the longer one
        has besides.
    confidence : float
        In (0, 1).
    resolution : float
        Relative resolution of the values: both intervals are widened by that of both means.
        Default 0.
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
    """Return the ratio of the means less 1, with its interval by the delta method."""
    if not before or _is_near_zero(before) or _is_near_zero(after):
        return Interval(math.nan, math.nan, math.nan, confidence, len(before))
    x_mean, y_mean = _mean(before), _mean(after)
    ratio = y_mean / x_mean
    # The residuals have the mean 0; their interval moves to the ratio.
    residuals = [(y - ratio * x) / x_mean for x, y in zip(before, after, strict=True)]
    half = mean_interval(residuals, confidence).half_width
    relative = Interval(ratio - 1, ratio - 1 - half, ratio - 1 + half, confidence, len(before))
    return relative.widened(2 * resolution * abs(ratio))


# --- independent samples -----------------------------------------------------------------------


def independent_difference(
    base: Sample, values: Sample, confidence: float, resolution: float = 0.0
) -> Difference:
    """Return `values` less `base`, which are independent.

    Parameters
    ----------
    base, values : sequence of float, or float
        Independent values without NaN, of each as many as there are; or a number without error.
    confidence : float
        In (0, 1).
    resolution : float
        Relative resolution of the values of a sample: both intervals are widened by that of both
        means. Default 0.

    Returns
    -------
    difference : Difference
        Its intervals have no ends where a sample has one value, or both are numbers; they are NaN
        where a sample is empty.
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
    """Return whose interval `independent_difference` gives."""
    exact = [isinstance(each, (int, float)) for each in (base, values)]
    sizes = [len(each) for each in (base, values) if not isinstance(each, (int, float))]
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


# --- samples -----------------------------------------------------------------------------------


def _is_near_zero(sample: Sample) -> bool:
    """Return whether a mean is 0, or so near that a ratio with it has no usable interval."""
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
