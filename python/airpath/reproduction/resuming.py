"""The engine of a run that is written into a folder: what was simulated there is not run again."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from airpath.errors import AirpathWarning, one_line
from airpath.reproduction.engine import Compiled, EngineProgress, Simulated

if TYPE_CHECKING:
    from airpath.sweep.job import Contents, Job
    from airpath.sweep.ledger import Build, Ledger
    from airpath.sweep.runs import Run

__all__ = ["Resuming"]

_STORED_EVERY_S = 0.5
"""What was finished is on the disk at most so much later, s."""


class Resuming(Compiled):
    """The compiled engine with a ledger: only replications that are not in it are run.

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
        """Return `replications` of a scenario, run or stored."""
        from airpath.api import cores
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
        stored = set(ledger.finished(job.digest, seed))
        missing = [number for number in range(replications) if number not in stored]
        part = _Part(job, contents, seed, missing, replications)
        whole = part.run(ledger, threads or cores(), progress) if missing else True
        runs = [run for run in ledger.runs(job.digest, seed) if run.replication < replications]
        builds = (Build(run.version, run.commit) for run in runs)
        self._others.update(build for build in builds if build != ledger.own)
        return Simulated([run.measured() for run in runs], interrupted=not whole)

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


class _Part:
    """The replications of a job that are to be run."""

    def __init__(
        self, job: Job, contents: Contents, seed: int, missing: Sequence[int], total: int
    ) -> None:
        self._job, self._contents, self._seed = job, contents, seed
        self._missing, self._total = missing, total
        self._stop = Event()
        self._finished: list[Run] = []

    def run(self, ledger: Ledger, threads: int, progress: EngineProgress | None) -> bool:
        """Run and store them; return False after Ctrl-C, with those stored that were finished."""
        pool = ThreadPoolExecutor(min(threads, len(self._missing)))
        under_way = {pool.submit(self._one, number) for number in self._missing}
        stored_at = time.monotonic()
        try:
            while under_way:
                done, _ = wait(under_way, _STORED_EVERY_S, FIRST_COMPLETED)
                self._take(done, under_way)
                if time.monotonic() - stored_at > _STORED_EVERY_S:
                    self._store(ledger)
                    stored_at = time.monotonic()
                self._tell(len(under_way), progress)
        except KeyboardInterrupt:
            return False
        finally:
            self._stop.set()
            pool.shutdown(cancel_futures=True)
            whole = {f for f in under_way if not f.cancelled() and f.exception() is None}
            self._take(whole, under_way)
            self._store(ledger)
        return True

    def _take(self, done: set[Future[list[Run]]], under_way: set[Future[list[Run]]]) -> None:
        for future in done:
            self._finished += future.result()
            under_way.discard(future)

    def _one(self, number: int) -> list[Run]:
        from airpath.sweep.job import run_job

        return run_job(self._job, self._contents, self._seed, number, 1, self._stop.is_set)

    def _store(self, ledger: Ledger) -> None:
        ledger.add([(run, {}) for run in self._finished])
        self._finished = []

    def _tell(self, left: int, progress: EngineProgress | None) -> None:
        if progress is not None:
            finished = self._total - left
            progress(finished, self._total, finished / self._total)
