"""The accepted difference between a computed and a published number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from airpath.present.tables import MARK

__all__ = ["Tolerance", "marked"]


@dataclass(frozen=True)
class Tolerance:
    """Range of computed values that are accepted as equal to the published number.

    Each parameter can widen the range. By default, only the published number itself is accepted.

    Parameters
    ----------
    source : str
        Short description of the tolerance, for example ``5 % of the published value``.
    relative : float
        Half-width of the range as a fraction of the published value, at least 0.
    absolute : float
        Half-width of the range in the unit of the row, at least 0.
    factor : float
        The range includes the published value divided by `factor` and multiplied by `factor`. At
        least 1.
    intervals : bool
        If True, the half-width of the range is at least sqrt(a² + b²): a is the half-width of the
        published confidence interval, b of the computed confidence interval.
    passed : bool, optional
        Outcome of a test that is used instead of the range. Default: the range is used.
    """

    source: str
    relative: float = 0.0
    absolute: float = 0.0
    factor: float = 1.0
    intervals: bool = False
    passed: bool | None = None

    def around(
        self, published: float, published_ci: float | None, low: float | None, high: float | None
    ) -> tuple[float, float] | None:
        """Return the smallest and the largest accepted value; None if `passed` is set.

        Parameters
        ----------
        published : float
            The published number.
        published_ci : float or None
            Half-width of the published confidence interval.
        low, high : float or None
            Limits of Airpath's confidence interval.
        """
        if self.passed is not None:
            return None
        half = max(self.relative * abs(published), self.absolute)
        if self.intervals:
            half = max(half, math.hypot(published_ci or 0.0, _half_width(low, high)))
        ends = (published - half, published + half, published / self.factor)
        return min(ends), max(*ends, published * self.factor)

    def to_dict(self, ends: tuple[float, float] | None) -> dict[str, Any]:
        """Return the tolerance as a JSON object; `ends` is the result of `around`."""
        low, high = ends or (None, None)
        return {"from": low, "to": high, "source": self.source}


def marked(text: str, within: bool | None) -> str:
    """Return `text`, with a mark before it if the number is outside its tolerance."""
    return f"{MARK} {text}" if within is False else text


def _half_width(low: float | None, high: float | None) -> float:
    if low is None or high is None or not math.isfinite(high - low):
        return 0.0
    return (high - low) / 2
