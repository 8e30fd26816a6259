"""Progress of a sweep, read from its ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.sweeps.advisories import group_by_kind, recorded_advisories
from airpath.sweeps.ledger.ledger import Ledger
from airpath.sweeps.ledger.lock import coordinator_of
from airpath.sweeps.ledger.status import Build, Stored

if TYPE_CHECKING:
    from airpath.sweeps.plan import Plan, Point

__all__ = ["Failure", "Overview", "overview"]


@dataclass(frozen=True)
class Failure:
    """Failed replication.

    Parameters
    ----------
    point : int or None
        Number of the point; None if no point of the plan has this job.
    replication : int
        Index of the replication, from 0.
    message : str
        Error message.
    """

    point: int | None
    replication: int
    message: str


@dataclass(frozen=True)
class Overview:
    """Progress of a sweep.

    Parameters
    ----------
    name : str or None
        Name of the sweep; None if the ledger has no plan.
    points, finished_points : int
        Number of points, and number of points that have enough replications.
    wanted : tuple of (int, int)
        Smallest and largest total number of replications that the plan may need.
    replications : int
        Number of stored replications within the plan: at most the largest number for each point.
    others : int
        Number of stored replications that the plan does not need.
    failures : sequence of Failure
        Failures in the order of the points.
    advisories : mapping of str to int
        Maps the code of an advisory to the number of points with this advisory.
    unrecorded : int
        Number of finished points without recorded advisories, because an earlier version ran them.
    cpu_s : float
        Processor time of all stored replications, s.
    builds : mapping of Build to int
        Number of replications of each version.
    coordinator : int or None
        ID of the process that is writing the ledger; 0 if the ID is unknown; None if no process is
        writing the ledger.
    """

    name: str | None
    points: int
    finished_points: int
    wanted: tuple[int, int]
    replications: int
    others: int
    failures: Sequence[Failure]
    advisories: Mapping[str, int]
    unrecorded: int
    cpu_s: float
    builds: Mapping[Build, int]
    coordinator: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the overview as plain values, for JSON."""
        return {
            "name": self.name,
            "points": self.points,
            "finished_points": self.finished_points,
            "wanted": {"least": self.wanted[0], "most": self.wanted[1]},
            "replications": self.replications,
            "others": self.others,
            "failures": [vars(failure) for failure in self.failures],
            "advisories": dict(self.advisories),
            "advisories_not_recorded": self.unrecorded,
            "cpu_s": self.cpu_s,
            "versions": [{**vars(build), "replications": n} for build, n in self.builds.items()],
            "coordinator": self.coordinator,
        }


def overview(path: Path) -> Overview:
    """Return the progress of a sweep, which may be running.

    Parameters
    ----------
    path : Path
        Ledger of the sweep.

    Raises
    ------
    BadValueError
        If the file is no ledger, is damaged, or cannot be read.
    """
    with Ledger.read(path) as ledger:
        plan, stored, failed = ledger.plan(), ledger.stored(), ledger.failures()
        total = sum(stored.replications.values())
        keys = {} if plan is None else {(p.digest, plan.seed_of(p)): p.number for p in plan.points}
        done = {} if plan is None else _done(ledger, plan, stored)
        noted = [] if plan is None else list(_noted(ledger, plan, done))
    failures = [Failure(keys.get((digest, seed)), n, why) for digest, seed, n, why in failed]
    rules = {} if plan is None else plan.rules()
    planned = sum(min(stored.replications.get(key, 0), of.most) for key, of in rules.items())
    return Overview(
        name=None if plan is None else plan.name,
        points=0 if plan is None else len(plan.points),
        finished_points=len(done),
        wanted=(sum(of.least for of in rules.values()), sum(of.most for of in rules.values())),
        replications=planned,
        others=total - planned,
        failures=sorted(failures, key=lambda of: (of.point is None, of.point or 0, of.replication)),
        advisories={kind.code: len(kind.points) for kind in group_by_kind(of[:2] for of in noted)},
        unrecorded=sum(of[0].number in done and not of[2] for of in noted),
        cpu_s=stored.cpu_s,
        builds=stored.builds,
        coordinator=coordinator_of(path),
    )


def _done(ledger: Ledger, plan: Plan, stored: Stored) -> dict[int, int]:
    """Return the number of replications that the results use, for each finished point.

    Several points may share a job.
    """
    from airpath.sweeps.stopping import counted

    found = {}
    for point in plan.points:
        key, rule = (point.digest, plan.seed_of(point)), plan.rule_of(point)
        prefix = stored.prefixes.get(key, 0)
        number = rule.most if rule.metric is None and prefix >= rule.most else None
        if rule.metric is not None and prefix >= rule.least:
            values = ledger.values(*key)
            metric = [values[n].get(rule.metric) for n in range(prefix)]
            number = counted(rule, metric, plan.confidence)
        if number is not None:
            found[point.number] = number
    return found


def _noted(
    ledger: Ledger, plan: Plan, done: Mapping[int, int]
) -> Iterator[tuple[Point, list[Mapping[str, str]], bool]]:
    """Yield the replicated points, their advisories, and whether the record is complete."""
    for point in plan.points if plan.replicated else ():
        number = done.get(point.number)
        yield point, *recorded_advisories(ledger, point, plan.seed_of(point), number)
