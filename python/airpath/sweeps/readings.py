"""Reads the data of a sweep from its ledger: for each point, the replications that count.

A replication *counts* if the results use it: replications 0, 1, 2, … up to the number at which the
stopping rule is met.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from airpath.results.intervals import Interval, mean_interval
from airpath.results.quantities import bounds, resolution
from airpath.sweeps.advisories import recorded_advisories
from airpath.sweeps.plan import Engine, Plan, Point
from airpath.sweeps.stopping import counted

if TYPE_CHECKING:
    from airpath.sweeps.job import Job
    from airpath.sweeps.runs import Run

__all__ = ["Own", "PointData", "Readable", "Readings", "Values", "metric_bounds", "read"]

Values = Mapping[str, float | None]
"""Values by metric."""

Own = tuple[Values, str | None]
"""Values of the user's functions for a replication; the error message if a function failed."""

Computed = Callable[["Job", "Run"], Own]
"""Function that evaluates the user's functions on a replication."""


class Readable(Protocol):
    """Read access to a ledger."""

    def plan(self) -> Plan | None:
        """Return the plan of the sweep."""

    def job(self, digest: str) -> Job | None:
        """Return the job of the points with a digest."""

    def values(self, digest: str, seed: int) -> Mapping[int, Values]:
        """Return the stored metrics by replication."""

    def runs(self, digest: str, seed: int) -> Iterator[Run]:
        """Yield the stored replications."""

    def failed(self, digest: str, seed: int) -> Mapping[int, str]:
        """Return the failure messages by replication."""

    def advisories(self, digest: str, seed: int) -> tuple[int, Sequence[Mapping[str, str]]] | None:
        """Return the number of replications, and the advisories on these replications."""

    def solved(self, digest: str) -> Values | str | None:
        """Return the metrics of the analytic model, or the reason why it has no solution."""


@dataclass(frozen=True)
class PointData:
    """Data of one point.

    Parameters
    ----------
    point : Point
        The point.
    values : sequence of mapping
        The metrics of the replications that count, in order from replication 0 on.
    complete : bool
        Whether `values` has as many replications as the rule requires.
    failures : mapping of int to str
        Maps the index of a failed replication to the reason (run or user-defined metric failed).
    solved : mapping, str or None
        Solution of the analytic model, or the reason why it has none; None if it was not requested.
    advisories : sequence of mapping
        Recorded advisories, each as returned by `Advisory.to_dict`: first on the scenario, then on
        the replications.
    has_all_advisories : bool
        Whether both kinds are recorded. Advisories on replications are recorded once the point has
        enough replications; earlier versions did not record them.
    """

    point: Point
    values: Sequence[Values]
    complete: bool
    failures: Mapping[int, str] = field(default_factory=dict)
    solved: Values | str | None = None
    advisories: Sequence[Mapping[str, str]] = ()
    has_all_advisories: bool = False


@dataclass(frozen=True)
class Readings:
    """Data of a complete sweep.

    Parameters
    ----------
    plan : Plan
        Plan of the sweep.
    points : sequence of PointData
        Data of the points, in the order of the plan.
    own : sequence of str
        Metrics that are functions of the user.
    """

    plan: Plan
    points: Sequence[PointData]
    own: Sequence[str] = ()

    @property
    def first_engine(self) -> Engine:
        """Engine to show if only one is shown: the replicated engine if any."""
        return self.plan.replicated or "solve"

    def column(self, place: int, metric: str) -> list[float]:
        """Return a metric at a point for each replication that counts; NaN if not measured."""
        return [_number(values.get(metric)) for values in self.points[place].values]

    def interval(self, place: int, metric: str, engine: Engine = "simulate") -> Interval:
        """Return the mean of a metric at a point; the value of a model has no interval.

        Parameters
        ----------
        place : int
            Place of the point in the plan.
        metric : str
            Metric of the plan.
        engine : Engine
            Engine of the value. Default: the simulation.
        """
        confidence = self.plan.confidence
        if engine != "solve":
            values = self.column(place, metric)
            if metric in self.own:
                return mean_interval(values, confidence)
            return mean_interval(values, confidence, metric_bounds(metric), resolution(metric))
        solved = self.points[place].solved
        value = _number(solved.get(metric)) if isinstance(solved, Mapping) else math.nan
        return Interval(value, math.nan, math.nan, confidence, 0)


def metric_bounds(metric: str) -> tuple[float, float]:
    """Return the smallest and largest possible value of a metric, from the end of its name."""
    return bounds(metric.rpartition(".")[2])


def read(
    ledger: Readable, plan: Plan, own: Sequence[str] = (), compute: Computed | None = None
) -> Readings:
    """Read a sweep from a ledger.

    The replications that count are 0, 1, 2, … up to the number at which the stopping rule is met,
    or up to the first missing replication. Other finished replications are ignored, so that the
    tables do not depend on the order in which replications finish.

    Parameters
    ----------
    ledger : Readable
        Ledger to read.
    plan : Plan
        Plan of the sweep.
    own : sequence of str
        Metrics that are functions of the user.
    compute : callable, optional
        Evaluates these functions on a replication; their values are not in the ledger.
    """
    return Readings(plan, [_read_point(ledger, plan, point, compute) for point in plan.points], own)


def _read_point(ledger: Readable, plan: Plan, point: Point, compute: Computed | None) -> PointData:
    seed = plan.seed_of(point)
    solved = ledger.solved(point.digest) if "solve" in plan.engines else None
    if plan.replicated is None:
        return PointData(point, [], solved is not None, {}, solved, (), True)
    stored = dict(ledger.values(point.digest, seed))
    broken: dict[int, str] = {}
    if compute is not None and (job := ledger.job(point.digest)) is not None:
        for run in ledger.runs(point.digest, seed):
            own, why = compute(job, run)
            stored[run.replication] = {**stored.get(run.replication, {}), **own}
            if why is not None:
                broken[run.replication] = why
    values: list[Values] = []
    while len(values) < plan.rule_of(point).most and len(values) in stored:
        values.append(stored[len(values)])
    number = _counted(plan, point, values)
    failures = {n: why for n, why in ledger.failed(point.digest, seed).items() if n not in stored}
    failures |= {n: why for n, why in broken.items() if n < len(values[:number])}
    complete = number is not None and ("solve" not in plan.engines or solved is not None)
    noted, has_all = recorded_advisories(ledger, point, seed, number)
    return PointData(point, values[:number], complete, failures, solved, noted, has_all)


def _counted(plan: Plan, point: Point, values: Sequence[Values]) -> int | None:
    rule = plan.rule_of(point)
    decides = [None if rule.metric is None else each.get(rule.metric) for each in values]
    return counted(rule, decides, plan.confidence)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
