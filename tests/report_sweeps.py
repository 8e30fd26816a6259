"""A small synthetic sweep as a ledger, for tests of its report."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airpath import _airpath
from airpath.sweeps.job import Job
from airpath.sweeps.ledger import Ledger
from airpath.sweeps.plan import Plan, Point, Rule
from airpath.sweeps.runs import Run

__all__ = ["GRID", "VARYING", "write_sweep"]

BASE = """\
[bottleneck]
aqm = {kind = "droptail"}
[[flows]]
cc = "newreno"
"""
GRID: Mapping[str, Sequence[Any]] = {
    "bottleneck.aqm": [{"kind": "droptail"}, {"kind": "codel"}, {"kind": "pie"}],
    "flows.0.cc": ["newreno", "cubic"],
    "bottleneck.link.rate": ["1 Mbit/s", "5 Mbit/s"],
}
VARYING = ("p95_sojourn_s", "mean_sojourn_s", "p95_delay_s", "p99_delay_s", "drop_share", "jain")


def write_sweep(
    directory: Path,
    *,
    reps: int = 4,
    missing: Sequence[int] = (),
    failed: Mapping[int, str] | None = None,
    name: str = "Three queues",
    grid: Mapping[str, Sequence[Any]] = GRID,
    **more: Any,
) -> Path:
    """Write a ledger with synthetic replications. Return its path.

    Parameters
    ----------
    directory : Path
        Existing target directory.
    reps : int
        Number of replications of each point.
    missing : sequence of int
        Points without their last replication.
    failed : mapping of int to str, optional
        Points whose last replication failed, with the message.
    name, grid
        Name and grid of the plan.
    **more
        Further arguments of the plan.
    """
    why = dict(failed or {})
    points = [
        Point(number, dict(zip(grid, values, strict=True)), _labels(grid, values), _digest(number))
        for number, values in enumerate(itertools.product(*grid.values()))
    ]
    settings: dict[str, Any] = {
        "rule": Rule(reps, reps),
        "metrics": ["goodput_bps", "p95_sojourn_s"],
        "engines": ["simulate"],
        "base": BASE,
        **more,
    }
    plan = Plan(
        name,
        axes=list(grid),
        points=points,
        seed=1,
        common_random_numbers=True,
        confidence=0.99,
        **settings,
    )
    path = directory / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        ledger.set_plan(plan, {of.digest: Job(name, (), (), of.digest) for of in points})
        for of in points:
            count = reps - (of.number in missing or of.number in why)
            ledger.add([(_run(of, each), _measured(of, each)) for each in range(count)])
            if of.number in why:
                ledger.add_failure(of.digest, plan.seed, count, why[of.number])
    return path


def _labels(grid: Mapping[str, Sequence[Any]], values: Sequence[Any]) -> dict[str, str]:
    texts = [each["kind"] if isinstance(each, Mapping) else str(each) for each in values]
    return dict(zip(grid, texts, strict=True))


def _digest(number: int) -> str:
    return f"{number:064x}"


def _run(of: Point, replication: int) -> Run:
    version, commit = _airpath.version(), _airpath.commit()
    return Run(of.digest, 1, replication, version, commit, 0.1, b"packed")


def _measured(of: Point, replication: int) -> dict[str, float | None]:
    wave = math.sin(1.7 * of.number + 0.9 * replication)
    shared = math.cos(2.1 * replication)
    return {
        "goodput_bps": 4e6 + 1e5 * of.number + 3e4 * shared + 5e3 * wave,
        "utilisation": 1.0,
        **dict.fromkeys(VARYING, 0.15 - 0.01 * (of.number % 5) + 2e-3 * wave),
    }
