"""Tasks of workers, about one second of work each, and their results."""

from __future__ import annotations

import os
import platform
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from airpath import _airpath
from airpath.errors import AirpathError, MachineError, one_line
from airpath.execution import Machine, this_machine
from airpath.sweeps.job import Contents, Job, run_job

if TYPE_CHECKING:
    from airpath.results.remarks import RunOutline
    from airpath.results.result import Result
    from airpath.sweeps.runs import Run

__all__ = [
    "Failure",
    "Runner",
    "Task",
    "TaskResult",
    "Unit",
    "build",
    "failure_of",
    "run_shipped",
    "run_task",
]

Values = dict[str, float | None]
"""Metrics of a replication; None if a metric was not measured."""

_KEPT_CHARACTERS = 2**28
"""Largest size of the file contents that a worker process caches, characters."""


@dataclass(frozen=True)
class Unit:
    """Consecutive replications of one job.

    Parameters
    ----------
    job : Job
        Job to run.
    seed : int
        Master seed.
    first, count : int
        Index of the first replication, and number of replications.
    """

    job: Job
    seed: int
    first: int
    count: int


@dataclass(frozen=True)
class Task:
    """Units that one worker runs, without the contents of their files.

    Parameters
    ----------
    units : sequence of Unit
        Units in the order of execution.
    metrics : sequence of str
        Columns of the results to compute.
    functions : mapping of str to callable
        Metrics of the user in the stopping rule: functions of a `Result` of one replication.
    confidence : float
        Confidence of the results that are passed to the functions.
    build : (str, str)
        Required version and commit of the worker.
    """

    units: Sequence[Unit]
    metrics: Sequence[str]
    functions: Mapping[str, Callable[[Result], float]]
    confidence: float
    build: tuple[str, str]

    def needs(self) -> set[str]:
        """Return the SHA-256 of every file that the task reads."""
        return {file.sha256 for unit in self.units for file in unit.job.files}


@dataclass(frozen=True)
class Failure:
    """Failed replication.

    Parameters
    ----------
    unit : Unit
        Unit of the replication.
    replication : int
        Index of the replication, from 0.
    message : str
        Error message in one line.
    is_run : bool
        True if the run itself failed. False if a function of the user failed; such failures are not
        stored, because the user may correct the function. Default True.
    """

    unit: Unit
    replication: int
    message: str
    is_run: bool = True


@dataclass(frozen=True)
class TaskResult:
    """Result of a task.

    Parameters
    ----------
    worker : str
        Name of the worker, for messages.
    build : (str, str)
        Version and commit of the worker. If they differ from the task's, nothing was run.
    runs : list of (Run, dict, RunOutline)
        The finished replications with their metrics and the outlines for advisories; fewer than
        requested after a stop.
    failures : list of Failure
        Failures. The other replications were run nevertheless.
    seconds : list of float
        Elapsed (wall-clock) time of each unit, s.
    missing : sequence of str
        SHA-256 of file contents that the worker does not have. If there are any, nothing was run.
    machine : Machine
        Machine of the worker.
    """

    worker: str
    build: tuple[str, str]
    runs: list[tuple[Run, Values, RunOutline]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    missing: Sequence[str] = ()
    machine: Machine = field(default_factory=this_machine)


def build() -> tuple[str, str]:
    """Return version and commit of this process's engine."""
    return _airpath.version(), _airpath.commit()


Runner = Callable[[Job, Contents, int, int, int, Callable[[], bool] | None], "list[Run]"]
"""Function that runs replications of a job: `run_job`, or a function with its signature."""


def run_task(
    task: Task,
    contents: Contents,
    stop: Callable[[], bool] | None = None,
    runner: Runner | None = None,
) -> TaskResult:
    """Run a task in this process.

    Parameters
    ----------
    task : Task
        Task to run.
    contents : mapping
        Contents of all files that the task reads, by SHA-256.
    stop : callable, optional
        Called about ten times a second; if it returns True, the run stops.
    runner : callable, optional
        Function that runs replications. Default: `run_job`.
    """
    from airpath.results.remarks import RunOutline
    from airpath.sweeps.metrics import evaluate

    result = TaskResult(_name(), build())
    for unit in task.units:
        if stop is not None and stop():
            break
        began = time.perf_counter()
        resolved = unit.job.resolved
        for run in _finished(unit, contents, stop, result.failures, runner or run_job):
            document = run.measured()
            values = dict(evaluate(task.metrics, document, resolved))
            values |= _user_values(task, unit, run, result.failures)
            result.runs.append((run, values, RunOutline.of(resolved, document)))
        result.seconds.append(time.perf_counter() - began)
    return result


def _finished(
    unit: Unit,
    contents: Contents,
    stop: Callable[[], bool] | None,
    failures: list[Failure],
    runner: Runner,
) -> Iterator[Run]:
    """Yield the replications of a unit; after a failure, the others are run one by one."""
    try:
        yield from runner(unit.job, contents, unit.seed, unit.first, unit.count, stop)
        return
    except MachineError:
        raise
    except AirpathError as error:
        if unit.count == 1:
            failures.append(Failure(unit, unit.first, one_line(str(error))))
            return
    for number in range(unit.first, unit.first + unit.count):
        if stop is None or not stop():
            one = Unit(unit.job, unit.seed, number, 1)
            yield from _finished(one, contents, stop, failures, runner)


def _user_values(task: Task, unit: Unit, run: Run, failures: list[Failure]) -> Values:
    values: Values = {}
    for name, function in task.functions.items():
        try:
            values[name] = value_of(function, unit.job, run, task.confidence)
        except Exception as error:
            failures.append(failure_of(name, unit, run, error))
    return values


def failure_of(name: str, unit: Unit, run: Run, error: Exception) -> Failure:
    """Return the failure of a user-defined metric at a replication."""
    message = f"{name}: {type(error).__name__}: {one_line(str(error))}"
    return Failure(unit, run.replication, message, is_run=False)


def value_of(
    function: Callable[[Result], float], job: Job, run: Run, confidence: float
) -> float | None:
    """Return the value of a user-defined metric for one replication."""
    from airpath.sweeps.metrics import as_number
    from airpath.sweeps.stored_result import result_of

    return as_number(function(result_of(job, run, confidence)))


# --- in another process --------------------------------------------------------------------------

_kept: OrderedDict[str, str] = OrderedDict()
"""Contents by SHA-256, in the order of their last use."""


def run_shipped(task: Task, contents: Contents) -> TaskResult:
    """Run a task in a worker process, with file contents from this or an earlier task.

    A worker of another version runs nothing. A worker without a needed content also runs nothing:
    its result lists the missing contents, and the task is resubmitted with them. Each content is
    therefore sent about once to each worker.

    Parameters
    ----------
    task : Task
        Task to run.
    contents : mapping
        Contents that were sent with the task, by SHA-256.
    """
    if build() != task.build:
        return TaskResult(_name(), build())
    needs = task.needs()
    found = {key: contents[key] if key in contents else _kept.get(key) for key in needs}
    missing = sorted(key for key, text in found.items() if text is None)
    if missing:
        return TaskResult(_name(), build(), missing=missing)
    whole = {key: text for key, text in found.items() if text is not None}
    _keep(whole)
    return run_task(task, whole)


def _keep(contents: Contents) -> None:
    for key, text in contents.items():
        _kept[key] = text
        _kept.move_to_end(key)
    while sum(map(len, _kept.values())) > _KEPT_CHARACTERS and len(_kept) > 1:
        _kept.popitem(last=False)


def _name() -> str:
    return f"{platform.node() or 'a host'}, process {os.getpid()}"
