"""Decides which metrics of a sweep have a column in its report; others have a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from airpath.present.tables import Cell
from airpath.results.estimates import varying
from airpath.results.intervals import ROUNDING
from airpath.sweeps.plan import Engine
from airpath.sweeps.scales import MetricStyle, metric_style

if TYPE_CHECKING:
    from airpath.sweeps.readings import Readings

__all__ = ["Metrics"]


@dataclass(frozen=True)
class Metrics:
    """The metrics of a sweep.

    Parameters
    ----------
    readings : Readings
        The sweep.
    """

    readings: Readings

    @cached_property
    def means(self) -> Mapping[str, list[float]]:
        """Finite means of each metric, over points and engines."""
        found = {
            metric: [
                self.readings.interval(place, metric, engine).mean
                for place in range(len(self.readings.points))
                for engine in self.readings.plan.engines
            ]
            for metric in self.readings.plan.metrics
        }
        return {metric: [*filter(math.isfinite, of)] for metric, of in found.items()}

    @cached_property
    def without_value(self) -> list[str]:
        """Metrics that have no value from any engine at any point."""
        return [metric for metric, means in self.means.items() if not means]

    @cached_property
    def constant(self) -> Mapping[str, str]:
        """Metrics with the same value in all replications of several points, and this value."""
        several = len(self.readings.points) > 1
        return {
            metric: self._in_words(metric, means[0])
            for metric, means in self.means.items()
            if several and means and self._is_constant(metric)
        }

    @cached_property
    def styles(self) -> Mapping[str, MetricStyle]:
        """Name and unit of each metric with a column, which has values that vary."""
        return {
            metric: metric_style(metric, means, self.readings.plan.metric_labels)
            for metric, means in self.means.items()
            if means and metric not in self.constant
        }

    def cell(self, place: int, metric: str, engine: Engine) -> Cell:
        """Return the mean of a metric at a point, ± half the interval, in the metric's unit.

        Parameters
        ----------
        place : int
            Index of the point.
        metric : str
            A metric in `styles`.
        engine : Engine
            Engine that gives the value.
        """
        return varying(self.readings.interval(place, metric, engine), self.styles[metric].scale)

    def _is_constant(self, metric: str) -> bool:
        means = self.means[metric]
        places = range(len(self.readings.points))
        values = (value for place in places for value in self.readings.column(place, metric))
        return all(
            math.isclose(means[0], value, rel_tol=ROUNDING)
            for value in chain(means, filter(math.isfinite, values))
        )

    def _in_words(self, metric: str, value: float) -> str:
        style = metric_style(metric, [value], self.readings.plan.metric_labels)
        return f"{style.name} {value * style.scale:.4g} {style.unit}".rstrip()
