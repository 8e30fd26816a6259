"""Selects the default figures of a sweep, and the default role of each axis in a figure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from airpath.present import style
from airpath.sweeps.plot.selection import Selection, selected

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airpath.sweeps.plot.figures import SweepPlot

__all__ = [
    "abscissa",
    "conditions",
    "delay",
    "designed",
    "first",
    "rate",
    "series",
    "sort_by_size",
    "wanted",
]

_CONDITIONS = {
    *("trace", "file", "link", "rate", "loss", "snr", "snr_db", "base_rtt", "delay", "offset"),
    *("source", "count", "size", "sizes", "start", "cell", "mean", "doppler", "speed", "distance"),
    *("seed", "load", "rtt", "bandwidth"),
}
"""Last parts of the names of axes that are conditions (of the path or the load), not choices."""
_TABLES = {
    *("errors", "snr", "users", "stations", "radio", "arrivals", "backhaul", "access", "egress"),
    *("ack_access", "return"),
}
"""Tables of conditions: all keys in them are conditions."""
_CHOICES = {
    *(
        "aqm",
        "cc",
        "tcp",
        "window",
        "policy",
        "scheduler",
        "harq",
        "arq",
        "request",
        "grant",
        "fec",
    ),
}
"""Tables of design choices: no key in them is a condition."""

_DELAY = re.compile(r"(^|_)(delay|sojourn|rtt)_s$")
_ENOUGH_FOR_ECDF = 10


def abscissa(chosen: Selection) -> str | None:
    """Return the default x-axis: the numeric axis with the most values, else the longest axis."""
    order = sort_by_size(chosen)
    return order[0] if order else next(iter(chosen.readings.plan.axes), None)


def sort_by_size(chosen: Selection) -> list[str]:
    """Return the varied axes, in the order of preference for the x-axis.

    Numeric axes with three values or more come first, conditions with text values come last. Within
    each group, axes with more values come first.
    """

    def rank(axis: str) -> tuple[bool, bool, int]:
        count, are_numbers = len(chosen.values(axis)), chosen.numbers(axis) is not None
        return (not (count > 2 and are_numbers), _is_condition(axis) and not are_numbers, -count)

    return sorted(chosen.varied, key=rank)


def series(chosen: Selection, taken: Collection[str]) -> str | None:
    """Return the axis for colours: the text axis (else numeric axis) with most values up to eight.

    Conditions come last, because they become panels.
    """

    def rank(axis: str) -> tuple[bool, bool, int]:
        are_numbers = chosen.numbers(axis) is not None
        return (_is_condition(axis), are_numbers, -len(chosen.values(axis)))

    free = [axis for axis in chosen.varied if axis not in taken]
    few = [axis for axis in free if len(chosen.values(axis)) <= len(style.SERIES)]
    return min(few or free, key=rank, default=None)


def first(chosen: Selection, taken: Collection[str | None]) -> str | None:
    """Return the first axis with up to eight values that is not in `taken`."""
    free = (axis for axis in chosen.varied if axis not in taken)
    return next((axis for axis in free if len(chosen.values(axis)) <= len(style.SERIES)), None)


def conditions(chosen: Selection) -> list[str]:
    """Return the axes whose names are conditions; empty if all axes are conditions."""
    found = [axis for axis in chosen.varied if _is_condition(axis)]
    return [] if len(found) == len(chosen.varied) else found


def designed(chosen: Selection) -> str | None:
    """Return the first axis that is not a condition (text axes before numeric), else any axis."""

    def rank(axis: str) -> tuple[bool, bool]:
        return (_is_condition(axis), chosen.numbers(axis) is not None)

    return min(chosen.varied, key=rank, default=None)


def _is_condition(axis: str) -> bool:
    words = axis.split(".")
    if _CHOICES & set(words[:-1]):
        return False
    return words[-1] in _CONDITIONS or bool(_TABLES & set(words))


def rate(metrics: Sequence[str]) -> str | None:
    """Return the first metric that is a rate."""
    return next((metric for metric in metrics if metric.endswith("_bps")), None)


def delay(metrics: Sequence[str]) -> str | None:
    """Return the first metric that is a delay."""
    return next((metric for metric in metrics if _DELAY.search(metric.rpartition(".")[2])), None)


def wanted(plot: SweepPlot) -> dict[str, Callable[[], Figure]]:
    """Return the functions that draw the default figures; see `SweepPlot.defaults`."""
    readings = plot.sweep.readings
    plan = readings.plan
    chosen = selected(readings, None)
    found: dict[str, Callable[[], Figure]] = {}
    if rate(plan.metrics) and delay(plan.metrics) and len(plan.points) > 1:
        found["pareto"] = plot.pareto
    numbers = [axis for axis in sort_by_size(chosen) if chosen.numbers(axis) is not None]
    for metric in plan.metrics:
        if chosen.varied:
            found[f"lines-{metric}"] = partial(plot.lines, metric)
        if len(numbers) > 1:
            found[f"heatmap-{metric}"] = partial(plot.heatmap, metric)
    if plan.replicated and plan.metrics:
        axis = designed(chosen)
        if axis is not None and chosen.numbers(axis) is None and plan.rule.most > 1:
            for metric in plan.metrics:
                found[f"forest-{metric}"] = partial(plot.forest, metric, axis)
        if plan.rule.least >= _ENOUGH_FOR_ECDF:
            metric = plan.metrics[0]
            found[f"ecdf-{metric}"] = partial(plot.ecdf, metric)
    if plan.replicated:
        for quantity in plot.sweep.recorded_distributions:
            found[f"distribution-{quantity}"] = partial(plot.distribution, quantity)
    return found
