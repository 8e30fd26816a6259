"""The coordinator of a sweep: sends missing replications to workers and stores the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pickle import PicklingError
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from airpath.errors import AirpathError, BadValueError, RunError, one_line
from airpath.interrupts import Stop
from airpath.sweeps.advisories import on_replications
from airpath.sweeps.executors import Workers
from airpath.sweeps.ledger.sessions import Session
from airpath.sweeps.plan import Plan, Point, Rule
from airpath.sweeps.progress import Progress
from airpath.sweeps.series import series_file, write_series
from airpath.sweeps.stopping import Stopping
from airpath.sweeps.targets import Pace, Queue, Target
from airpath.sweeps.tasks import Failure, Task, TaskResult, Unit, build, failure_of, value_of

if TYPE_CHECKING:
    from pathlib import Path

    from airpath.execution import Machine
    from airpath.sweeps.job import Contents, Job
    from airpath.sweeps.ledger import Ledger
    from airpath.sweeps.ledger.ledger import Recorded
    from airpath.sweeps.solving import Solver

__all__ = ["Coordinator", "SweepOutcome"]

_IN_FLIGHT = 3
"""Number of tasks per worker slot: one task runs, the others wait at the worker."""
_TASK_S = 1.0
"""Target duration of a task, s."""
_LOOK_S = 0.1
"""Interval between two checks whether the sweep must stop, s."""
_GRACE_S = 0.4
"""Time after a stop during which results are still accepted, s."""


@dataclass(frozen=True)
class SweepOutcome:
    """Outcome of a sweep.

    Parameters
    ----------
    interrupted : bool
        Whether the sweep was stopped before it was complete.
    failed : int
        Number of failed points.
    first_failure : str
        Failure of the first failed point, in one line; empty if no point failed.
    replications : int
        Number of replications that this call ran.
    """

    interrupted: bool
    failed: int
    first_failure: str
    replications: int


class Coordinator:
    """Runs the missing replications of a sweep; the only writer of the ledger.

    The stored results depend only on the plan and the stopping rule, not on the order in which
    workers finish replications.

    Parameters
    ----------
    plan : Plan
        Plan of the sweep.
    jobs : mapping of str to Job
        Jobs by digest.
    functions : mapping of str to callable
        The user's metric functions by name.
    ledger : Ledger
        Ledger that is open for writing and contains the plan.
    workers : Workers
        Workers that run the tasks.
    contents : mapping of str to str
        Contents of all files, by SHA-256.
    series : Path or None
        Directory of the time series. The series of a replication are written before the replication
        is stored. If the series of a stored replication are missing, the replication is run again.
        Default None: no series are stored.
    solver : Solver or None
        Solver of the analytic models, if the plan has the engine ``solve``.
    fail_fast : bool
        Whether the first failure ends the sweep.
    progress : Progress
        Reports finished replications.
    command : str
        Command line or call, to store in the ledger. Default: not known.
    """

    def __init__(
        self,
        plan: Plan,
        jobs: Mapping[str, Job],
        functions: Mapping[str, Callable[[Any], float]],
        ledger: Ledger,
        workers: Workers,
        contents: Contents,
        *,
        progress: Progress,
        series: Path | None = None,
        solver: Solver | None = None,
        fail_fast: bool = False,
        command: str = "",
    ) -> None:
        self._plan = plan
        self._jobs = jobs
        self._functions = functions
        self._columns = [name for name in plan.metrics if name not in functions]
        self._ledger = ledger
        self._workers = workers
        self._contents = contents
        self._series = series
        self._solver = solver
        self._fail_fast = fail_fast
        self._progress = progress
        self._pace = Pace()
        self._targets: dict[tuple[str, int], Target] = {}
        self._in_flight: dict[Future[TaskResult], Task] = {}
        self._came: SimpleQueue[Future[TaskResult]] = SimpleQueue()
        self._failed: dict[int, str] = {}
        self._noted: list[Recorded] = []
        self._broken: AirpathError | None = None
        self._replications = 0
        self._command = command
        self._machines: dict[Machine, None] = {}

    def run(self, stop: Stop) -> SweepOutcome:
        """Run the missing replications until all are finished or `stop` returns True.

        Raises
        ------
        BadValueError
            If a worker has another version, or the ledger cannot be written.
        RunError
            If the executor itself fails. Replications that were finished before are kept.
        """
        began = time.perf_counter()
        try:
            return self._run(stop)
        finally:
            if self._replications:
                wall_s = time.perf_counter() - began
                machines = tuple(self._machines)
                self._ledger.add_session(
                    Session(self._ledger.own, self._command, self._replications, wall_s, machines)
                )

    def _run(self, stop: Stop) -> SweepOutcome:
        queue = Queue(self._openers(), self._pace)
        stopped = False
        try:
            while not stopped:
                self._dispatch(queue)
                if not (self._in_flight or self._is_solving() or self._broken):
                    break
                self._store(self._collected(_LOOK_S), queue)
                self._take_solved()
                if self._broken is not None:
                    # Store the results that have arrived in the meantime.
                    self._store(self._collected(0), queue)
                    raise self._broken
                stopped = stop() or (self._fail_fast and bool(self._failed))
            if stopped:
                self._give_up(queue)
            self._ledger.add([], self._noted)
        finally:
            self._workers.stop()
            if self._solver is not None:
                self._solver.close()
        first = self._failed[min(self._failed)] if self._failed else ""
        return SweepOutcome(stopped and stop(), len(self._failed), first, self._replications)

    # --- what is missing -----------------------------------------------------------------------

    def _openers(self) -> Iterator[Callable[[], Target]]:
        """Yield the function that opens each target, in the order of the points."""
        if self._plan.replicated is None:
            return
        plan = self._plan
        sharing: dict[tuple[str, int], list[Point]] = {}
        for point in plan.points:
            sharing.setdefault((point.digest, plan.seed_of(point)), []).append(point)
        rules = plan.rules()
        self._progress.expect(rules.values())
        for key, points in sharing.items():
            yield partial(self._opened, *key, rules[key], points)

    def _opened(self, digest: str, seed: int, rule: Rule, points: Sequence[Point]) -> Target:
        job = self._jobs[digest]
        stopping = Stopping(rule, self._plan.confidence)
        target = Target(job, seed, rule, stopping, points, job.simulated_s)
        values = {number: dict(of) for number, of in self._ledger.values(digest, seed).items()}
        failures = self._complete(job, seed, values)
        if self._series is not None and job.resolved.recording.series:
            files = {n: series_file(self._series, digest, seed, n) for n in values}
            values = {n: of for n, of in values.items() if files[n].exists()}
        target.resume(values)
        self._progress.opened(target)
        if failures or not target.is_done:
            self._targets[digest, seed] = target
        if target.is_done and not self._has_advisories(target):
            self._note(target)
        for failure in failures:
            self._fail(failure)
        return target

    def _complete(
        self, job: Job, seed: int, stored: dict[int, dict[str, float | None]]
    ) -> list[Failure]:
        """Compute metrics that were added to the sweep after the replications ran.

        Return the failures of the user's functions.
        """
        from airpath.sweeps.metrics import evaluate

        function = self._functions.get(self._plan.rule.metric or "")
        lacking = {n for n, of in stored.items() if not of.keys() >= set(self._columns)}
        failures: list[Failure] = []
        if function is None and not lacking:
            return failures
        resolved, late = job.resolved, {}
        for run in self._ledger.runs(job.digest, seed):
            of = stored[run.replication]
            if run.replication in lacking:
                names = [name for name in self._columns if name not in of]
                late[run.replication] = evaluate(names, run.measured(), resolved)
                of.update(late[run.replication])
            if function is not None:
                name = self._plan.rule.metric or ""
                try:
                    of[name] = value_of(function, job, run, self._plan.confidence)
                except Exception as error:
                    unit = Unit(job, seed, run.replication, 1)
                    failures.append(failure_of(name, unit, run, error))
        if late:
            self._ledger.add_values(job.digest, seed, late)
        return failures

    # --- dispatch and collection ---------------------------------------------------------------

    def _dispatch(self, queue: Queue) -> None:
        while self._broken is None and len(self._in_flight) < _IN_FLIGHT * self._workers.slots:
            units = queue.units(self._progress.slice(_TASK_S))
            if not units:
                return
            self._send(Task(units, self._columns, self._functions, self._plan.confidence, build()))

    def _send(self, task: Task, ship: Sequence[str] = ()) -> None:
        try:
            future = self._workers.submit(task, ship)
        except Exception as error:
            self._broken = _broken(error)
            return
        self._in_flight[future] = task
        future.add_done_callback(self._came.put)

    def _collected(self, seconds: float) -> list[TaskResult]:
        """Wait at most `seconds` for a finished task; return the results of all finished tasks."""
        results: list[TaskResult] = []
        for future in _available(self._came, seconds):
            task = self._in_flight.pop(future, None)
            if task is None or (result := self._result_of(future)) is None:
                continue
            if result.build != task.build:
                self._broken = _other_version(result, task)
                continue
            if result.missing:
                self._send(task, result.missing)
            results.append(result)
            for unit, took in zip(task.units, result.seconds, strict=False):
                target = self._targets.get((unit.job.digest, unit.seed))
                if target is not None:
                    self._pace.learn(unit.job, unit.count, took, target.simulated_s)
        return results

    def _result_of(self, future: Future[TaskResult]) -> TaskResult | None:
        try:
            return future.result()
        except (CancelledError, KeyboardInterrupt):
            pass
        except AirpathError as error:
            self._broken = error
        except Exception as error:
            self._broken = _broken(error)
        return None

    def _store(self, results: Iterable[TaskResult], queue: Queue) -> None:
        results = list(results)
        runs = [each for result in results for each in result.runs]
        self._machines |= {result.machine: None for result in results if result.runs}
        if runs:
            for run, _, _ in runs:
                if self._series is not None and run.series:
                    write_series(self._series, run)
            # The user may change the metric functions, so their values are not stored.
            stored = [(run, {name: of[name] for name in self._columns}) for run, of, _ in runs]
            # If the process ends before this call, the next start computes the advisories again.
            self._ledger.add(stored, self._noted)
            self._noted.clear()
        for failure in (failure for result in results for failure in result.failures):
            self._fail(failure)
        for run, values, outline in runs:
            self._replications += 1
            target = self._targets.get((run.digest, run.seed))
            if target is None:
                continue
            before = target.stopping.wanted
            target.enter(run.replication, values, outline)
            self._progress.finished(target, before)
            if target.is_done:
                self._note(target)
                del self._targets[run.digest, run.seed]
                self._pace.forget(target.job)
            else:
                queue.put(target)
        self._progress.show()

    def _has_advisories(self, target: Target) -> bool:
        stored = self._ledger.advisories(target.job.digest, target.seed)
        return stored is not None and stored[0] == target.stopping.counted

    def _note(self, target: Target) -> None:
        """Find the advisories on the replications of a finished point."""
        digest, seed, count = target.job.digest, target.seed, target.stopping.counted or 0
        runs = islice(self._ledger.runs(digest, seed), count)
        found = on_replications(target.job, self._contents, count, target.outlines, runs)
        self._noted.append((digest, seed, count, [advisory.to_dict() for advisory in found]))

    def _fail(self, failure: Failure) -> None:
        unit, number = failure.unit, failure.replication
        if failure.is_run:
            self._ledger.add_failure(unit.job.digest, unit.seed, number, failure.message)
        target = self._targets.get((unit.job.digest, unit.seed))
        if target is None:
            return
        target.failed = True
        for point in target.points:
            what = f"{point.title}, replication {number}: {failure.message}"
            if point.number not in self._failed:
                self._progress.failed()
            self._failed.setdefault(point.number, what)

    def _give_up(self, queue: Queue) -> None:
        """Stop all tasks; results that arrive within `_GRACE_S` are stored."""
        self._workers.stop()
        for future in list(self._in_flight):
            if future.cancel():
                self._in_flight.pop(future, None)
        until = time.monotonic() + _GRACE_S
        while self._in_flight and (left := until - time.monotonic()) > 0:
            self._store(self._collected(min(left, _LOOK_S)), queue)

    # --- analytic models -----------------------------------------------------------------------

    def _is_solving(self) -> bool:
        return self._solver is not None and self._solver.is_busy()

    def _take_solved(self) -> None:
        if self._solver is not None:
            for digest, found in self._solver.found():
                self._ledger.add_solved(digest, found)


def _available(came: SimpleQueue[Any], seconds: float) -> Iterator[Any]:
    try:
        yield came.get(timeout=seconds)
        while True:
            yield came.get_nowait()
    except Empty:
        return


def _broken(error: BaseException) -> RunError:
    why = one_line(str(error)) or type(error).__name__
    if isinstance(error, PicklingError) or "pickle" in why:
        return RunError(
            f"metrics: a function cannot be sent to another process ({why.rstrip('.')}). "
            "Define it with def at the top of a module, or leave the executor out."
        )
    if not isinstance(error, BrokenExecutor):
        why = f"{type(error).__name__}: {why}"
    return RunError(f"the executor failed: {why.rstrip('.')}. What was finished is kept.")


def _other_version(result: TaskResult, task: Task) -> BadValueError:
    found, expected = (
        f"airpath {version} ({commit})" for version, commit in (result.build, task.build)
    )
    return BadValueError(
        f"worker {result.worker}: has {found}, this is {expected}. Install the same there."
    )
