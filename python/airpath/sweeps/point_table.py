"""Table of the means and intervals of the points of a sweep, for display."""

from __future__ import annotations

from collections.abc import Sequence

from airpath.errors import one_line
from airpath.present.tables import Cell, Column, Entry, Table
from airpath.results.estimates import EQUAL, EQUAL_NOTE, varying
from airpath.sweeps.plan import Engine, Plan, Point
from airpath.sweeps.readings import Readings
from airpath.sweeps.scales import MetricStyle, metric_style

__all__ = ["pivot_table", "point_table"]


def point_table(
    readings: Readings, metrics: Sequence[str], *, most: int | None = None, numbered: bool = True
) -> Table:
    """Return a row for each point and engine, and a column for each metric.

    Parameters
    ----------
    readings : Readings
        The sweep.
    metrics : sequence of str
        Metrics of the sweep, in order.
    most : int, optional
        The table contains only the first `most` points. (Units are chosen for all points.) Default:
        all points.
    numbered : bool
        True to include the numbers of the points, and axes with a single value. Default True.
    """
    plan = readings.plan
    styles = {metric: _style(readings, metric) for metric in metrics}
    axes = [axis for axis in plan.axes if numbered or len(_labels(readings, axis)) > 1]
    are_several = len(plan.engines) > 1
    columns = [*(["point"] if numbered else []), *_titles(plan, axes)]
    columns += ["engine"] if are_several else []
    rows: list[list[Entry]] = [
        [
            *([str(of.point.number)] if numbered else []),
            *(_label(of.point, axis) for axis in axes),
            *([engine] if are_several else []),
            *(_cell(readings, place, style, metric, engine) for metric, style in styles.items()),
        ]
        for place, of in enumerate(readings.points[:most])
        for engine in plan.engines
    ]
    names = [*columns, *(each.short_label for each in styles.values())]
    return Table(one_line(plan.name), names, rows, _notes(rows))


def pivot_table(readings: Readings, metrics: Sequence[str], axis: str) -> Table:
    """Return a table with a column for each metric and value of one axis.

    Each row is a combination of values of the other axes.

    Parameters
    ----------
    readings : Readings
        The sweep.
    metrics : sequence of str
        Metrics of the sweep, in order.
    axis : str
        Axis whose values become columns.
    """
    plan = readings.plan
    styles = {metric: _style(readings, metric) for metric in metrics}
    values = _labels(readings, axis)
    others = [each for each in plan.axes if each != axis and len(_labels(readings, each)) > 1]
    are_several = len(plan.engines) > 1
    head: list[Column] = [*_titles(plan, others), *(["engine"] if are_several else [])]
    columns: list[Column] = [
        (style.short_label, value) for style in styles.values() for value in values
    ]
    found: dict[tuple[str, ...], dict[tuple[str, str], Cell]] = {}
    for place, of in enumerate(readings.points):
        for engine in plan.engines:
            key = (*(_label(of.point, each) for each in others), *([engine] * are_several))
            cells = found.setdefault(key, {})
            for metric, style in styles.items():
                at = (metric, _label(of.point, axis))
                cells.setdefault(at, _cell(readings, place, style, metric, engine))
    rows: list[list[Entry]] = [
        [*key, *(cells.get((metric, value), Cell("–")) for metric in styles for value in values)]
        for key, cells in found.items()
    ]
    return Table(one_line(plan.name), [*head, *columns], rows, _notes(rows))


def _style(readings: Readings, metric: str) -> MetricStyle:
    means = (
        readings.interval(place, metric, engine).mean
        for place in range(len(readings.points))
        for engine in readings.plan.engines
    )
    return metric_style(metric, means, readings.plan.metric_labels)


def _cell(readings: Readings, place: int, style: MetricStyle, metric: str, engine: Engine) -> Cell:
    found = varying(readings.interval(place, metric, engine), style.scale)
    return found if found.text else Cell("–")


def _notes(rows: Sequence[Sequence[Entry]]) -> list[str]:
    cells = (cell for row in rows for cell in row)
    is_equal = any(getattr(cell, "hint", "") == EQUAL for cell in cells)
    return [EQUAL_NOTE] if is_equal else []


def _titles(plan: Plan, axes: Sequence[str]) -> list[str]:
    """Return the readable names of axes."""
    return [plan.names[axis] for axis in axes]


def _label(point: Point, axis: str) -> str:
    return one_line(point.labels.get(axis, ""))


def _labels(readings: Readings, axis: str) -> list[str]:
    """Return the distinct labels of the values of an axis, in order."""
    return list(dict.fromkeys(_label(of.point, axis) for of in readings.points))
