"""Grids of parameters: what is simulated over two of them, thinned where the effort is small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["grid", "thinned"]

L = TypeVar("L")
V = TypeVar("V")
C = TypeVar("C")


def thinned(values: Sequence[V], step: int) -> list[V]:
    """Return every `step`-th value, from 1, and the last."""
    return list(dict.fromkeys([*values[::step], values[-1]]))


def grid(lines: Sequence[L], values: Sequence[V], case: Callable[[L, V], C]) -> dict[L, list[C]]:
    """Return the cases of a grid by line, each in the order of its values.

    Parameters
    ----------
    lines, values : sequence
        The two parameters.
    case : callable
        Makes a cell of both.
    """
    return {line: [case(line, value) for value in values] for line in lines}
