"""Runs the points of a paper as one sweep, and returns their replications and recorded series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from airpath import _airpath
from airpath.engine.advisory import find_advisories
from airpath.engine.inputs import Reading
from airpath.errors import RunError
from airpath.interrupts import stop_on_ctrl_c, until
from airpath.present.timelines import levels_at
from airpath.sweeps.api import failure_text, run_description
from airpath.sweeps.axes import key_of, labels_by_axis
from airpath.sweeps.description import Description
from airpath.sweeps.job import Job, job_of
from airpath.sweeps.keys import DEFAULT_METRICS
from airpath.sweeps.ledger import Build
from airpath.sweeps.plan import Plan, Point, Rule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from airpath.present.progress import ProgressCallback
    from airpath.sweeps.result import Sweep

__all__ = ["Found", "Series", "Simulated", "Wanted", "simulated"]


class Wanted(NamedTuple):
    """Point to run: its axis values, its scenario, its number of replications."""

    values: Mapping[str, Any]
    scenario: Any
    replications: int


@dataclass(frozen=True)
class Series:
    """Recorded time series: times in s, values, and the index of each value's flow or queue."""

    time_s: NDArray[np.float64]
    ids: NDArray[np.uint32]
    value: NDArray[np.float64]

    def of(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the times and the values of the flow or queue with this index."""
        chosen = self.ids == number
        return self.time_s[chosen], self.value[chosen]

    def levels(self, number: int, at_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value at each time; before the first recorded time, return the first value."""
        return levels_at(*self.of(number), at_s)

    def sums(self, number: int, edges_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the values in each bin between consecutive edges, s."""
        times, values = self.of(number)
        found: NDArray[np.float64] = np.histogram(times, bins=edges_s, weights=values)[0]
        return found


def _nothing_recorded(name: str, replication: int) -> Series:
    raise LookupError(f"{name} of replication {replication} was not recorded")


@dataclass(frozen=True)
class Simulated:
    """The finished replications of one point.

    Parameters
    ----------
    replications : sequence of mapping
        Statistics of each replication, as reported by the engine.
    series : callable
        Function of the name of a series and the index of a replication; returns the recorded
        series. Default: no series is recorded.
    """

    replications: Sequence[Mapping[str, Any]]
    series: Callable[[str, int], Series] = _nothing_recorded

    def chosen(self, numbers: Sequence[int]) -> Simulated:
        """Return the replications at the given indices (from 0), in this order."""
        return Simulated(
            [self.replications[number] for number in numbers],
            lambda name, place: self.series(name, numbers[place]),
        )


@dataclass(frozen=True)
class Found:
    """Result of one run of a paper's points.

    Parameters
    ----------
    points : sequence of Simulated
        Results, in the order of the requested points.
    interrupted : bool
        True if Ctrl-C ended the run early.
    others : mapping of Build to int
        Maps each other version of Airpath to its number of stored replications that are used.
    """

    points: Sequence[Simulated]
    interrupted: bool = False
    others: Mapping[Build, int] = field(default_factory=dict)


def simulated(
    wanted: Sequence[Wanted],
    *,
    name: str,
    confidence: float,
    seed: int,
    stays: Callable[[Point], bool] = lambda _point: True,
    directory: Path | None = None,
    accept_version: bool = False,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Found:
    """Run the replications that a ledger does not contain yet, and return all replications.

    Parameters
    ----------
    wanted : sequence of Wanted
        The points.
    name : str
        Name of the sweep.
    confidence : float
        Confidence level of the intervals, in (0, 1).
    seed : int
        Master seed.
    stays : callable
        Function that returns whether a point of an earlier run is kept in the plan of the ledger.
        Default: all points are kept.
    directory : Path, optional
        Directory of the ledger. Default: a temporary directory, which is deleted together with the
        result.
    accept_version : bool
        True to use replications that the ledger contains from other versions of Airpath. Default
        False: they are not used, and a warning is issued.
    threads, progress
        As in `airpath.sweep`.

    Raises
    ------
    BadValueError
        If the ledger is damaged, or series are recorded and pyarrow is not installed.
    RunError
        If a replication fails.
    KeyboardInterrupt
        After Ctrl-C before the first replication.
    """
    with stop_on_ctrl_c() as stop:
        jobs, contents = _jobs(until(stop, wanted))
    counts: dict[str, int] = {}
    for job, (_, _, reps) in zip(jobs, wanted, strict=True):
        counts[job.digest] = max(reps, counts.get(job.digest, 0))
    plan = _plan(wanted, jobs, counts, name, confidence, seed)
    description = Description(
        plan, {job.digest: job for job in jobs}, contents, {}, lambda n: wanted[n].scenario
    )
    sweep, outcome = run_description(
        description,
        out=directory,
        threads=threads,
        fail_fast=True,
        accept_version=accept_version,
        stays=stays,
        notify=progress,
    )
    if outcome.failed:
        raise RunError(failure_text(outcome))
    numbers = {point.digest: point.number for point in plan.points}
    runs = {digest: sweep.replications(number) for digest, number in numbers.items()}
    builds = Counter(Build(run.version, run.commit) for found in runs.values() for run in found)
    del builds[Build(_airpath.version(), _airpath.commit())]
    points = []
    for job, (_, scenario, reps) in zip(jobs, wanted, strict=True):
        series = partial(_series, sweep, numbers[job.digest], scenario.record.series)
        measured = [run.measured() for run in runs[job.digest][:reps]]
        points.append(Simulated(measured, lru_cache(1)(series)))
    return Found(points, outcome.interrupted, builds)


def _jobs(wanted: Iterable[Wanted]) -> tuple[list[Job], dict[str, str]]:
    """Return the jobs, one per scenario, and the contents of the scenarios' files."""
    reading, contents, jobs = Reading(), {}, []
    for _, scenario, _ in wanted:
        job, read = job_of(scenario, scenario.record.series, reading)
        jobs.append(job)
        contents.update(read)
    return jobs, contents


def _plan(
    wanted: Sequence[Wanted],
    jobs: Sequence[Job],
    counts: Mapping[str, int],
    name: str,
    confidence: float,
    seed: int,
) -> Plan:
    """Return the plan. It has one point per distinct job, with its largest replication count."""
    texts = labels_by_axis([each.values for each in wanted])
    points: dict[str, Point] = {}
    for job, (values, scenario, _) in zip(jobs, wanted, strict=True):
        if job.digest not in points:
            labels = {axis: texts[axis][key_of(value)] for axis, value in values.items()}
            noted = [each.to_dict() for each in find_advisories(scenario, job.resolved)]
            about = (len(points), values, labels, job.digest, noted, counts[job.digest])
            points[job.digest] = Point(*about)
    return Plan(
        name=name,
        axes=tuple(texts),
        points=list(points.values()),
        rule=Rule(min(counts.values()), max(counts.values())),
        seed=seed,
        common_random_numbers=True,
        confidence=confidence,
        metrics=DEFAULT_METRICS,
        engines=("simulate",),
        series=tuple(
            dict.fromkeys(name for each in wanted for name in each.scenario.record.series)
        ),
    )


def _series(
    sweep: Sweep, point: int, recorded: Sequence[str], name: str, replication: int
) -> Series:
    if name not in recorded:
        raise LookupError(f"{name} was not recorded")
    table = sweep.series(point, name, replication)
    return Series(*(table[column].to_numpy() for column in ("time_s", "id", "value")))
