"""Functions that can be used in the formulas of claims (`formulas`).

| function | value |
| --- | --- |
| `within(x, target, by)` | whether the difference between x and `target` is at most `by` |
| `increasing(x)`, `decreasing(x)` | whether each point is above (below) the previous point |
| `nondecreasing(x)`, `nonincreasing(x)` | the same, but adjacent points may be equal |
| `all(x)`, `any(x)` | whether all points (at least one point) meet a condition |
| `share(x)`, `run_share(x)` | share of the points (of the runs) that meet a condition |
| `run_most(x)` | largest value of a run |
| `low(x)`, `high(x)` | limits of the confidence interval of the mean over the runs |
| `half_width(x)` | half-width of this interval |
| `mean(x)`, `median(x)`, `total(x)` | mean, median, sum over the points; `mean` also per run |
| `deviation(x)`, `run_deviation(x)` | standard deviation over the points (over the runs) |
| `correlation(x, y)` | correlation coefficient over the points |
| `least(x, ...)`, `largest(x, ...)` | smallest (largest) value of all points of all arguments |
| `greatest(x, ...)` | largest argument at each point |
| `sort(x)` | the means in ascending order |
| `first(x)`, `last(x)` | value at the first (last) point |
| `steps(x)` | differences between adjacent points |
| `drop(x)` | largest relative decrease from any point to a later point |
| `where(x, condition)` | the points at which a condition is met |
| `from_peak(x)` | the points from the largest value on |
| `axis("name")` | values of an axis at the points of the claim |
| `peak(x, y)` | x at which y is largest (the last such x) |
| `crossing(x, y, level)` | x at which y first falls below a level, interpolated linearly |
| `span(x, condition)` | longest range of x in which all points meet a condition |
| `reaching(x, y, level)` | smallest x at which y reaches a level, interpolated linearly |
| `at(x, y, place, ...)` | y at x = `place`, interpolated linearly |
| `fixed(x)` | the means, without runs |
| `abs(x)`, `sqrt(x)`, `hypot(x, ...)` | the mathematical function, at each point |

A confidence interval needs at least two runs. Otherwise, its limits are NaN, and comparisons with
them are false.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from statistics import stdev
from typing import Any, Final

import numpy as np

from airpath.reproduction.session import Session
from airpath.reproduction.values import Array, Values, combined, constant

__all__ = ["FUNCTIONS", "OutsideRangeError", "crossing", "interpolated"]


class OutsideRangeError(ValueError):
    """Raised for an x-value outside the range of the points, where interpolation is impossible."""


Function = Callable[..., Values]
"""Function of the session and the arguments."""


def _of_values(of: Callable[..., Values]) -> Function:
    """Wrap a function of `Values`; the wrapper ignores the session."""
    return lambda _session, *values: of(*values)


def _over_points(of: Callable[[Array], Any]) -> Function:
    """Wrap a function of an array; the wrapper passes the means of all its arguments."""

    def function(_session: Session, *values: Values) -> Values:
        return constant(float(of(np.concatenate([each.means for each in values]))))

    return function


def _by_point(of: Callable[..., Any]) -> Function:
    """Wrap a function of arrays; the wrapper applies it to each point and each run."""
    return lambda _session, *values: combined(of, *values)


def _neighbours(holds: Callable[[Array], Any]) -> Function:
    """Wrap a condition; the wrapper tests it for the differences between all adjacent points."""
    return _over_points(lambda means: bool(np.all(holds(np.diff(means)))))


def _within(_session: Session, values: Values, target: Values, by: Values) -> Values:
    return combined(lambda x, y, most: np.abs(x - y) <= most, values, target, by)


def _of_runs(of: Callable[[Session, list[float]], float]) -> Function:
    """Wrap a function of the session and a point's values per run; apply it to each point."""

    def function(session: Session, values: Values) -> Values:
        if values.runs is None:
            raise ValueError("runs are expected, and these numbers have none")
        runs = ([float(each) for each in of_point] for of_point in values.runs())
        return Values(values.places, np.array([of(session, each) for each in runs]))

    return function


def _end(name: str) -> Function:
    """Return a function: a limit, or the half-width, of the mean's confidence interval."""

    def end(session: Session, values: list[float]) -> float:
        found: float = getattr(session.interval(values), name) if len(values) > 1 else math.nan
        return found

    return _of_runs(end)


def _steps(_session: Session, values: Values) -> Values:
    later, before = (values.chosen(range(n, len(values) + n - 1)) for n in (1, 0))
    return Values(later.places, combined(np.subtract, later, before).means)


def _drop(means: Array) -> float:
    largest = np.maximum.accumulate(means)
    return float(np.max(1 - means / largest))


def _where(_session: Session, values: Values, condition: Values) -> Values:
    if len(condition) != len(values):
        raise ValueError(f"{len(condition)} conditions for {len(values)} points")
    return values.chosen([n for n, met in enumerate(condition.means) if met])


