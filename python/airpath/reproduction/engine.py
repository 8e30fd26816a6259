"""The simulator and the analytic models, as papers call them.

A sweep's coordinator runs the replications that a ledger lacks; recorded series are stored next to
the ledger.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from airpath.engine.inputs import Reading
from airpath.errors import AirpathWarning, ModelWarning, RunError, one_line
from airpath.sweeps.api import TemporaryDirectory
from airpath.sweeps.coordinator import Coordinator, stop_on_ctrl_c
from airpath.sweeps.executors import workers_of
from airpath.sweeps.job import Job, job_of
from airpath.sweeps.ledger import FILE_NAME, Build, Ledger
from airpath.sweeps.plan import Plan, Point, Rule
from airpath.sweeps.progress import Progress as SweepProgress
from airpath.sweeps.series import (
    FOLDER,
    read_series,
    refuse_without_parquet,
    series_file,
    write_series,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from airpath.reproduction.base import Progress

__all__ = ["Compiled", "Series", "Simulated", "Solved", "Wanted"]


class Wanted(NamedTuple):
    """Replications of a scenario, numbered from 0."""

    scenario: Any
    replications: int


@dataclass(frozen=True)
class Series:
    """A recorded series: values, their instants, s, and the flow or queue of each."""

    time_s: NDArray[np.float64]
    ids: NDArray[np.uint32]
    value: NDArray[np.float64]

    def of(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the instants and the values of one flow or queue."""
        chosen = self.ids == number
        return self.time_s[chosen], self.value[chosen]


def _nothing_recorded(name: str, replication: int) -> Series:
    raise LookupError(f"{name} of replication {replication} was not recorded")


@dataclass(frozen=True)
class Simulated:
    """The replications of one scenario: the statistics of each, as the engine reports them.

    Parameters
    ----------
    replications : sequence of mapping
        The finished ones.
    interrupted : bool
        Whether there should have been more.
    series : callable
        Gives a recorded series by its name and the number of a finished replication.
    """

    replications: Sequence[Mapping[str, Any]]
    interrupted: bool
    series: Callable[[str, int], Series] = _nothing_recorded

    def chosen(self, numbers: Sequence[int]) -> Simulated:
        """Return some of the replications, by their numbers, in this order."""
        return Simulated(
            [self.replications[number] for number in numbers],
            self.interrupted,
            lambda name, place: self.series(name, numbers[place]),
        )


@dataclass(frozen=True)
class Solved:
    """The analytic solution of one scenario.

    Parameters
    ----------
    domain : str
        Where it lies: ``R1``, ``B``, ``R2``, ... or ``empty``.
    throughput_bps : float
        Bits of IP packets that reach the receivers, bit/s.
    queue_packets : float
        Queue length, packets.
    alpha : float or None
        Weight of the upper regime at a boundary, in [0, 1]; None elsewhere.
    average_throughput_bps : float or None
        `throughput_bps` averaged over the oscillation of the flows' windows, bit/s.
    """

    domain: str
    throughput_bps: float
    queue_packets: float
    alpha: float | None
    average_throughput_bps: float | None = None


class Compiled:
    """The compiled engine.

    Parameters
    ----------
    folder : Path, optional
        Directory of the ledger, made with the first replication. Default: a temporary one, which
        is removed with the last replication.
    accept_version : bool
        Use the replications of other versions in the ledger like those of this one. Default
        False: they stay unused, with a warning.
    """

    def __init__(self, folder: Path | None = None, accept_version: bool = False) -> None:
        self._folder, self._accept_version = folder, accept_version
        self._others: Counter[Build] = Counter()

    def simulate(
        self,
        wanted: Sequence[Wanted],
        *,
        seed: int,
        threads: int | None,
        progress: Progress | None,
    ) -> Iterable[Simulated]:
        """Return the finished replications of each scenario, in order; fewer after Ctrl-C.

        Raises
        ------
        BadValueError
            If the ledger is damaged, or series are recorded and pyarrow is not installed.
        RunError
            If a replication fails.
        """
        if any(scenario.record.series for scenario, _ in wanted):
            refuse_without_parquet()
        temporary = None if self._folder is not None else TemporaryDirectory()
        place = self._folder or temporary.path  # type: ignore[union-attr]
        run = _Run(wanted, seed, threads, progress, place / FOLDER)
        with _opened(place / FILE_NAME, self._accept_version) as ledger:
            run.run_missing(ledger)
            found = [run.simulated(ledger, at, temporary) for at in range(len(wanted))]
        self._others.update(run.other_builds)
        return found

    def others_used(self) -> dict[str, Any]:
        """Return what to say of results by other versions: nothing when there are none."""
        if not self._others:
            return {}
        counts = sorted(self._others.items())
        return {"other_versions": [{**vars(build), "replications": n} for build, n in counts]}

    def solve(self, scenario: Any, **arguments: Any) -> Solved:
        """Solve the analytic model that matches a scenario, with arguments of `airpath.solve`."""
        from airpath import api
        from airpath.solutions import FixedPoint

        with warnings.catch_warnings():
            # The tables have the average beside the fixed point.
            warnings.simplefilter("ignore", ModelWarning)
            solution = api.solve(scenario, model="fixed-point", **arguments)
        assert isinstance(solution, FixedPoint)
        return Solved(
            solution.domain,
            solution.throughput_bps,
            solution.queue_packets,
            solution.alpha,
            solution.average_throughput_bps,
        )

    def describe(self, scenario: Any) -> Mapping[str, Any]:
        """Return the resolved scenario as plain values, for the provenance."""
        text, _traces = scenario.resolve()
        resolved: Mapping[str, Any] = json.loads(text)
        return resolved

    def build(self) -> Mapping[str, str]:
        """Return ``version`` and ``commit`` of what computes."""
        from airpath import _airpath

        return {"version": _airpath.version(), "commit": _airpath.commit()}


