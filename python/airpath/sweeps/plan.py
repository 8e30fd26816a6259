"""Plan of a sweep, checked and resolved: points, stopping rule, metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal

from airpath.scenario.labels import labels_of_keys

__all__ = ["ENGINES", "Engine", "Plan", "Point", "Rule"]

Engine = Literal["simulate", "emulate", "solve"]
"""Engine that computes the metrics of a point."""

ENGINES: tuple[Engine, ...] = ("simulate", "emulate", "solve")

_NAMES = ", "
"""Separator between the names of joined plans."""


@dataclass(frozen=True)
class Rule:
    """Stopping rule: number of replications of a point.

    With `metric`, replications are added until the half-width of the metric's confidence interval
    is at most `relative` times the mean, or at most `absolute`. The interval is computed from
    replications 0 to n - 1, so the result does not depend on the order in which replications
    finish.

    Parameters
    ----------
    least, most : int
        Smallest and largest number of replications. Without `metric`, they are equal, or they are
        the range over points that have an individual number.
    metric : str, optional
        Metric whose confidence interval is tested.
    relative : float, optional
        Upper limit of the half-width divided by the mean, above 0.
    absolute : float, optional
        Upper limit of the half-width, in the unit of the metric, above 0.
    """

    least: int
    most: int
    metric: str | None = None
    relative: float | None = None
    absolute: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a sweep.

    Parameters
    ----------
    number : int
        Number of the point, counted from 0.
    values : mapping of str to value
        Values by axis, as written in the sweep: numbers, texts, tables.
    labels : mapping of str to str
        Label of each value in tables and figures, by axis.
    digest : str
        Digest of the point's job.
    advisories : sequence of mapping, optional
        Advisories on the scenario, each as returned by `Advisory.to_dict`. None if a ledger of an
        earlier version did not record advisories.
    reps : int, optional
        Number of replications, which replaces the rule of the plan. Default: the rule decides.
    """

    number: int
    values: Mapping[str, Any]
    labels: Mapping[str, str]
    digest: str
    advisories: Sequence[Mapping[str, str]] | None = None
    reps: int | None = None

    @property
    def title(self) -> str:
        """Number and values of the point, for messages."""
        about = ", ".join(f"{axis} = {label}" for axis, label in self.labels.items())
        return f"point {self.number}" + (f" ({about})" if about else "")


@dataclass(frozen=True)
class Plan:
    """Plan of a sweep without the jobs, as stored in a ledger.

    Parameters
    ----------
    name : str
        Title of tables, figures and the report.
    axes : sequence of str
        Names of the axes, in order.
    points : sequence of Point
        Points in order.
    rule : Rule
        Number of replications of points without `reps`.
    seed : int
        Master seed.
    common_random_numbers : bool
        Whether all points share the seed; otherwise the seed of each point is derived from `seed`
        and the digest.
    confidence : float
        Confidence of the intervals, in (0, 1).
    metrics : sequence of str
        Names of the metrics, in order.
    engines : sequence of Engine
        Engines that compute each point.
    series : sequence of str
        Time series that are stored, for the points that record them.
    base : str
        The base scenario as TOML; empty if it is a function.
    axis_labels, metric_labels : mapping of str to str
        Names of axes and metrics that the user chose for figures. Default: none.
    """

    name: str
    axes: Sequence[str]
    points: Sequence[Point]
    rule: Rule
    seed: int
    common_random_numbers: bool
    confidence: float
    metrics: Sequence[str]
    engines: Sequence[Engine]
    series: Sequence[str] = ()
    base: str = ""
    axis_labels: Mapping[str, str] = field(default_factory=dict)
    metric_labels: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Readable names of the axes in figures: "queue discipline" for ``bottleneck.aqm``."""
        return {**labels_of_keys(self.axes, self.base), **self.axis_labels}

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, for JSON."""
        # `asdict` would copy the values of up to a million points.
        points = [_shallow(point) for point in self.points]
        return {**_shallow(self), "points": points, "rule": _shallow(self.rule)}

    @staticmethod
    def of(document: Mapping[str, Any]) -> Plan:
        """Return the plan from the output of `to_dict`."""
        points = [Point(**point) for point in document["points"]]
        return Plan(**{**document, "points": points, "rule": Rule(**document["rule"])})

    @property
    def replicated(self) -> Engine | None:
        """Engine that runs the replications; None if the sweep only solves analytic models."""
        return next((engine for engine in self.engines if engine != "solve"), None)

    def are_pairs(self, first: Point, second: Point) -> bool:
        """Return whether replication r of both points has the same random numbers.

        Emulated replications are never pairs: a seed determines the models, not the kernel's TCP.
        """
        return self.replicated == "simulate" and self.seed_of(first) == self.seed_of(second)

    def rule_of(self, point: Point) -> Rule:
        """Return the rule for the number of replications of a point."""
        return self.rule if point.reps is None else Rule(point.reps, point.reps)

    def rules(self) -> dict[tuple[str, int], Rule]:
        """Return the rule for the number of replications of each job, by digest and seed.

        If several points share a job, the point with the most replications decides.
        """
        found: dict[tuple[str, int], Rule] = {}
        for point in self.points:
            key, rule = (point.digest, self.seed_of(point)), self.rule_of(point)
            found[key] = max(found.get(key, rule), rule, key=lambda each: each.most)
        return found

    def joined(self, other: Plan | None, stays: Callable[[Point], bool]) -> Plan:
        """Return this plan with the points of an earlier plan appended.

        A point that is in both plans gets the larger number of replications. If the seeds differ,
        no points are appended. The labels are computed again, so that they distinguish all values.
        If the plans have different names, the result has both names and the larger confidence.

        Parameters
        ----------
        other : Plan or None
            The earlier plan.
        stays : callable
            Function that returns whether a point that is only in the earlier plan is kept.
        """
        from airpath.sweeps.axes import key_of, labels_by_axis

        if other is None or other.seed != self.seed:
            return self
        own = {point.digest for point in self.points}
        kept = [point for point in other.points if point.digest not in own and stays(point)]
        points = [*self.points, *kept]
        counts: dict[str, int] = {}
        for plan in (self, other):
            for point in plan.points:
                counts[point.digest] = max(plan.rule_of(point).most, counts.get(point.digest, 0))
        reps = [counts[point.digest] for point in points]
        labels = labels_by_axis([point.values for point in points])
        names = dict.fromkeys([*other.name.split(_NAMES), self.name] if kept else [self.name])
        return replace(
            self,
            name=_NAMES.join(names),
            confidence=max(self.confidence, other.confidence if len(names) > 1 else 0.0),
            points=[
                replace(
                    point,
                    number=number,
                    labels={a: labels[a][key_of(value)] for a, value in point.values.items()},
                    reps=reps[number],
                )
                for number, point in enumerate(points)
            ],
            axes=tuple(labels),
            series=tuple(dict.fromkeys((*self.series, *(other.series if kept else ())))),
            rule=Rule(min(reps), max(reps)),
        )

    def seed_of(self, point: Point) -> int:
        """Return the master seed of a point's replications, 0 to 2^64 - 1."""
        if self.common_random_numbers:
            return self.seed
        import hashlib

        text = f"{self.seed} {point.digest}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _shallow(of: Point | Plan | Rule) -> dict[str, Any]:
    return {each.name: getattr(of, each.name) for each in fields(of)}
