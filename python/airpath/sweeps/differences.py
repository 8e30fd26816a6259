"""Differences of a metric between points that differ in only one axis.

Points with equal seeds have common random numbers. Replication r of one point and replication r of
the other point are a pair, and the interval is computed from the differences within pairs. Points
with different seeds are independent, and so are emulated points; their interval is Welch's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from airpath.arguments import error_prefix
from airpath.errors import BadValueError, show
from airpath.results.differences import Difference, independent_difference, paired_difference
from airpath.results.quantities import resolution
from airpath.scenario.base import nearest
from airpath.sweeps.plan import Plan, Point
from airpath.sweeps.readings import Readings
from airpath.sweeps.tables import axis_columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "PointDifference",
    "checked_axis",
    "checked_metric",
    "checked_value",
    "difference_table",
    "differences",
    "text_of",
]


@dataclass(frozen=True)
class PointDifference:
    """Difference between two points that differ in one axis.

    Parameters
    ----------
    base, point : Point
        The difference is the metric at `point` minus the metric at `base`.
    difference : Difference
        Difference of the metric.
    """

    base: Point
    point: Point
    difference: Difference


def differences(
    readings: Readings, axis: str, metric: str, base: object, points: Iterable[int] | None = None
) -> list[PointDifference]:
    """Return the differences of a metric between the values of an axis and a base value.

    Parameters
    ----------
    readings : Readings
        The sweep.
    axis, metric : str
        Names of an axis and a metric of the plan.
    base : value
        Axis value of the points to subtract: its label, or the value as written in the sweep.
    points : iterable of int, optional
        Numbers of the points to compare. Default: all points.

    Returns
    -------
    found : list of PointDifference
        Differences, in the order in which the plan lists their points.

    Raises
    ------
    BadValueError
        If the plan has no such axis, metric or value; if no point was replicated; or if no two
        points differ only in this axis.
    """
    plan = readings.plan
    checked_axis(plan, "axis", axis)
    checked_metric(plan, "metric", metric)
    key = checked_value(plan, "base", axis, base)
    if plan.replicated is None:
        raise BadValueError(
            f"{error_prefix('metric', metric)}: nothing is simulated in this sweep, and a model "
            "has no "
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
            f"{error_prefix('axis', axis)}: no two points differ in it alone. "
            "Use an axis of [grid]."
        )
    return found


def difference_table(
    readings: Readings, axis: str, found: Sequence[PointDifference]
) -> pd.DataFrame:
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
            "base_mean": of.base_mean,
            "mean": of.absolute.mean,
            "low": of.absolute.low,
            "high": of.absolute.high,
            "relative": of.relative.mean,
            "relative_low": of.relative.low,
            "relative_high": of.relative.high,
            "pairs": of.absolute.reps,
            "method": of.method,
            "significant": of.is_significant,
            "untested": of.untested,
            "variance_ratio": of.variance_ratio,
        }
        for each in found
        if (of := each.difference)
    ]
    own = set(rows[0]) - set(others)
    return pd.DataFrame(rows).rename(columns=axis_columns(plan, own))


# --- arguments ---------------------------------------------------------------------------------


def checked_axis(plan: Plan, argument: str, axis: object) -> str:
    """Check that an axis is in the plan, and return it.

    Raises
    ------
    BadValueError
        If the plan has no such axis.
    """
    if not plan.axes:
        raise BadValueError(f"{error_prefix(argument, axis)}: the sweep has no axes.")
    return _one_of("an axis of the sweep", argument, axis, plan.axes)


def checked_metric(plan: Plan, argument: str, metric: object) -> str:
    """Check that a metric is in the plan, and return it.

    Raises
    ------
    BadValueError
        If the plan has no such metric.
    """
    return _one_of("a metric of the sweep", argument, metric, plan.metrics)


def checked_value(plan: Plan, argument: str, axis: str, value: object) -> str:
    """Return the JSON of an axis value, given the value or its label.

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
        f"{error_prefix(argument, value)}: not a value of the axis {axis}. "
        f"Expected one of: {known}."
    )


def _one_of(what: str, argument: str, name: object, known: Sequence[str]) -> str:
    if isinstance(name, str) and name in known:
        return name
    advice = nearest(name if isinstance(name, str) else "", known)
    raise BadValueError(f"{error_prefix(argument, name)}: not {what}. {advice}.")


def text_of(point: Point, axis: str) -> str:
    """Return the JSON of the value of an axis; empty if the point does not set it."""
    values: Mapping[str, Any] = point.values  # noqa: PD011
    return _text(values[axis]) if axis in values else ""


def _text(value: object) -> str:
    # Parameters of a function can be of any type.
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


def _difference(readings: Readings, base: int, place: int, metric: str) -> PointDifference:
    plan = readings.plan
    before, after = (readings.column(each, metric) for each in (base, place))
    points = plan.points[base], plan.points[place]
    unsure = 0.0 if metric in readings.own else resolution(metric)
    if not plan.are_pairs(*points):
        known = [[value for value in each if not math.isnan(value)] for each in (before, after)]
        found = replace(
            independent_difference(known[0], known[1], plan.confidence, unsure), method="Welch"
        )
    else:
        found = paired_difference(before, after, plan.confidence, unsure)
    return PointDifference(*points, found)