class _Run:
    """Replications of several scenarios with one master seed; `series` is their directory."""

    def __init__(
        self,
        wanted: Sequence[Wanted],
        seed: int,
        threads: int | None,
        progress: Progress | None,
        series: Path,
    ) -> None:
        self._wanted, self._series = wanted, series
        self._seed, self._threads, self._progress = seed, threads, progress
        self._contents: dict[str, str] = {}
        self._jobs: list[Job] = []
        self._recorded: set[str] = set()
        reading = Reading()
        for scenario, _ in wanted:
            job, contents = job_of(scenario, scenario.record.series, reading)
            self._jobs.append(job)
            if scenario.record.series:
                self._recorded.add(job.digest)
            self._contents.update(contents)
        self._done = 0
        self._interrupted = False
        self.other_builds: Counter[Build] = Counter()

    def run_missing(self, ledger: Ledger) -> None:
        """Run what is missing, scenarios with equally many replications together."""
        groups: dict[int, dict[str, Job]] = {}
        for (_, replications), job in zip(self._wanted, self._jobs, strict=True):
            groups.setdefault(replications, {})[job.digest] = job
        for replications, jobs in groups.items():
            if self._interrupted:
                return
            needed = set(range(replications))
            if any(not needed <= self._complete(ledger, digest) for digest in jobs):
                self._coordinate(ledger, jobs, replications)
            self._done += len(jobs)

    def _complete(self, ledger: Ledger, digest: str) -> set[int]:
        """Return the numbers of the finished replications that have their series."""
        finished = ledger.finished(digest, self._seed)
        return {number for number in finished if self._has_series(digest, self._seed, number)}

    def _has_series(self, digest: str, seed: int, number: int) -> bool:
        if digest not in self._recorded:
            return True
        return series_file(self._series, digest, seed, number).exists()

    def _coordinate(self, ledger: Ledger, jobs: Mapping[str, Job], replications: int) -> None:
        plan = Plan(
            name="reproduction",
            axes=(),
            points=[Point(number, {}, {}, digest) for number, digest in enumerate(jobs)],
            rule=Rule(replications, replications),
            seed=self._seed,
            common_random_numbers=True,
            confidence=0.99,
            metrics=(),
            engines=("simulate",),
        )
        workers = workers_of(self._contents, None, self._threads)
        try:
            with stop_on_ctrl_c() as stop:
                ended = Coordinator(
                    plan,
                    jobs,
                    {},
                    ledger,
                    workers,
                    self._contents,
                    progress=SweepProgress(self._reporter(len(jobs))),
                    take_series=lambda run: run.series and write_series(self._series, run),
                    has_series=self._has_series,
                    fail_fast=True,
                ).run(stop)
        finally:
            workers.close()
        if ended.failed:
            raise RunError(ended.first.partition(": ")[2])
        self._interrupted = ended.interrupted

    def _reporter(self, jobs: int) -> Callable[[float, str], None]:
        def report(fraction: float, text: str) -> None:
            if self._progress is not None:
                self._progress((self._done + fraction * jobs) / len(self._jobs), text)

        return report

    def simulated(self, ledger: Ledger, at: int, keeps: object) -> Simulated:
        """Return the stored replications of a scenario; `keeps` is held as long as they are."""
        (scenario, replications), digest = self._wanted[at], self._jobs[at].digest
        stored = ledger.runs(digest, self._seed)
        runs = [run for run in stored if run.replication < replications]
        builds = (Build(run.version, run.commit) for run in runs)
        self.other_builds.update(build for build in builds if build != ledger.own)
        files = [series_file(self._series, digest, self._seed, run.replication) for run in runs]
        interrupted = self._interrupted and len(runs) < replications
        series_of = lru_cache(1)(partial(_recorded, keeps, files, scenario.record.series))
        return Simulated([run.measured() for run in runs], interrupted, series_of)


def _recorded(
    _keeps: object, files: Sequence[Path], recorded: Sequence[str], name: str, number: int
) -> Series:
    if name not in recorded:
        raise LookupError(f"{name} was not recorded")
    table = read_series(files[number], name)
    return Series(*(table[column].to_numpy() for column in ("time_s", "id", "value")))


def _opened(path: Path, accept_version: bool) -> Ledger:
    """Open a ledger, and warn of replications that other versions left there."""
    ledger = Ledger.open(path, accept_version=accept_version, leave_others=True)
    others = [build for build in ledger.versions() if build != ledger.own]
    if others and not accept_version:
        warnings.warn(
            f"{one_line(str(path))}: replications of {', '.join(map(str, others))} are left "
            "alone and run again. --accept-version uses them, airpath sweep prune removes them.",
            AirpathWarning,
            stacklevel=2,
        )
    return ledger
