"""The engine of a run that is written into a folder: what was simulated there is not run again."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.errors import AirpathWarning, RunError, one_line
from airpath.reproduction.engine import Compiled, EngineProgress, Simulated

if TYPE_CHECKING:
    from airpath.sweep.coordinator import Ended
    from airpath.sweep.job import Contents, Job
    from airpath.sweep.ledger import Build, Ledger

__all__ = ["Resuming"]


class Resuming(Compiled):
    """The compiled engine with a ledger: a sweep's coordinator runs replications that it lacks.

    A scenario that records series is run as ever, for a ledger keeps none. Replications of other
    versions are left alone, and a warning says so.

    Parameters
    ----------
    folder : Path
        Where the ledger is, made with the first replication.
    accept_version : bool
        Use the replications of other versions like those of this one. Default False.
    """

    def __init__(self, folder: Path, accept_version: bool = False) -> None:
        from airpath.sweep.ledger import FILE_NAME

        self._path = folder / FILE_NAME
        self._accept_version = accept_version
        self._opened: Ledger | None = None
        self._others: Counter[Build] = Counter()

    def close(self) -> None:
        """Close the ledger."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def others_used(self) -> dict[str, Any]:
        """Return what to say of results by other versions: nothing when there are none."""
        if not self._others:
            return {}
        counts = sorted(self._others.items())
        return {"other_versions": [{**vars(build), "replications": n} for build, n in counts]}

    def simulate(
        self,
        scenario: Any,
        *,
        replications: int,
        seed: int,
        threads: int | None,
        progress: EngineProgress | None,
    ) -> Simulated:
        """Return `replications` of a scenario, run or stored.

        Raises
        ------
        RunError
            If a replication fails.
        """
        from airpath.sweep.job import job_of
        from airpath.sweep.ledger import Build

        if scenario.record.series:
            return super().simulate(
                scenario,
                replications=replications,
                seed=seed,
                threads=threads,
                progress=progress,
            )
        job, contents = job_of(scenario)
        ledger = self._ledger()
        interrupted = False
        if not set(range(replications)) <= set(ledger.finished(job.digest, seed)):
            ended = self._run(job, contents, replications, seed, threads, progress)
            if ended.failed:
                raise RunError(ended.first.partition(": ")[2])
            interrupted = ended.interrupted
        runs = [run for run in ledger.runs(job.digest, seed) if run.replication < replications]
        builds = (Build(run.version, run.commit) for run in runs)
        self._others.update(build for build in builds if build != ledger.own)
        return Simulated([run.measured() for run in runs], interrupted)

    def _run(
        self,
        job: Job,
        contents: Contents,
        replications: int,
        seed: int,
        threads: int | None,
        progress: EngineProgress | None,
    ) -> Ended:
        """Run the replications of a job that are missing; after Ctrl-C those that end at once."""
        from airpath.sweep.coordinator import Coordinator, stop_on_ctrl_c
        from airpath.sweep.executors import workers_of
        from airpath.sweep.plan import Plan, Point, Rule
        from airpath.sweep.progress import Progress

        def tell(fraction: float, _text: str) -> None:
            if progress is not None:
                progress(round(fraction * replications), replications, fraction)

        plan = Plan(
            name=job.name,
            axes=(),
            points=[Point(0, {}, {}, job.digest)],
            rule=Rule(replications, replications),
            seed=seed,
            common_random_numbers=True,
            confidence=0.99,
            metrics=(),
            engines=("simulate",),
        )
        workers = workers_of(contents, None, threads)
        try:
            with stop_on_ctrl_c() as stop:
                return Coordinator(
                    plan,
                    {job.digest: job},
                    {},
                    self._ledger(),
                    workers,
                    contents,
                    progress=Progress(tell),
                    fail_fast=True,
                ).run(stop)
        finally:
            workers.close()

    def _ledger(self) -> Ledger:
        from airpath.sweep.ledger import Ledger

        if self._opened is None:
            accepted = self._accept_version
            ledger = Ledger.open(self._path, accept_version=accepted, leave_others=True)
            self._opened = ledger
            others = [build for build in ledger.versions() if build != ledger.own]
            if others and not accepted:
                warnings.warn(
                    f"{one_line(str(self._path))}: replications of {', '.join(map(str, others))} "
                    "are left alone and run anew. --accept-version uses them, airpath sweep prune "
                    "removes them.",
                    AirpathWarning,
                    stacklevel=2,
                )
        return self._opened
