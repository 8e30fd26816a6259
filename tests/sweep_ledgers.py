"""Small sweeps in real ledgers, with synthetic values from a test."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import airpath as ap
from airpath import _airpath
from airpath.sweeps.job import Job
from airpath.sweeps.ledger import Ledger
from airpath.sweeps.plan import Engine, Plan, Point, Rule
from airpath.sweeps.runs import Run

Value = Callable[[Mapping[str, Any], int], Mapping[str, float | None] | str]
"""Function of the axis values of a point and the index of a replication. It returns the metrics of
the replication, or its error message.
"""

GRID = {"cc": ["newreno", "cubic"], "limit": ["100 packets", "50 packets"]}


def digest_of(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def label(value: Any) -> str:
    return str(value["kind"]) if isinstance(value, Mapping) else str(value)


def plan_of(
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    metrics: Sequence[str],
    *,
    rule: Rule | None = None,
    engines: Sequence[Engine] = ("simulate",),
    common: bool = True,
    confidence: float = 0.99,
    name: str = "queues",
) -> Plan:
    """Return the plan of a grid, or of a list of points."""
    if isinstance(grid, Mapping):
        axes = list(grid)
        settings = [dict(zip(axes, row, strict=True)) for row in itertools.product(*grid.values())]
    else:
        settings = [dict(each) for each in grid]
        axes = list(dict.fromkeys(key for each in settings for key in each))
    points = [
        Point(n, each, {key: label(value) for key, value in each.items()}, digest_of(each))
        for n, each in enumerate(settings)
    ]
    rule = rule or Rule(4, 4)
    return Plan(name, axes, points, rule, 1, common, confidence, metrics, engines, base="x = 1\n")


def sweep_of(
    directory: Path,
    plan: Plan,
    value: Value,
    *,
    replications: int | None = None,
    backwards: bool = False,
    solved: Callable[[Mapping[str, Any]], Mapping[str, float | None] | str] | None = None,
    **options: Any,
) -> ap.Sweep:
    """Return a sweep whose replications have the metrics that `value` returns."""
    path = directory / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        jobs = {point.digest: Job("x", (), (), point.digest) for point in plan.points}
        ledger.set_plan(plan, jobs)
        points = list(plan.points)
        for point in reversed(points) if backwards else points:
            if solved is not None:
                ledger.add_solved(point.digest, solved(point.values))
            seed = plan.seed_of(point)
            count = plan.rule.most if replications is None else replications
            numbers = range(count)
            for number in reversed(numbers) if backwards else numbers:
                found = value(point.values, number)
                if isinstance(found, str):
                    ledger.add_failure(point.digest, seed, number, found)
                else:
                    ledger.add([(run_of(point.digest, seed, number, backwards), found)])
    return ap.Sweep(path, **options)


def run_of(digest: str, seed: int, number: int, slow: bool = False) -> Run:
    version, commit = _airpath.version(), _airpath.commit()
    return Run(digest, seed, number, version, commit, 2.0 if slow else 1.0, b"x")
