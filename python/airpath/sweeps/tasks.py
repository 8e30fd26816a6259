"""What a worker is given, about a second of work, and what it gives back."""

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
"""Metrics of a replication; None is what was not measured."""

_KEPT_CHARACTERS = 2**28
"""Of contents that a worker process keeps."""


@dataclass(frozen=True)
class Unit:
    """Replications of one job, one after the other.

    Parameters
    ----------
    job : Job
        What to run.
    seed : int
        Master seed.
    first, count : int
        Number of the first replication, and how many.
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
        In this order.
    metrics : sequence of str
        Columns of the results that are wanted.
    functions : mapping of str to callable
        Metrics of the user that decide something: each takes a `Result` of one replication.
    confidence : float
        Of the results that functions are given.
    build : (str, str)
        Version and commit that the worker has to have.
    """

    units: Sequence[Unit]
    metrics: Sequence[str]
    functions: Mapping[str, Callable[[Result], float]]
    confidence: float
    build: tuple[str, str]

    def needs(self) -> set[str]:
        """Return the SHA-256 of every file that it reads."""
        return {file.sha256 for unit in self.units for file in unit.job.files}


@dataclass(frozen=True)
class Failure:
    """A replication that failed.

    Parameters
    ----------
    unit : Unit
        Where it belongs.
    replication : int
        Its number.
    message : str
        Why, one line.
    is_run : bool
        Whether the run itself failed. Else it was a function of the user, which may say something
        else the next time. Default True.
    """

    unit: Unit
    replication: int
    message: str
    is_run: bool = True


@dataclass(frozen=True)
class TaskResult:
    """What a worker gives back.

    Parameters
    ----------
    worker : str
        Its name, for messages.
    build : (str, str)
        Its version and commit. When it is not the task's, nothing was run.
    runs : list of (Run, dict, RunOutline)
        The finished replications with their metrics and the outlines for advisories; fewer than
        requested after a stop.
    failures : list of Failure
        What failed. The other replications were run all the same.
    seconds : list of float
        What each unit took, s, as a clock on the wall sees it.
    missing : sequence of str
        SHA-256 of contents that the worker lacks; then nothing was run.
    machine : Machine
        That of the worker.
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
"""What runs replications of a job: `run_job`, or what takes its arguments."""


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
        What to run.
    contents : mapping
        Of all files that it needs.
    stop : callable, optional
        Called about ten times a second; if it returns True, the run stops.
    runner : callable, optional
        What runs replications. Default: `run_job`.
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
    """Give the replications of a unit; those that fail do not take others with them."""
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
    """Return that a metric of the user failed at a replication."""
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
"""Contents by their SHA-256, those that were used last at the end."""


def run_shipped(task: Task, contents: Contents) -> TaskResult:
    """Run a task in a worker process, with contents that came now or with a task before.

    A worker of another version runs nothing, and neither does one that lacks contents: it names
    them, and the task is resubmitted with them. So each content travels about once to each worker.

    Parameters
    ----------
    task : Task
        What to run.
    contents : mapping
        What it may lack.
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
