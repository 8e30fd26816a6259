"""Solves the analytic models of the points while the simulation runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

from airpath.engine.error_paths import as_written
from airpath.errors import one_line
from airpath.scenario import Scenario
from airpath.sweeps.job import Contents, Job, engine_input

__all__ = ["Solver", "solve_job"]

Found = Mapping[str, float | None] | str
"""Metrics of a model, or the reason why it has no solution."""

_IN_FLIGHT = 3


class Solver:
    """Solves the model of each job in threads of this process.

    Parameters
    ----------
    jobs : sequence of Job
        Jobs to solve.
    contents : mapping
        Contents of the jobs' files, by SHA-256.
    metrics : sequence of str
        Metrics to compute.
    scenarios : callable
        Returns the scenario of a job, for messages.
    threads : int
        Number of threads.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        contents: Contents,
        metrics: Sequence[str],
        scenarios: Callable[[Job], Scenario],
        threads: int,
    ) -> None:
        self._left = iter(jobs)
        self._contents = contents
        self._metrics = metrics
        self._scenarios = scenarios
        self._most = _IN_FLIGHT * threads
        self._pool = ThreadPoolExecutor(threads, "airpath-solve")
        self._stopped = Event()
        self._in_flight: dict[Future[Found], str] = {}
        self._fill()

    def is_busy(self) -> bool:
        """Return whether jobs are unsolved."""
        return bool(self._in_flight)

    def found(self) -> Iterator[tuple[str, Found]]:
        """Yield the digest and the solution of each job that was solved since the last call."""
        for future in [future for future in self._in_flight if future.done()]:
            digest = self._in_flight.pop(future)
            self._fill()
            yield digest, future.result()

    def close(self) -> None:
        """Stop the threads; jobs that are not solved yet remain unsolved."""
        self._stopped.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _fill(self) -> None:
        while not self._stopped.is_set() and len(self._in_flight) < self._most:
            job = next(self._left, None)
            if job is None:
                return
            self._in_flight[self._pool.submit(self._solved, job)] = job.digest

    def _solved(self, job: Job) -> Found:
        return solve_job(job, self._contents, self._metrics, lambda: self._scenarios(job))


def solve_job(
    job: Job, contents: Contents, metrics: Sequence[str], scenario: Callable[[], Scenario]
) -> Found:
    """Return the solution of the analytic model, or the reason why no model covers the job.

    Parameters
    ----------
    job : Job
        Job to solve.
    contents : mapping
        Contents of the job's files, by SHA-256.
    metrics : sequence of str
        Metrics to compute.
    scenario : callable
        Returns the scenario of the user, for messages.
    """
    from airpath.solutions import Solution
    from airpath.sweeps.metrics import solve_metrics

    try:
        found = json.loads(engine_input(job, contents).solve())
    except ValueError as error:
        written = scenario()
        lines = [as_written(written, line) for line in str(error).split("\n")]
        return one_line(" ".join(lines))
    return solve_metrics(metrics, Solution.of(found, {}), job.resolved)
