"""Accepted difference of a computed number from the published one, and its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from airpath.present.tables import MARK

__all__ = ["Tolerance", "marked"]


@dataclass(frozen=True)
class Tolerance:
    """Which values count as the published number.

    Everything that is given widens the range; without anything it is the number itself.

    Parameters
    ----------
    source : str
        Where the tolerance comes from, in a few words: ``5 % of the published value``.
    relative : float
        Part of the published value, from 0.
    absolute : float
        In the unit of the row, from 0.
    factor : float
        The published value divided and multiplied by it, from 1.
    intervals : bool
        Whether the published and the computed interval combined, sqrt(a² + b²), count where they
        are wider.
    passed : bool, optional
        The outcome of a test that takes the place of a range.
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
        """Return the smallest and the largest value that count; None where a test decides.

        Parameters
        ----------
        published : float
            The printed number.
        published_ci : float or None
            Half-width of its interval.
        low, high : float or None
            Our interval.
        """
        if self.passed is not None:
            return None
        half = max(self.relative * abs(published), self.absolute)
        if self.intervals:
            half = max(half, math.hypot(published_ci or 0.0, _half_width(low, high)))
        ends = (published - half, published + half, published / self.factor)
        return min(ends), max(*ends, published * self.factor)

    def to_dict(self, ends: tuple[float, float] | None) -> dict[str, Any]:
        """Return it as a JSON object: `ends` are what `around` gave."""
        low, high = ends or (None, None)
        return {"from": low, "to": high, "source": self.source}


def marked(text: str, within: bool | None) -> str:
    """Return a number's text, with a mark before it when the number is outside its tolerance."""
    return f"{MARK} {text}" if within is False else text


def _half_width(low: float | None, high: float | None) -> float:
    if low is None or high is None or not math.isfinite(high - low):
        return 0.0
    return (high - low) / 2
