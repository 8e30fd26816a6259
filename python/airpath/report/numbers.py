"""How estimates are written: as many digits as the interval has."""

from __future__ import annotations

import math

from airpath.report.blocks import Cell, Tone
from airpath.results.intervals import Interval

__all__ = ["change", "estimate"]

_DIGITS = 4
"""Of a number without an interval."""

_LOPSIDED = 1e-6
"""How far from its middle a mean may be, in halves of its interval, to be written with one ±."""


def estimate(found: Interval, scale: float = 1.0) -> Cell:
    """Return a mean with half its interval; nothing for a NaN.

    An interval that ends where the quantity does, at 0 for instance, is written with both ends.

    Parameters
    ----------
    found : Interval
        Mean and interval.
    scale : float
        What they are multiplied by. Default 1.
    """
    mean, low, high = (end * scale for end in (found.mean, found.low, found.high))
    if not math.isfinite(mean):
        return Cell("")
    if not math.isfinite(high - low):
        return Cell(_plain(mean), mean)
    hint = f"{_plain(low, 6)} to {_plain(high, 6)}"
    half = (high - low) / 2
    off = abs(mean - (low + high) / 2)
    if half > 0 and off > max(_LOPSIDED * half, 1e-9 * abs(mean)):
        decimals = _decimals(half)
        return Cell(f"{mean:.{decimals}f} ({low:.{decimals}f} … {high:.{decimals}f})", mean)
    return Cell(_spread(mean, half), mean, hint=hint)


def change(relative: Interval, absolute: Interval, significant: bool) -> Cell:
    """Return a relative difference in per cent; quiet where its interval has 0 in it.

    Parameters
    ----------
    relative, absolute : Interval
        The same difference over the base's mean, and in the metric's unit.
    significant : bool
        Whether the interval excludes 0.
    """
    tone: Tone = "" if significant else "quiet"
    hint = f"{_plain(absolute.low, 6)} to {_plain(absolute.high, 6)}"
    if not math.isfinite(relative.mean):
        if not math.isfinite(absolute.mean):
            return Cell("")
        return Cell(_plain(absolute.mean), absolute.mean, tone, hint)
    mean, half = 100 * relative.mean, 50 * (relative.high - relative.low)
    text = _spread(mean, half) if math.isfinite(half) else _plain(mean)
    return Cell(f"{text} %" if text.startswith("-") else f"+{text} %", mean, tone, hint)


def _spread(mean: float, half: float) -> str:
    """Return both with the decimals that give half an interval two digits."""
    if half <= 0:
        return f"{_plain(mean, 6)} ± 0"
    shown = _decimals(half)
    if shown > 9:
        return f"{mean:.4g} ± {half:.2g}"
    return f"{mean:.{shown}f} ± {half:.{shown}f}"


def _decimals(half: float) -> int:
    return max(1 - math.floor(math.log10(half)), 0)


def _plain(value: float, digits: int = _DIGITS) -> str:
    return f"{value:.{digits}g}"
