"""What a sweep is to run, checked and resolved: points, rule, metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal

from airpath.scenario.labels import labels_of_keys

__all__ = ["ENGINES", "Engine", "Plan", "Point", "Rule"]

Engine = Literal["simulate", "emulate", "solve"]
"""What answers for a point."""

ENGINES: tuple[Engine, ...] = ("simulate", "emulate", "solve")

_NAMES = ", "
"""Between the names of joined plans."""


@dataclass(frozen=True)
class Rule:
    """How many replications a point gets.

    With `metric`, replications are added until the interval of its mean, over the first n of them
    in order, is small enough: half its width is at most `relative` times the mean, or at most
    `absolute`. The answer depends on the replications alone, not on when they were finished.

    Parameters
    ----------
    least, most : int
        Replications. Without a `metric` equal, or those of the points that have their own.
    metric : str, optional
        Whose interval decides.
    relative : float, optional
        Largest half width over the mean, above 0.
    absolute : float, optional
        Largest half width, in the unit of the metric, above 0.
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
        Its place, from 0.
    values : mapping of str to value
        What is varied, by axis, as it was written: numbers, texts, tables.
    labels : mapping of str to str
        What tables and figures call each value.
    digest : str
        Of its job.
    advisories : sequence of mapping, optional
        Advisories on its scenario, each as `Advisory.to_dict` returns it. None in the ledger of an
        earlier version, which recorded none.
    reps : int, optional
        Its number of replications, which replaces the rule of the plan. Default: the rule decides.
    """

    number: int
    values: Mapping[str, Any]
    labels: Mapping[str, str]
    digest: str
    advisories: Sequence[Mapping[str, str]] | None = None
    reps: int | None = None

    @property
    def title(self) -> str:
        """Its number and its values, for messages."""
        about = ", ".join(f"{axis} = {label}" for axis, label in self.labels.items())
        return f"point {self.number}" + (f" ({about})" if about else "")


@dataclass(frozen=True)
class Plan:
    """A whole sweep, without the jobs: what a ledger stores of it.

    Parameters
    ----------
    name : str
        Title of tables, figures and the report.
    axes : sequence of str
        Names of what is varied, in order.
    points : sequence of Point
        In order.
    rule : Rule
        How many replications a point gets that has no `reps`.
    seed : int
        Master seed.
    common_random_numbers : bool
        Whether all points share the seed; else each has its own, drawn from it and the digest.
    confidence : float
        Of the intervals, in (0, 1).
    metrics : sequence of str
        What is wanted, in order.
    engines : sequence of Engine
        What answers for each point.
    series : sequence of str
        Time series that are stored, each of the points that record it.
    base : str
        The base scenario as TOML; empty when it is a function.
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
        """Names of the axes in figures, in words: "queue discipline" for ``bottleneck.aqm``."""
        return {**labels_of_keys(self.axes, self.base), **self.axis_labels}

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        # Not `asdict`, which copies the values of a million points.
        points = [_shallow(point) for point in self.points]
        return {**_shallow(self), "points": points, "rule": _shallow(self.rule)}

    @staticmethod
    def of(document: Mapping[str, Any]) -> Plan:
        """Return the plan that `to_dict` wrote."""
        points = [Point(**point) for point in document["points"]]
        return Plan(**{**document, "points": points, "rule": Rule(**document["rule"])})

    @property
    def replicated(self) -> Engine | None:
        """What runs replications, ``simulate`` or ``emulate``; None if points are only solved."""
        return next((engine for engine in self.engines if engine != "solve"), None)

    def are_pairs(self, first: Point, second: Point) -> bool:
        """Return whether replication r of both points has the same random numbers.

        Emulated replications are never pairs: a seed determines the models, not the kernel's TCP.
        """
        return self.replicated == "simulate" and self.seed_of(first) == self.seed_of(second)

    def rule_of(self, point: Point) -> Rule:
        """Return how many replications a point gets."""
        return self.rule if point.reps is None else Rule(point.reps, point.reps)

    def rules(self) -> dict[tuple[str, int], Rule]:
        """Return how many replications each job gets, by digest and seed.

        Of several points with one job, the one with the most replications decides.
        """
        found: dict[tuple[str, int], Rule] = {}
        for point in self.points:
            key, rule = (point.digest, self.seed_of(point)), self.rule_of(point)
            found[key] = max(found.get(key, rule), rule, key=lambda each: each.most)
        return found

    def joined(self, other: Plan | None, stays: Callable[[Point], bool]) -> Plan:
        """Return the plan with the points of an earlier one after its own.

        A point of both gets the larger number of replications. Points of another seed are left
        out. Labels are those of all values together. Plans of several names have all of them, and
        the largest confidence.

        Parameters
        ----------
        other : Plan or None
            The earlier plan.
        stays : callable
            Returns whether a point that only the earlier plan has stays.
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
