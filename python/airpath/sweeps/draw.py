"""Random points: independent samples, a Latin hypercube, or a Sobol' sequence.

The samples depend only on the seed. A sample between two quantities such as ``["1 Mbit/s", "9
Mbit/s"]`` has the same unit.
"""

from __future__ import annotations

import hashlib
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from airpath.errors import BadValueError, quoted

__all__ = ["drawn", "sample", "wrong_bounds"]

_QUANTITY = re.compile(r"\s*(?P<number>[-+]?[0-9]*\.?[0-9]+(?:e[-+]?[0-9]+)?)\s*(?P<unit>\S.*?)\s*")
_WHOLE_UNITS = ("packets", "packet", "segments", "segment", "B", "bit/s", "ns")
"""Units that allow only integers."""
_DIGITS = 6
"""Significant digits of sampled values."""


def wrong_bounds(values: Sequence[Any], logarithmic: bool) -> tuple[str, str, str] | None:
    """Check the ends of a range; return the problem, a fix, and an example. None if valid.

    Parameters
    ----------
    values : sequence
        Two numbers, or two quantities with the same unit.
    logarithmic : bool
        True if both ends must be above 0.
    """
    example = '["1 Mbit/s", "9 Mbit/s"]'
    ends = [_split(value) for value in values]
    if len(ends) != 2 or any(end is None for end in ends):
        return "not two numbers", "Use the smallest and the largest value", example
    (low, unit), (high, other) = (end for end in ends if end is not None)
    if unit != other:
        return f"units {quoted(unit)} and {quoted(other)}", "Use both in one unit", example
    if not low < high:
        return "the second is not above the first", "Use the least value first", example
    if logarithmic and low <= 0:
        return "not above 0", "Use ends above 0, or uniform", '["1 Mbit/s", "9 Mbit/s"]'
    return None


def drawn(
    method: str, samples: int, seed: int, axes: Mapping[str, Mapping[str, Sequence[Any]]]
) -> list[dict[str, Any]]:
    """Return the axis values of each sample.

    Parameters
    ----------
    method : str
        ``random``, ``latin-hypercube`` or ``sobol``.
    samples : int
        Number of samples, at least 1.
    seed : int
        Seed of the samples, 0 to 2^64 - 1.
    axes : mapping
        Maps each axis to a table with one key: ``uniform`` or ``log-uniform`` (two ends of a
        range), or ``choice`` (list of values).

    Raises
    ------
    BadValueError
        If the method requires scipy, which is not installed.
    """
    if method == "random":
        columns = [[_unit(seed, axis, number) for number in range(samples)] for axis in axes]
    else:
        columns = _designed(method, samples, seed, len(axes))
    made = [
        [_value(kind, values, share) for share in shares]
        for shares, draw in zip(columns, axes.values(), strict=True)
        for kind, values in draw.items()
    ]
    return [dict(zip(axes, row, strict=True)) for row in zip(*made, strict=True)]


def sample(
    seed: int, number: int, axes: Mapping[str, Mapping[str, Sequence[Any]]]
) -> dict[str, Any]:
    """Return the axis values of the independent sample `number`, counted from 0.

    Parameters
    ----------
    seed : int
        Seed of the samples, 0 to 2^64 - 1.
    number : int
        Index of the sample. The values are those of this sample of the method ``random``.
    axes : mapping
        As for `drawn`.
    """
    return {
        axis: _value(kind, values, _unit(seed, axis, number))
        for axis, draw in axes.items()
        for kind, values in draw.items()
    }


def _unit(seed: int, axis: str, number: int) -> float:
    """Return a number in [0, 1) that depends only on the seed, the axis and the sample's number."""
    digest = hashlib.sha256(f"{seed} {number} {axis}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def _designed(method: str, samples: int, seed: int, dimensions: int) -> list[list[float]]:
    import numpy as np

    try:
        from scipy.stats import qmc
    except ImportError:
        raise BadValueError(
            f"random.method = {quoted(method)}: requires scipy, which is not installed. "
            'Install it, pip install "airpath[random]", or write method = "random".'
        ) from None
    kind = qmc.LatinHypercube if method == "latin-hypercube" else qmc.Sobol
    generator = np.random.Generator(np.random.PCG64(seed))
    try:
        sampler = kind(dimensions, rng=generator)
    except TypeError:  # Before scipy 1.15, the argument is called `seed`.
        sampler = kind(dimensions, seed=generator)
    with warnings.catch_warnings():
        # scipy warns if the number of Sobol' points is no power of 2; the documentation notes it.
        warnings.simplefilter("ignore", UserWarning)
        return [[float(share) for share in row] for row in sampler.random(samples).T]


# --- values ------------------------------------------------------------------------------------


def _split(value: Any) -> tuple[float, str] | None:
    """Return number and unit; None if the value is neither a number nor a quantity."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (float(value), "") if math.isfinite(value) else None
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    return (float(found["number"]), found["unit"]) if found else None


def _value(kind: str, values: Sequence[Any], share: float) -> Any:
    """Return the value at a fraction `share`, in [0, 1), of the range."""
    if kind == "choice":
        return values[min(int(share * len(values)), len(values) - 1)]
    (low, unit), (high, _) = (end for end in map(_split, values) if end is not None)
    whole = unit in _WHOLE_UNITS or all(isinstance(value, int) for value in values)
    if whole:
        # Each integer gets a subrange of the same length.
        low, high = low - 0.5, high + 0.5
    if kind == "log-uniform":
        found = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
    else:
        found = low + share * (high - low)
    if whole:
        number: float = min(max(math.floor(found + 0.5), math.ceil(low)), math.floor(high))
    else:
        number = float(f"{found:.{_DIGITS}g}")
    return f"{Decimal(repr(number)):f} {unit}" if unit else number
