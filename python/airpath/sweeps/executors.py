"""Workers of a sweep: threads of this process, or any `concurrent.futures.Executor`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import Event
from typing import Any, Protocol

from airpath.arguments import error_prefix
from airpath.errors import BadValueError
from airpath.sweeps.job import Contents
from airpath.sweeps.tasks import Runner, Task, TaskResult, run_shipped, run_task

__all__ = ["ExternalExecutor", "Threads", "Workers", "workers_of"]


class Workers(Protocol):
    """Workers that run tasks.

    Attributes
    ----------
    slots : int
        Number of tasks that run concurrently, at least 1.
    """

    slots: int

    def submit(self, task: Task, ship: Collection[str] = ()) -> Future[TaskResult]:
        """Start a task. `ship`: the SHA-256 of each file content to send with the task."""

    def stop(self) -> None:
        """Request that running tasks stop early."""

    def close(self) -> None:
        """Release all resources."""


class Threads:
    """Threads of this process. They run in parallel: the engine releases the interpreter lock.

    Parameters
    ----------
    contents : mapping
        Contents of all files, by SHA-256.
    threads : int
        Number of threads.
    runner : callable, optional
        Function that runs replications. Default: the simulator.
    """

    def __init__(self, contents: Contents, threads: int, runner: Runner | None = None) -> None:
        self.slots = threads
        self._runner = runner
        self._contents = contents
        self._stopped = Event()
        self._pool = ThreadPoolExecutor(threads, "airpath-sweep")

    def submit(self, task: Task, ship: Collection[str] = ()) -> Future[TaskResult]:
        """Start a task."""
        stop = self._stopped.is_set
        return self._pool.submit(run_task, task, self._contents, stop, self._runner)

    def stop(self) -> None:
        """Request that running tasks stop early."""
        self._stopped.set()

    def close(self) -> None:
        """End the threads."""
        self._stopped.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


class ExternalExecutor:
    """Workers of an external executor, for example processes or other machines.

    The contents of files are sent only if a worker reports that they are missing (`run_shipped`).

    Parameters
    ----------
    contents : mapping
        Contents of all files, by SHA-256.
    executor : Executor
        Executor of the tasks; it stays open.
    """

    def __init__(self, contents: Contents, executor: Executor) -> None:
        self.slots = _slots(executor)
        self._contents = contents
        self._executor = executor

    def submit(self, task: Task, ship: Collection[str] = ()) -> Future[TaskResult]:
        """Start a task."""
        shipped = {key: self._contents[key] for key in ship}
        return self._executor.submit(run_shipped, task, shipped)

    def stop(self) -> None:
        """Do nothing, because the terminal interrupts the processes on Ctrl-C."""

    def close(self) -> None:
        """Do nothing, because the caller must close the executor."""


def _slots(executor: Executor) -> int:
    """Return the number of workers of an executor; the number of cores if it is unknown."""
    from airpath.api import cores

    for name in ("slots", "num_workers", "_max_workers"):
        found: Any = getattr(executor, name, None)
        if isinstance(found, int) and found > 0:
            return found
    return cores()


def workers_of(contents: Contents, executor: Any, threads: int | None) -> Workers:
    """Return the workers of a sweep.

    Parameters
    ----------
    contents : mapping
        Contents of all files, by SHA-256.
    executor : Executor or None
        Executor of the tasks; None: threads of this process.
    threads : int or None
        Number of threads; None: one for each core.

    Raises
    ------
    BadValueError
        If `executor` is not an executor.
    """
    from airpath.api import cores

    if executor is None:
        return Threads(contents, threads or cores())
    submit: Callable[..., Any] | None = getattr(executor, "submit", None)
    if isinstance(executor, type) or not callable(submit):
        raise BadValueError(
            f"{error_prefix('executor', executor)}: cannot run anything. "
            "Use a concurrent.futures.Executor, for example ProcessPoolExecutor(4)."
        )
    return ExternalExecutor(contents, executor)
