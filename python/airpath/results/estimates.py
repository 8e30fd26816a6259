"""Formatting of means as table cells, with as many digits as the interval justifies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from airpath.present.tables import Cell, Tone
from airpath.results.intervals import ROUNDING, Interval, decimals

if TYPE_CHECKING:
    from airpath.results.differences import Difference

__all__ = ["EQUAL", "EQUAL_NOTE", "change", "estimate", "varying"]

EQUAL = "every replication gave this value"
"""Hint for a number whose interval has no width."""
EQUAL_NOTE = "A number without ± came out the same in every replication."
_NO_WIDTH = " ± 0"

_DIGITS = 4
"""Significant digits of a number without an interval, or with an interval of width 0."""

_LOPSIDED = 1e-6
"""Largest distance of a mean from the middle of its interval, in half-widths, for one ±."""


def estimate(found: Interval, scale: float = 1.0) -> Cell:
    """Return a mean with the half-width of its interval; an empty cell for NaN.

    An interval that is cut at a bound of the quantity, for example at 0, is written with both ends.

    Parameters
    ----------
    found : Interval
        Mean and interval.
    scale : float
        Factor for mean and interval. Default 1.
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
        places = decimals(half, 2)
        return Cell(f"{mean:.{places}f} ({low:.{places}f} … {high:.{places}f})", mean)
    return Cell(_spread(mean, half), mean, hint=hint)


def varying(found: Interval, scale: float = 1.0) -> Cell:
    """Return an estimate; if all replications are equal, without an interval and with a hint.

    Parameters
    ----------
    found, scale
        As in `estimate`.
    """
    cell = estimate(found, scale)
    if not cell.text.endswith(_NO_WIDTH):
        return cell
    return Cell(cell.text.removesuffix(_NO_WIDTH), cell.value, hint=EQUAL)


def change(difference: Difference) -> Cell:
    """Return a relative difference in per cent; the tone is quiet if it is not significant.

    Without a relative difference, the absolute difference in the unit of the metric is shown.
    """
    relative, absolute = difference.relative, difference.absolute
    tone: Tone = "" if difference.is_significant else "quiet"
    hint = f"{_plain(absolute.low, 6)} to {_plain(absolute.high, 6)}"
    shown, scale, unit = (
        (relative, 100.0, " %") if math.isfinite(relative.mean) else (absolute, 1.0, "")
    )
    if not math.isfinite(shown.mean):
        return Cell("")
    mean, half = scale * shown.mean, scale * shown.half_width
    text = _spread(mean, half) if math.isfinite(half) else _plain(mean)
    signed = f"−{text[1:]}" if text.startswith("-") else f"+{text}"
    return Cell(f"{signed}{unit}", mean, tone, hint)


def _spread(mean: float, half: float) -> str:
    """Return mean and half-width, with decimals so that the half-width has two digits."""
    if half <= ROUNDING * abs(mean):
        return f"{_plain(mean)} ± 0"
    shown = decimals(half, 2)
    if shown > 9:
        return f"{mean:.4g} ± {half:.2g}"
    return f"{mean:.{shown}f} ± {half:.{shown}f}"


def _plain(value: float, digits: int = _DIGITS) -> str:
    return f"{value:.{digits}g}"
