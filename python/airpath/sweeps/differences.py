"""Differences between two values of an axis, with everything else equal.

Points that share their seed have common random numbers, so replication r of both is a pair, and the
interval is that of the differences within pairs. Points with seeds of their own are independent:
their interval is Welch's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airpath.arguments import blamed
from airpath.errors import BadValueError, show
from airpath.results.intervals import Interval, mean_interval
from airpath.results.quantities import resolution
from airpath.results.welch import independent_difference, is_near_zero
from airpath.scenario.base import nearest
from airpath.sweeps.plan import Plan, Point
from airpath.sweeps.readings import Readings
from airpath.sweeps.tables import axis_columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Difference",
    "checked_axis",
    "checked_metric",
    "checked_value",
    "difference_table",
    "differences",
    "text_of",
]


@dataclass(frozen=True)
class Difference:
    """A point less another one that differs in one axis.

    Parameters
    ----------
    base, point : Point
        What is subtracted, and from what.
    base_mean : float
        Of the metric at `base`, over the replications that are compared.
    interval : Interval
        Of the difference, in the unit of the metric; its `reps` are pairs, 0 for independent ones.
    relative : Interval
        Of the difference over `base_mean`; NaN where one of the two means is within three of its
        standard errors of 0.
    method : str
        ``paired`` or ``Welch``.
    variance_ratio : float
        Variance of the differences within pairs over that of differences between independent
        replications: below 1 where pairing helps. NaN where nothing is paired, or nothing varies.
    """

    base: Point
    point: Point
    base_mean: float
    interval: Interval
    relative: Interval
    method: str
    variance_ratio: float

    @property
    def significant(self) -> bool:
        """Whether there is a test, and the interval excludes 0."""
        return not self.untested and (self.interval.low > 0 or self.interval.high < 0)

    @property
    def untested(self) -> str:
        """Why the difference cannot be called significant, whatever it is; empty where it can.

        A test compares a difference with how much it varies.
        """
        found = self.interval
        if math.isnan(found.low):
            return "too few replications"
        if found.varies:
            return ""
        if found.resolution:
            return "the differences do not vary beyond the resolution of the quantiles"
        return "the differences do not vary"


def differences(
    readings: Readings, axis: str, metric: str, base: object, points: Iterable[int] | None = None
) -> list[Difference]:
    """Return the differences of a metric between the values of an axis and one of them.

    Parameters
    ----------
    readings : Readings
        The sweep.
    axis, metric : str
        Names of the plan.
    base : value
        What is subtracted: a label of the axis, or its value as it was written.
    points : iterable of int, optional
        Numbers of the points that are looked at. Default: all.

    Returns
    -------
    found : list of Difference
        In the plan's order of the points from which something is subtracted.

    Raises
    ------
    BadValueError
        If the plan has no such axis, metric or value, nothing was simulated, or no two points
        differ in the axis alone.
    """
    plan = readings.plan
    checked_axis(plan, "axis", axis)
    checked_metric(plan, "metric", metric)
    key = checked_value(plan, "base", axis, base)
    if "simulate" not in plan.engines:
        raise BadValueError(
            f"{blamed('metric', metric)}: nothing is simulated in this sweep, and a model has no "
            'replications. Add "simulate" to its engines.'
        )
    chosen = set(range(len(plan.points)) if points is None else points)
    of_base: dict[str, int] = {}
    for place, point in enumerate(plan.points):
        if place in chosen and text_of(point, axis) == key:
            of_base.setdefault(_setting(plan, point, axis), place)
    found = [
        _difference(readings, of_base[setting], place, metric)
        for place, point in enumerate(plan.points)
        if place in chosen
        and text_of(point, axis) != key
        and (setting := _setting(plan, point, axis)) in of_base
    ]
    if not found:
        raise BadValueError(
            f"{blamed('axis', axis)}: no two points differ in it alone. Write an axis of [grid]."
        )
    return found


def difference_table(readings: Readings, axis: str, found: Sequence[Difference]) -> pd.DataFrame:
    """Return differences as a table; see `Sweep.differences` for the columns."""
    import pandas as pd

    plan = readings.plan
    others = [name for name in plan.axes if name != axis]
    rows = [
        {
            "value": each.point.labels.get(axis, ""),
            "base": each.base.labels.get(axis, ""),
            **{name: each.point.labels.get(name, "") for name in others},
            "point": each.point.number,
            "base_point": each.base.number,
            "base_mean": each.base_mean,
            "mean": each.interval.mean,
            "low": each.interval.low,
            "high": each.interval.high,
            "relative": each.relative.mean,
            "relative_low": each.relative.low,
            "relative_high": each.relative.high,
            "pairs": each.interval.reps,
            "method": each.method,
            "significant": each.significant,
            "untested": each.untested,
            "variance_ratio": each.variance_ratio,
        }
        for each in found
    ]
    own = set(rows[0]) - set(others)
    return pd.DataFrame(rows).rename(columns=axis_columns(plan, own))


# --- what is asked for -------------------------------------------------------------------------


def checked_axis(plan: Plan, argument: str, axis: object) -> str:
    """Return an axis of the plan.

    Raises
    ------
    BadValueError
        If it has no such axis.
    """
    if not plan.axes:
        raise BadValueError(f"{blamed(argument, axis)}: the sweep has no axes.")
    return _one_of("an axis of the sweep", argument, axis, plan.axes)


def checked_metric(plan: Plan, argument: str, metric: object) -> str:
    """Return a metric of the plan.

    Raises
    ------
    BadValueError
        If it has no such metric.
    """
    return _one_of("a metric of the sweep", argument, metric, plan.metrics)


def checked_value(plan: Plan, argument: str, axis: str, value: object) -> str:
    """Return what stands for a value of an axis, given by its label or as it was written.

    Raises
    ------
    BadValueError
        If the axis has no such value.
    """
    labels: dict[str, str] = {}
    keys = set()
    for point in plan.points:
        key = text_of(point, axis)
        labels.setdefault(point.labels.get(axis, ""), key)
        keys.add(key)
    if isinstance(value, str) and value in labels:
        return labels[value]
    if (key := _text(value)) in keys:
        return key
    known = ", ".join(show(label) for label in labels)
    raise BadValueError(
        f"{blamed(argument, value)}: not a value of the axis {axis}. Accepted are {known}."
    )


def _one_of(what: str, argument: str, name: object, known: Sequence[str]) -> str:
    if isinstance(name, str) and name in known:
        return name
    advice = nearest(name if isinstance(name, str) else "", known)
    raise BadValueError(f"{blamed(argument, name)}: not {what}. {advice}.")


def text_of(point: Point, axis: str) -> str:
    """Return what is equal for equal values of an axis: its JSON, empty where it is not set."""
    values: Mapping[str, Any] = point.values  # noqa: PD011
    return _text(values[axis]) if axis in values else ""


def _text(value: object) -> str:
    # Parameters of a function may be anything.
    try:
        return json.dumps(value, sort_keys=True, default=_repr)
    except (TypeError, ValueError, RecursionError):
        return _repr(value)


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception:
        return type(value).__name__


def _setting(plan: Plan, point: Point, but: str) -> str:
    return "\n".join(text_of(point, axis) for axis in plan.axes if axis != but)


# --- intervals ---------------------------------------------------------------------------------


def _difference(readings: Readings, base: int, place: int, metric: str) -> Difference:
    plan = readings.plan
    before, after = (readings.column(each, metric) for each in (base, place))
    points = plan.points[base], plan.points[place]
    unsure = 0.0 if metric in readings.own else resolution(metric)
    if plan.seed_of(points[0]) != plan.seed_of(points[1]):
        known = [[value for value in each if not math.isnan(value)] for each in (before, after)]
        absolute, relative = independent_difference(known[0], known[1], plan.confidence, unsure)
        return Difference(*points, _mean(known[0]), absolute, relative, "Welch", math.nan)
    pairs = [
        (x, y) for x, y in zip(before, after, strict=False) if not (math.isnan(x) or math.isnan(y))
    ]
    base_mean = _mean([x for x, _ in pairs])
    both = abs(base_mean) + abs(_mean([y for _, y in pairs]))
    absolute = mean_interval([y - x for x, y in pairs], plan.confidence).widened(unsure * both)
    ratio = _variance([y - x for x, y in pairs])
    apart = _variance([x for x, _ in pairs]) + _variance([y for _, y in pairs])
    helps = ratio / apart if apart > 0 else math.nan
    relative = _relative(pairs, plan.confidence, unsure)
    return Difference(*points, base_mean, absolute, relative, "paired", helps)


def _relative(pairs: Sequence[tuple[float, float]], confidence: float, unsure: float) -> Interval:
    """Return the ratio of the means less 1, with its interval by the delta method."""
    before, after = [x for x, _ in pairs], [y for _, y in pairs]
    x_mean, y_mean = _mean(before), _mean(after)
    if not pairs or is_near_zero(before) or is_near_zero(after):
        return Interval(math.nan, math.nan, math.nan, confidence, len(pairs))
    ratio = y_mean / x_mean
    # The residuals have the mean 0; their interval moves to the ratio.
    found = mean_interval([(y - ratio * x) / x_mean for x, y in pairs], confidence)
    half = (found.high - found.low) / 2
    relative = Interval(ratio - 1, ratio - 1 - half, ratio - 1 + half, confidence, len(pairs))
    return relative.widened(2 * unsure * abs(ratio))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _variance(values: Sequence[float]) -> float:
    if len(values) < 2:
        return math.nan
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
