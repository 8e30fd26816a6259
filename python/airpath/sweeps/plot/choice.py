"""Which axis goes where, and which figures a sweep gets, when nobody says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from airpath.errors import BadValueError
from airpath.present import style
from airpath.sweeps.plot.selection import Selection, selected

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airpath.sweeps.plot.figures import SweepPlot

__all__ = [
    "abscissa",
    "by_size",
    "conditions",
    "defaults",
    "delay",
    "first",
    "rate",
    "series",
]

_CONDITIONS = {
    *("trace", "link", "rate", "loss", "errors", "snr", "base_rtt", "delay", "offset", "source"),
    *("count", "size", "sizes", "start", "backhaul", "access", "egress", "ack_access", "return"),
    *("cell", "users"),
}
"""Words in an axis's name that make it a condition, not a choice of who sets the path up."""

_DELAY = re.compile(r"(^|_)(delay|sojourn|rtt)_s$")
_MOST_METRICS = 4
_ENOUGH_FOR_ECDF = 10


def abscissa(chosen: Selection) -> str | None:
    """Return the axis to draw over: of numbers with the most values, else with the most."""
    order = by_size(chosen)
    return order[0] if order else next(iter(chosen.readings.plan.axes), None)


def by_size(chosen: Selection) -> list[str]:
    """Return the axes that vary: those of numbers with three values or more, then by values."""

    def rank(axis: str) -> tuple[bool, int]:
        count = len(chosen.values(axis))
        return (not (count > 2 and chosen.numbers(axis) is not None), -count)

    return sorted(chosen.varied, key=rank)


def series(chosen: Selection, taken: Collection[str]) -> str | None:
    """Return the axis to colour by: of words with the most values up to eight, else of numbers."""

    def rank(axis: str) -> tuple[bool, int]:
        return (chosen.numbers(axis) is not None, -len(chosen.values(axis)))

    free = [axis for axis in chosen.varied if axis not in taken]
    few = [axis for axis in free if len(chosen.values(axis)) <= len(style.SERIES)]
    return min(few or free, key=rank, default=None)


def first(chosen: Selection, taken: Collection[str | None]) -> str | None:
    """Return the first axis with up to eight values that is not taken."""
    free = (axis for axis in chosen.varied if axis not in taken)
    return next((axis for axis in free if len(chosen.values(axis)) <= len(style.SERIES)), None)


def conditions(chosen: Selection) -> list[str]:
    """Return the axes that are conditions by their names; none if all are."""
    found = [axis for axis in chosen.varied if _CONDITIONS & set(axis.split("."))]
    return [] if len(found) == len(chosen.varied) else found


def rate(metrics: Sequence[str]) -> str | None:
    """Return the first metric that is a rate."""
    return next((metric for metric in metrics if metric.endswith("_bps")), None)


def delay(metrics: Sequence[str]) -> str | None:
    """Return the first metric that is a delay."""
    return next((metric for metric in metrics if _DELAY.search(metric.rpartition(".")[2])), None)


def defaults(plot: SweepPlot) -> dict[str, Figure]:
    """Return the figures that suit a sweep; see `SweepPlot.defaults`."""
    readings = plot.sweep.readings
    plan = readings.plan
    chosen = selected(readings, None)
    wanted: dict[str, Callable[[], Figure]] = {}
    if rate(plan.metrics) and delay(plan.metrics) and len(plan.points) > 1:
        wanted["pareto"] = plot.pareto
    numbers = [axis for axis in by_size(chosen) if chosen.numbers(axis) is not None]
    for metric in plan.metrics[:_MOST_METRICS]:
        if chosen.varied:
            wanted[f"lines-{metric}"] = partial(plot.lines, metric)
        if len(numbers) > 1:
            wanted[f"heatmap-{metric}"] = partial(plot.heatmap, metric)
    if "simulate" in plan.engines and plan.metrics:
        metric = plan.metrics[0]
        words = next((axis for axis in chosen.varied if chosen.numbers(axis) is None), None)
        if words is not None and plan.rule.most > 1:
            first = next(iter(chosen.values(words)))
            at = next(place for place in chosen.places if chosen.key(place, words) == first)
            base = chosen.point(at).labels[words]
            wanted[f"forest-{metric}"] = partial(plot.forest, words, metric, base)
        if plan.rule.least >= _ENOUGH_FOR_ECDF:
            wanted[f"ecdf-{metric}"] = partial(plot.ecdf, metric)
    found = {}
    for stem, draw in wanted.items():
        try:
            found[stem] = draw()
        except BadValueError:
            # More than can be read; the user can choose a part of it.
            continue
    return found
