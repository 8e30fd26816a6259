"""What a sweep still needs: replications of each job, handed out in units of known length."""

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
    """The replications of one job with one seed: those of a point, or of points that are equal.

    Parameters
    ----------
    job : Job
        What is run.
    seed : int
        Master seed.
    rule : Rule
        How many.
    stopping : Stopping
        What the rule says of the replications without a gap from 0 on.
    points : sequence of Point
        Those that have this job.
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
    """Whether a replication failed: no more are run."""
    taken: int = 0
    """Replications below this were finished or handed out."""
    outlines: Outlines = field(default_factory=Outlines)
    """Of the replications without a gap from 0 on."""
    _early: dict[int, tuple[float | None, RunOutline | None]] = field(default_factory=dict)
    _stored: set[int] = field(default_factory=set)

    def resume(self, values: Mapping[int, Values]) -> None:
        """Take what is stored."""
        self._stored = set(values)
        for number in sorted(values):
            self.enter(number, values[number])

    @property
    def is_done(self) -> bool:
        """Whether there are enough."""
        return self.stopping.counted is not None

    def more(self, most: int) -> Unit | None:
        """Return the next replications to run, at most `most`; None when there is none now."""
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
        """Enter a finished replication; the order does not matter."""
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
    """How long replications take, from those that were finished: of the job, else of all."""

    def __init__(self) -> None:
        self._by_job: dict[str, float] = {}
        self._seconds = 0.0
        self._simulated_s = 0.0

    def learn(self, job: Job, count: int, seconds: float, simulated_s: float) -> None:
        """Enter the time that `count` replications of a job took together."""
        self._by_job[job.digest] = seconds / count
        self._seconds += seconds
        self._simulated_s += count * simulated_s

    def forget(self, job: Job) -> None:
        """Drop a job that is done."""
        self._by_job.pop(job.digest, None)

    def of(self, job: Job, simulated_s: float) -> float | None:
        """Return the estimated seconds of a replication; None when nothing is known."""
        known = self._by_job.get(job.digest)
        if known is None and self._simulated_s > 0:
            # What other jobs took says little: units stay short until there is one of this.
            known = 4 * self._seconds / self._simulated_s * simulated_s
        return None if known is None else max(known, 1e-4)


class Queue:
    """Hands out units, point after point, each opened when its turn comes.

    Parameters
    ----------
    targets : iterable of callable
        Each opens a target; opened in this order, and when the ones before have nothing to do.
    pace : Pace
        How long replications take.
    """

    def __init__(self, targets: Iterable[Callable[[], Target]], pace: Pace) -> None:
        self._unopened = iter(targets)
        self._ready: deque[Target] = deque()
        self._pace = pace

    def put(self, target: Target) -> None:
        """Ask a target again: results of it have come."""
        if target not in self._ready:
            self._ready.append(target)

    def units(self, seconds: float) -> Sequence[Unit]:
        """Return units that take about `seconds` together; none when nothing can be run now."""
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