# --- functions of x and y ----------------------------------------------------------------------


def _peak(_session: Session, over: Values, values: Values) -> Values:
    return over.chosen([int(np.flatnonzero(values.means == np.max(values.means))[-1])])


def _sorted(over: Values, values: Values) -> tuple[list[float], list[float]]:
    """Return x in ascending order, and the corresponding y."""
    x, y = zip(*sorted(zip(over, values, strict=True)), strict=True)
    return list(x), list(y)


def crossing(x: Sequence[float], y: Sequence[float], level: float) -> float:
    """Return the x at which y first falls below a level, interpolated linearly.

    NaN if y does not fall below the level.
    """
    for (x0, y0), (x1, y1) in pairwise(zip(x, y, strict=True)):
        if y0 >= level > y1:
            return x0 + (y0 - level) / (y0 - y1) * (x1 - x0)
    return math.nan


def _crossing(_session: Session, over: Values, values: Values, level: Values) -> Values:
    return constant(crossing(*_sorted(over, values), level.number()))


def _span(_session: Session, over: Values, condition: Values) -> Values:
    longest, began = 0.0, None
    for x, met in zip(over, condition.means, strict=True):
        began = (x if began is None else began) if met else None
        longest = longest if began is None else max(longest, x - began)
    return constant(longest)


def _reaching(_session: Session, over: Values, values: Values, level: Values) -> Values:
    x, y = _sorted(over, values)
    wanted = level.number()
    if y[0] >= wanted:
        return constant(x[0])
    for (x0, y0), (x1, y1) in pairwise(zip(x, y, strict=True)):
        if y0 < wanted <= y1:
            return constant(x0 + (wanted - y0) / (y1 - y0) * (x1 - x0))
    return constant(math.nan)


def _at(_session: Session, over: Values, values: Values, *wanted: Values) -> Values:
    x, y = _sorted(over, values)
    found = [interpolated(x, y, place) for each in wanted for place in each]
    places = [{"at": place} for each in wanted for place in each]
    return Values(places, np.array(found))


def interpolated(x: Sequence[float], y: Sequence[float], place: float) -> float:
    """Return y at x = `place`, interpolated linearly; `x` must be ascending.

    Raises
    ------
    OutsideRangeError
        If `place` is outside the range of `x`.
    """
    for (x0, y0), (x1, y1) in pairwise(zip(x, y, strict=True)):
        if x0 <= place <= x1 and x0 < x1:
            return y0 + (place - x0) / (x1 - x0) * (y1 - y0)
    raise OutsideRangeError(f"{place:g} is outside the points, {x[0]:g} to {x[-1]:g}")


FUNCTIONS: Final[Mapping[str, Function]] = {
    "within": _within,
    "increasing": _neighbours(lambda steps: steps > 0),
    "decreasing": _neighbours(lambda steps: steps < 0),
    "nondecreasing": _neighbours(lambda steps: steps >= 0),
    "nonincreasing": _neighbours(lambda steps: steps <= 0),
    "all": _over_points(np.all),
    "any": _over_points(np.any),
    "share": _over_points(np.mean),
    "run_share": _of_runs(lambda _session, runs: sum(map(bool, runs)) / len(runs)),
    "low": _end("low"),
    "high": _end("high"),
    "half_width": _end("half_width"),
    "mean": _of_values(Values.averaged),
    "median": _over_points(np.median),
    "total": _over_points(np.sum),
    "deviation": _over_points(np.std),
    "run_deviation": _of_runs(lambda _session, runs: stdev(runs)),
    "run_most": _of_runs(lambda _session, runs: max(runs)),
    "correlation": _of_values(
        lambda x, y: constant(float(np.corrcoef(x.means, y.means)[0, 1])),
    ),
    "least": _over_points(lambda means: np.min(means) if len(means) else math.nan),
    "largest": _over_points(lambda means: np.max(means) if len(means) else math.nan),
    "greatest": _by_point(lambda *values: reduce(np.maximum, values)),
    "first": _of_values(lambda x: x.chosen([0])),
    "last": _of_values(lambda x: x.chosen([len(x) - 1])),
    "sort": _of_values(
        lambda x: x.without_runs().chosen([int(n) for n in np.argsort(x.means)]),
    ),
    "steps": _steps,
    "drop": _over_points(_drop),
    "where": _where,
    "from_peak": _of_values(lambda x: x.chosen(range(int(np.argmax(x.means)), len(x)))),
    "peak": _peak,
    "crossing": _crossing,
    "span": _span,
    "reaching": _reaching,
    "at": _at,
    "fixed": _of_values(Values.without_runs),
    "abs": _by_point(np.abs),
    "sqrt": _by_point(np.sqrt),
    "hypot": _by_point(np.hypot),
}
