"""Missing replications of a sweep, divided into units of a target duration."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from airpath.sweeps.advisories import Outlines
from airpath.sweeps.job import Job
from airpath.sweeps.plan import Point, Rule
from airpath.sweeps.stopping import Stopping
from airpath.sweeps.tasks import Unit

if TYPE_CHECKING:
    from airpath.results.remarks import RunOutline

__all__ = ["Pace", "Queue", "Target"]

Values = Mapping[str, float | None]


@dataclass(eq=False)
class Target:
    """Replications of one job with one seed, for one point or several equal points.

    Parameters
    ----------
    job : Job
        Job to run.
    seed : int
        Master seed.
    rule : Rule
        Rule for the number of replications.
    stopping : Stopping
        State of the rule after the finished replications 0, 1, 2, … without a gap.
    points : sequence of Point
        Points that have this job.
    simulated_s : float
        Simulated time of a replication, s.
    """

    job: Job
    seed: int
    rule: Rule
    stopping: Stopping
    points: Sequence[Point] = ()
    simulated_s: float = 0.0
    failed: bool = False
    """Whether a replication failed; then no further replications run."""
    taken: int = 0
    """Replications with lower numbers are finished or dispatched."""
    outlines: Outlines = field(default_factory=Outlines)
    """Outlines of the finished replications 0, 1, 2, … without a gap."""
    _early: dict[int, tuple[float | None, RunOutline | None]] = field(default_factory=dict)
    _stored: set[int] = field(default_factory=set)

    def resume(self, values: Mapping[int, Values]) -> None:
        """Add the replications that the ledger already contains."""
        self._stored = set(values)
        for number in sorted(values):
            self.enter(number, values[number])

    @property
    def is_done(self) -> bool:
        """Whether enough replications are finished."""
        return self.stopping.counted is not None

    def more(self, most: int) -> Unit | None:
        """Return at most `most` replications to run next; None if no replication can run now."""
        if self.is_done or self.failed:
            return None
        wanted = self.stopping.wanted
        first = self.taken
        while first < wanted and first in self._stored:
            self._stored.remove(first)
            first += 1
        last = first
        while last < min(wanted, first + most) and last not in self._stored:
            last += 1
        self.taken = last
        return Unit(self.job, self.seed, first, last - first) if last > first else None

    def enter(self, number: int, values: Values, outline: RunOutline | None = None) -> None:
        """Add a finished replication. Replications may finish in any order."""
        metric = self.rule.metric
        self._early[number] = (None if metric is None else values.get(metric), outline)
        while not self.is_done and self.stopping.seen in self._early:
            value, outline = self._early.pop(self.stopping.seen)
            self.stopping.extend([value])
            self.outlines.add(outline)
        if self.is_done:
            self._early.clear()
            self._stored.clear()


class Pace:
    """Estimates the duration of replications from finished replications of the job or all jobs."""

    def __init__(self) -> None:
        self._by_job: dict[str, float] = {}
        self._seconds = 0.0
        self._simulated_s = 0.0

    def learn(self, job: Job, count: int, seconds: float, simulated_s: float) -> None:
        """Enter the total time of `count` replications of a job."""
        self._by_job[job.digest] = seconds / count
        self._seconds += seconds
        self._simulated_s += count * simulated_s

    def forget(self, job: Job) -> None:
        """Remove a finished job."""
        self._by_job.pop(job.digest, None)

    def of(self, job: Job, simulated_s: float) -> float | None:
        """Return the estimated duration of a replication, s; None if no replication is finished."""
        known = self._by_job.get(job.digest)
        if known is None and self._simulated_s > 0:
            # Other jobs give a poor estimate. The factor 4 keeps units short until this job has
            # a finished replication.
            known = 4 * self._seconds / self._simulated_s * simulated_s
        return None if known is None else max(known, 1e-4)


class Queue:
    """Queue of units in the order of the points; a target is opened only when it is needed.

    Parameters
    ----------
    targets : iterable of callable
        Functions that open a target. They are called in order, each when earlier targets have no
        more units.
    pace : Pace
        Duration of replications.
    """

    def __init__(self, targets: Iterable[Callable[[], Target]], pace: Pace) -> None:
        self._unopened = iter(targets)
        self._ready: deque[Target] = deque()
        self._pace = pace

    def put(self, target: Target) -> None:
        """Add a target again after some of its results have arrived."""
        if target not in self._ready:
            self._ready.append(target)

    def units(self, seconds: float) -> Sequence[Unit]:
        """Return units with a total duration of about `seconds`; empty if none can run now."""
        units: list[Unit] = []
        left = seconds
        while left > 0 and (target := self._first()) is not None:
            pace = self._pace.of(target.job, target.simulated_s)
            unit = target.more(1 if pace is None else max(1, int(left / pace)))
            if unit is None:
                self._ready.popleft()
                continue
            units.append(unit)
            if pace is None:
                break
            left -= pace * unit.count
        return units

    def _first(self) -> Target | None:
        while not self._ready:
            opened = next(self._unopened, None)
            if opened is None:
                return None
            self._ready.append(opened())
        return self._ready[0]
