"""Replications of a paper's scenarios: a sweep's coordinator runs those that a ledger lacks."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path

from airpath.engine.inputs import Reading
from airpath.errors import AirpathWarning, RunError, one_line
from airpath.reproduction.base import Progress
from airpath.reproduction.engine import Series, Simulated, Wanted
from airpath.sweeps.api import TemporaryDirectory
from airpath.sweeps.coordinator import Coordinator, Ended, stop_on_ctrl_c
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

__all__ = ["Simulations"]


class Simulations:
    """Replications of several scenarios with one master seed.

    Parameters
    ----------
    wanted : sequence of Wanted
        The scenarios, each with the number of its replications.
    seed : int
        Master seed.
    threads : int or None
        Worker threads; None is one for each core.
    progress : Progress or None
        Called with the finished fraction and a line of text.

    Attributes
    ----------
    other_builds : Counter of Build
        How many replications by other versions were used.
    """

    def __init__(
        self,
        wanted: Sequence[Wanted],
        seed: int,
        threads: int | None,
        progress: Progress | None,
    ) -> None:
        self._wanted = wanted
        self._seed, self._threads, self._progress = seed, threads, progress
        self._contents: dict[str, str] = {}
        self._jobs = self._resolved()
        self._done = 0
        self._interrupted = False
        self.other_builds: Counter[Build] = Counter()

    def _resolved(self) -> list[Job]:
        jobs, reading = [], Reading()
        for scenario, _ in self._wanted:
            job, contents = job_of(scenario, scenario.record.series, reading)
            jobs.append(job)
            self._contents.update(contents)
        return jobs

    def kept(self, folder: Path | None, *, accept_version: bool) -> list[Simulated]:
        """Return the replications of each scenario, run or stored; fewer after Ctrl-C.

        Recorded series are stored in files next to the ledger.

        Parameters
        ----------
        folder : Path or None
            Directory of the ledger, made with the first replication. None: a temporary one, which
            is removed with the last replication.
        accept_version : bool
            Use the replications of other versions like those of this one. Otherwise they stay
            unused, with a warning.

        Raises
        ------
        BadValueError
            If the ledger is damaged, or series are recorded and pyarrow is not installed.
        RunError
            If a replication fails.
        """
        if any(scenario.record.series for scenario, _ in self._wanted):
            refuse_without_parquet()
        temporary = None if folder is not None else TemporaryDirectory()
        place = folder or temporary.path  # type: ignore[union-attr]
        with _opened(place / FILE_NAME, accept_version) as ledger:
            self._run_missing(ledger, place / FOLDER)
            places = range(len(self._wanted))
            return [self._simulated(ledger, at, place / FOLDER, temporary) for at in places]

    def _run_missing(self, ledger: Ledger, series: Path) -> None:
        """Run what is missing, scenarios with equally many replications together."""
        groups: dict[int, dict[str, Job]] = {}
        for (_, replications), job in zip(self._wanted, self._jobs, strict=True):
            groups.setdefault(replications, {})[job.digest] = job
        for replications, jobs in groups.items():
            if self._interrupted:
                return
            needed = set(range(replications))
            if any(not needed <= set(ledger.finished(digest, self._seed)) for digest in jobs):
                ended = self._coordinated(ledger, jobs, replications, series)
                if ended.failed:
                    raise RunError(ended.first.partition(": ")[2])
                self._interrupted = ended.interrupted
            self._done += len(jobs)

    def _coordinated(
        self, ledger: Ledger, jobs: Mapping[str, Job], replications: int, series: Path
    ) -> Ended:
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
                return Coordinator(
                    plan,
                    jobs,
                    {},
                    ledger,
                    workers,
                    self._contents,
                    progress=SweepProgress(self._tell(len(jobs))),
                    take_series=lambda run: write_series(series, run) if run.series else None,
                    fail_fast=True,
                ).run(stop)
        finally:
            workers.close()

    def _tell(self, jobs: int) -> Callable[[float, str], None]:
        def tell(fraction: float, text: str) -> None:
            if self._progress is not None:
                self._progress((self._done + fraction * jobs) / len(self._jobs), text)

        return tell

    def _simulated(self, ledger: Ledger, at: int, series: Path, keeps: object) -> Simulated:
        """Return the stored replications of a scenario; `keeps` is held as long as they are."""
        (scenario, replications), digest = self._wanted[at], self._jobs[at].digest
        stored = ledger.runs(digest, self._seed)
        runs = [run for run in stored if run.replication < replications]
        builds = (Build(run.version, run.commit) for run in runs)
        self.other_builds.update(build for build in builds if build != ledger.own)
        files = [series_file(series, digest, self._seed, run.replication) for run in runs]
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
            "alone and run anew. --accept-version uses them, airpath sweep prune removes them.",
            AirpathWarning,
            stacklevel=2,
        )
    return ledger
