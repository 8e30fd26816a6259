"""Replications of a paper's scenarios: a sweep's coordinator runs those that a ledger lacks."""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from airpath.engine.inputs import Reading
from airpath.errors import AirpathWarning, RunError, one_line
from airpath.reproduction.base import Progress
from airpath.reproduction.engine import Series, Simulated, Wanted
from airpath.results.recordings import Columns
from airpath.sweeps.coordinator import Coordinator, Ended, stop_on_ctrl_c
from airpath.sweeps.executors import workers_of
from airpath.sweeps.job import Job, job_of
from airpath.sweeps.ledger import FILE_NAME, Build, Ledger
from airpath.sweeps.plan import Plan, Point, Rule
from airpath.sweeps.progress import Progress as SweepProgress
from airpath.sweeps.runs import Run

__all__ = ["Simulations"]

Recorded = dict[tuple[str, int], Mapping[str, Columns]]
"""Time series by digest and replication."""


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
        self._recorded: Recorded = {}
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

        Scenarios that record series are run each time, for a ledger keeps no series.

        Parameters
        ----------
        folder : Path or None
            Where the ledger is, made with the first replication. None: nothing is kept.
        accept_version : bool
            Use the replications of other versions like those of this one. Otherwise they stay
            unused, with a warning.

        Raises
        ------
        RunError
            If a replication fails.
        """
        recorded = [at for at, (scenario, _) in enumerate(self._wanted) if scenario.record.series]
        others = [at for at in range(len(self._wanted)) if at not in set(recorded)]
        found: dict[int, Simulated] = {}
        for places, place in ((others, folder), (recorded, None)):
            if places:
                with ExitStack() as stack:
                    ledger = _opened(stack, place, accept_version)
                    self._run_missing(ledger, places)
                    found.update({at: self._simulated(ledger, at) for at in places})
        return [found[at] for at in range(len(self._wanted))]

    def _run_missing(self, ledger: Ledger, places: Sequence[int]) -> None:
        """Run what is missing, scenarios with equally many replications together."""
        groups: dict[int, dict[str, Job]] = {}
        for at in places:
            job = self._jobs[at]
            groups.setdefault(self._wanted[at].replications, {})[job.digest] = job
        for replications, jobs in groups.items():
            if self._interrupted:
                return
            needed = set(range(replications))
            if any(not needed <= set(ledger.finished(digest, self._seed)) for digest in jobs):
                ended = self._coordinated(ledger, jobs, replications)
                if ended.failed:
                    raise RunError(ended.first.partition(": ")[2])
                self._interrupted = ended.interrupted
            self._done += len(jobs)

    def _coordinated(self, ledger: Ledger, jobs: Mapping[str, Job], replications: int) -> Ended:
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
                    take_series=self._take,
                    fail_fast=True,
                ).run(stop)
        finally:
            workers.close()

    def _take(self, run: Run) -> None:
        if run.series:
            self._recorded[run.digest, run.replication] = run.series

    def _tell(self, jobs: int) -> Callable[[float, str], None]:
        def tell(fraction: float, text: str) -> None:
            if self._progress is not None:
                self._progress((self._done + fraction * jobs) / len(self._jobs), text)

        return tell

    def _simulated(self, ledger: Ledger, at: int) -> Simulated:
        digest, replications = self._jobs[at].digest, self._wanted[at].replications
        stored = ledger.runs(digest, self._seed)
        runs = [run for run in stored if run.replication < replications]
        builds = (Build(run.version, run.commit) for run in runs)
        self.other_builds.update(build for build in builds if build != ledger.own)
        numbers = [run.replication for run in runs]
        interrupted = self._interrupted and len(runs) < replications
        measured: list[Mapping[str, Any]] = [run.measured() for run in runs]
        if not self._wanted[at].scenario.record.series:
            return Simulated(measured, interrupted)
        series = [self._recorded[digest, number] for number in numbers]
        return Simulated(measured, interrupted, lambda name, number: _series(series[number][name]))


def _series(columns: Columns) -> Series:
    times, ids, _queues, values = columns
    return Series(
        np.frombuffer(times, "<f8"), np.frombuffer(ids, "<u4"), np.frombuffer(values, "<f8")
    )


def _opened(stack: ExitStack, folder: Path | None, accept_version: bool) -> Ledger:
    """Open the ledger of a folder, or a temporary one; both are closed with the stack."""
    if folder is None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="airpath-")))
    path = folder / FILE_NAME
    opened = Ledger.open(path, accept_version=accept_version, leave_others=True)
    ledger = stack.enter_context(opened)
    others = [build for build in ledger.versions() if build != ledger.own]
    if others and not accept_version:
        warnings.warn(
            f"{one_line(str(path))}: replications of {', '.join(map(str, others))} are left "
            "alone and run anew. --accept-version uses them, airpath sweep prune removes them.",
            AirpathWarning,
            stacklevel=2,
        )
    return ledger
