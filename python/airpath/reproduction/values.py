"""Operands of the formulas of claims: a mean for each point, and a value for each of its runs.

An operation combines means with means, and values of run i with values of run i. For example, the
mean of a quotient is defined as the quotient of the means; in addition, each run has its own
quotient. If points have different numbers of runs, surplus runs are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Place", "Runs", "Values", "combined", "constant"]

Place = Mapping[str, Any]
"""The axis values that identify a point."""

Array = NDArray[np.float64]

Runs = Callable[[], Sequence[Array]]
"""Function that returns, for each point, the values of its runs."""


@dataclass(frozen=True, eq=False)
class Values:
    """A mean for each point, and a value for each of its runs.

    Parameters
    ----------
    places : sequence of Place
        The axis values of each point.
    means : ndarray, shape (n,)
        The mean of each point over its runs. For points without runs, a single value per point.
    runs : callable, optional
        Returns, for each point, the values of its runs. Default: the points have no runs.
    """

    places: Sequence[Place]
    means: Array
    runs: Runs | None = None

    def __len__(self) -> int:
        return len(self.means)

    def __iter__(self) -> Iterator[float]:
        return (float(each) for each in self.means)

    def number(self) -> float:
        """Return the mean of the only point.

        Raises
        ------
        ValueError
            If there are several points.
        """
        if len(self) != 1:
            raise ValueError(f"{len(self)} numbers where one is expected")
        return float(self.means[0])

    def chosen(self, numbers: Sequence[int]) -> Values:
        """Return the points at the given indices (from 0), in this order."""
        runs = self.runs

        def of_chosen() -> Sequence[Array]:
            assert runs is not None
            found = runs()
            return [found[number] for number in numbers]

        means = self.means[list(numbers)]
        places = [self.places[number] for number in numbers]
        return Values(places, means, None if runs is None else of_chosen)

    def at(self, place: Place) -> Values:
        """Return the points whose axes have these values; a tuple matches any of its values."""
        return self.chosen([n for n, each in enumerate(self.places) if is_at(each, place)])

    def without_runs(self) -> Values:
        """Return the means, without the runs."""
        return Values(self.places, self.means)

    def averaged(self) -> Values:
        """Average over the points: the means, and the values of each run."""
        runs = self.runs

        def of_all() -> Sequence[Array]:
            assert runs is not None
            paired = zip(*runs(), strict=False)
            return [np.array([fmean(each) for each in paired])]

        mean = np.array([fmean(self.means)])
        return Values([_common(self.places)], mean, None if runs is None else of_all)


_MISSING = object()


def is_at(place: Place, wanted: Place) -> bool:
    """Return whether a point has the values in `wanted`; a list matches any of its values."""
    return all(
        place.get(axis, _MISSING) in value
        if isinstance(value, list | tuple)
        else place.get(axis, _MISSING) == value
        for axis, value in wanted.items()
    )


def constant(number: float) -> Values:
    """Return a constant as an operand: one mean, without axis values and runs."""
    return Values([{}], np.array([float(number)]))


def combined(operation: Callable[..., Any], *values: Values) -> Values:
    """Apply an operation to the means of each point and to the values of each run.

    Parameters
    ----------
    operation : callable
        Function with one array argument for each of `values`.
    *values : Values
        Operands with the same number of points; an operand with one point is used for all points.

    Raises
    ------
    ValueError
        If the operands have different numbers of points.
    """
    size = max(map(len, values))
    if any(len(each) not in (1, size) for each in values):
        lengths = " and ".join(str(len(each)) for each in values)
        raise ValueError(f"{lengths} points cannot be combined")
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 is NaN
        means = np.broadcast_to(operation(*(each.means for each in values)), (size,))
    named = [each for each in values if len(each) == size and any(each.places)]
    places = [_common([each.places[n] for each in named]) for n in range(size)]
    if all(each.runs is None for each in values):
        return Values(places, means)

    def runs() -> Sequence[Array]:
        found = [None if each.runs is None else each.runs() for each in values]
        return [
            _run_by_run(
                operation,
                [
                    each.means[n % len(each)] if runs is None else runs[n % len(each)]
                    for each, runs in zip(values, found, strict=True)
                ],
            )
            for n in range(size)
        ]

    return Values(places, means, runs)


def _run_by_run(operation: Callable[..., Any], operands: Sequence[Any]) -> Array:
    count = min(len(each) for each in operands if np.ndim(each))
    cut = [each[:count] if np.ndim(each) else each for each in operands]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(operation(*cut), dtype=float)


def _common(places: Sequence[Place]) -> Place:
    """Return the entries that all places have in common."""
    if not places:
        return {}
    first, *others = places
    return {
        axis: value
        for axis, value in first.items()
        if all(other.get(axis, _MISSING) == value for other in others)
    }
