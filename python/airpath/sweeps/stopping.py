"""The sequential stopping rule that decides how many replications of a point are needed.

Source: Chow & Robbins 1965, "On the asymptotic theory of fixed-width sequential confidence
intervals for the mean", with Student's t and a smallest number of replications. Replications are
evaluated in the order of their indices, so the result does not depend on the order in which they
finish. Because the interval is tested repeatedly, the coverage of the final interval is slightly
below its confidence level. The fewer replications the rule requires at least, the larger is this
difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

from airpath import _airpath
from airpath.results.quantities import resolution
from airpath.sweeps.plan import Rule

__all__ = ["Stopping", "counted", "wanted"]


def counted(rule: Rule, values: Sequence[float | None], confidence: float) -> int | None:
    """Return the number of replications that count; None if more are needed.

    Parameters
    ----------
    rule : Rule
        Stopping rule.
    values : sequence of float or None
        Values of the rule's metric for replications 0, 1, 2, … without a gap. None and NaN mean
        "not measured": they count as replications, but not as values. Without a metric, only the
        number of replications matters.
    confidence : float
        Confidence of the interval, in (0, 1).

    Returns
    -------
    n : int or None
        Smallest n from `rule.least` to `rule.most` for which the interval of the first n
        replications is small enough; if there is no such n, `rule.most`. For a constant metric:
        `rule.least`, if the resolution of the metric meets the target.
    """
    state = Stopping(rule, confidence)
    state.extend(values)
    return state.counted


def wanted(rule: Rule, values: Sequence[float | None], confidence: float) -> int:
    """Return the number of replications to reach before the next evaluation.

    The number is predicted from the interval of the known values. It is at most twice the number of
    known values, because an early estimate of the variance is inaccurate, and surplus replications
    are not used.

    Parameters
    ----------
    rule, values, confidence
        As in `counted`.

    Returns
    -------
    n : int
        Number from `rule.least` to `rule.most`; equal to `counted` once that is known.
    """
    state = Stopping(rule, confidence)
    state.extend(values)
    return state.wanted


class Stopping:
    """Incremental form of `counted` and `wanted`.

    Parameters
    ----------
    rule : Rule
        Stopping rule.
    confidence : float
        Confidence of the interval, in (0, 1).

    Attributes
    ----------
    seen : int
        Number of evaluated replications, including the one that met the rule.
    counted : int or None
        Number of replications that count; None if more are needed.
    """

    def __init__(self, rule: Rule, confidence: float) -> None:
        self.seen = 0
        self.counted: int | None = None
        self._rule = rule
        self._confidence = confidence
        self._known = 0
        self._mean = 0.0
        self._squares = 0.0

    def extend(self, values: Iterable[float | None]) -> None:
        """Add the values of the next replications; values after the decision are ignored."""
        for value in values:
            if self.counted is not None:
                return
            self._add(value)

    @property
    def wanted(self) -> int:
        """Number of replications to reach before the next evaluation."""
        rule = self._rule
        if self.counted is not None:
            return self.counted
        if rule.metric is None:
            return rule.most
        if self.seen < rule.least:
            return rule.least
        estimate, target = 2 * self.seen, self._target() - self._unsure()
        if self._known > 1 and target > 0:
            known = (_quantile(self._known, self._confidence) / target) ** 2 * self._variance()
            estimate = min(estimate, math.ceil(known * (self.seen / self._known)))
        return min(max(estimate, self.seen + 1), rule.most)

    # --- within --------------------------------------------------------------------------------

    def _add(self, value: float | None) -> None:
        self.seen += 1
        if value is not None and not math.isnan(value):
            # Welford's recurrence: a constant metric has a variance of exactly 0.
            self._known += 1
            before = value - self._mean
            self._mean += before / self._known
            self._squares += before * (value - self._mean)
        if self.seen >= self._rule.most or (self.seen >= self._rule.least and self._is_enough()):
            self.counted = self.seen

    def _is_enough(self) -> bool:
        if self._rule.metric is None or self._known < 2:
            return False
        quantile = _quantile(self._known, self._confidence)
        half = quantile * math.sqrt(self._variance() / self._known)
        return half + self._unsure() <= self._target()

    def _variance(self) -> float:
        return self._squares / (self._known - 1)

    def _unsure(self) -> float:
        """Return the length added to each side of the interval, due to the metric's resolution."""
        return 0.0 if self._rule.metric is None else resolution(self._rule.metric) * abs(self._mean)

    def _target(self) -> float:
        """Return the largest half width that meets the rule."""
        relative, absolute = self._rule.relative, self._rule.absolute
        return max(
            0.0 if relative is None else relative * abs(self._mean),
            0.0 if absolute is None else absolute,
        )


@lru_cache(65536)
def _quantile(known: int, confidence: float) -> float:
    """Return the quantile of Student's t for the mean of `known` values."""
    values = [1.0, -1.0, *[0.0] * (known - 2)]
    _, low, high = _airpath.mean_interval(values, confidence)
    return (high - low) / 2 * math.sqrt(known * (known - 1) / 2)
