"""Checks of numbers and of arrays of numbers, and results in the shape of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.arguments import error_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["numbers", "positive", "shaped", "within"]


def numbers(value: Any) -> NDArray[np.float64] | None:
    """Return finite numbers as an array; None for any other value."""
    try:
        array = np.asarray(value)
    except Exception:  # a user's object may raise any exception
        return None
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        return None
    return array.astype(float)


def within(name: str, value: Any, low: float, high: float) -> str | None:
    """Return the problem of numbers outside a range, one line; None without a problem."""
    accepted = f"Use a number from {low:g} to {high:g}"
    array = numbers(value)
    if array is None:
        return f"{error_prefix(name, value)}: not a finite number. {accepted}."
    if (array < low).any() or (array > high).any():
        return f"{error_prefix(name, value)}: out of range. {accepted}."
    return None


def positive(name: str, value: Any, high: float = np.inf) -> str | None:
    """Return the problem of numbers that are not above 0, one line; None without a problem."""
    array = numbers(value)
    if array is None:
        return f"{error_prefix(name, value)}: not a finite number. Use one, or an array of them."
    if (array <= 0).any():
        return f"{error_prefix(name, value)}: not above 0. Use a number above 0."
    if (array > high).any():
        return f"{error_prefix(name, value)}: above {high:g}. Use a number above 0, to {high:g}."
    return None


def shaped(found: Sequence[float], like: NDArray[np.float64]) -> float | NDArray[np.float64]:
    """Return results in the shape of an array, or a single result as a float."""
    return np.reshape(found, like.shape) if like.shape else float(found[0])
