"""Checks of arguments that are numbers or arrays, and conversion of results to their shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.arguments import error_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["numbers", "positive", "shaped", "within"]


def numbers(value: Any) -> NDArray[np.float64] | None:
    """Convert finite numbers to an array; return None for any other value."""
    try:
        array = np.asarray(value)
    except Exception:  # conversion of a user's object may raise any exception
        return None
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        return None
    return array.astype(float)


def within(name: str, value: Any, low: float, high: float) -> str | None:
    """Return a one-line message if numbers are outside a range, else None."""
    accepted = f"Use a number from {low:g} to {high:g}"
    array = numbers(value)
    if array is None:
        return f"{error_prefix(name, value)}: not a finite number. {accepted}."
    if (array < low).any() or (array > high).any():
        return f"{error_prefix(name, value)}: out of range. {accepted}."
    return None


def positive(name: str, value: Any, high: float = np.inf) -> str | None:
    """Return a one-line message if numbers are not above 0 or exceed `high`, else None."""
    array = numbers(value)
    if array is None:
        return f"{error_prefix(name, value)}: not a finite number. Use one, or an array of them."
    if (array <= 0).any():
        return f"{error_prefix(name, value)}: not above 0. Use a number above 0."
    if (array > high).any():
        return f"{error_prefix(name, value)}: above {high:g}. Use a number above 0, to {high:g}."
    return None


def shaped(found: Sequence[float], like: NDArray[np.float64]) -> float | NDArray[np.float64]:
    """Return results in the shape of `like`; a single result is a float."""
    return np.reshape(found, like.shape) if like.shape else float(found[0])
