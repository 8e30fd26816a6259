"""When a point has replications enough: sequential stopping on the ordered prefix.

Source: Chow & Robbins 1965, "On the asymptotic theory of fixed-width sequential confidence
intervals for the mean", with Student's t and a least number. A replication is evaluated when all
earlier ones are finished, so the number that counts does not depend on the order in which they
finish. Evaluating often makes the coverage of the final interval a little less than its confidence,
the more so the smaller the least number of replications is.
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
    """Return how many of the first replications count; None when more are needed.

    Parameters
    ----------
    rule : Rule
        How many are wanted.
    values : sequence of float or None
        The rule's metric of replications 0, 1, 2, … without a gap; None and NaN where it was not
        measured, which counts as a replication and not as a value. Without a metric only their
        number matters.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    n : int or None
        From `rule.least` to `rule.most`: the least number whose interval is small enough, else the
        most. A metric that never varies is known after `rule.least`, if the resolution of a
        quantile meets the target.
    """
    state = Stopping(rule, confidence)
    state.extend(values)
    return state.counted


def wanted(rule: Rule, values: Sequence[float | None], confidence: float) -> int:
    """Return up to how many replications to run before looking again.

    The number that the interval over the known values foretells, at most twice as many as there
    are: a first guess of the variance is poor, and what is run beyond the end does not count.

    Parameters
    ----------
    rule, values, confidence
        As `counted` takes them.

    Returns
    -------
    n : int
        From `rule.least` to `rule.most`; what `counted` says once that is known.
    """
    state = Stopping(rule, confidence)
    state.extend(values)
    return state.wanted


class Stopping:
    """The same for values that come one after the other.

    Parameters
    ----------
    rule : Rule
        How many are wanted.
    confidence : float
        Of the interval, in (0, 1).

    Attributes
    ----------
    seen : int
        Replications so far, up to the one that decided.
    counted : int or None
        How many count; None when more are needed.
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
        """Take the values of the next replications; those after the decision are left alone."""
        for value in values:
            if self.counted is not None:
                return
            self._add(value)

    @property
    def wanted(self) -> int:
        """Up to how many replications to run before looking again."""
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
            # Welford's recurrence: a metric that never varies has a variance of exactly 0.
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
        """Return by how much the interval is longer on either side for the metric's resolution."""
        return 0.0 if self._rule.metric is None else resolution(self._rule.metric) * abs(self._mean)

    def _target(self) -> float:
        """Return the largest half width that is small enough."""
        relative, absolute = self._rule.relative, self._rule.absolute
        return max(
            0.0 if relative is None else relative * abs(self._mean),
            0.0 if absolute is None else absolute,
        )


@lru_cache(65536)
def _quantile(known: int, confidence: float) -> float:
    """Return Student's t for the mean of `known` values, from the interval of known values."""
    values = [1.0, -1.0, *[0.0] * (known - 2)]
    _, low, high = _airpath.mean_interval(values, confidence)
    return (high - low) / 2 * math.sqrt(known * (known - 1) / 2)
