"""Runs the tasks of a sweep on Dask workers: on one machine, a cluster, or a batch system.

`DaskExecutor` is a `concurrent.futures.Executor` that wraps a `distributed.Client`. Dask schedules
the tasks. The executor maps them to futures, resubmits tasks whose worker died, and rejects workers
that have another version of Airpath.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import os
import runpy
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from airpath.errors import BadValueError, RunError, one_line, quoted
from airpath.sweeps.tasks import build

__all__ = ["DaskExecutor", "dask_executor"]

_TRIES = 10
"""Largest number of submissions of a task whose workers die."""
_CONNECT_S = 10.0
"""Timeout for the connection to a scheduler, s."""
_WORKERS_S = 60
"""Timeout for the first worker, s."""
_RESTORE_S = 2.0
"""Interval between two checks for lost local workers, s."""


class DaskExecutor(Executor):
    """Executor that runs tasks on the workers of a Dask client. It does not close the client.

    Parameters
    ----------
    client : distributed.Client
        Connected client.

    Attributes
    ----------
    slots : int
        Total number of threads of the workers that are connected at the start, at least 1.

    Raises
    ------
    BadValueError
        If Airpath is missing at a worker, or has another version. The message names the worker.
    RunError
        If no worker connects within a minute.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._running: dict[Any, Future[Any]] = {}
        self._lock = threading.Lock()
        try:
            client.wait_for_workers(1, timeout=_WORKERS_S)
        except TimeoutError:
            raise RunError(
                f"dask: no worker within {_WORKERS_S} s at {client.scheduler.address}."
            ) from None
        _check_builds(client)
        self.slots = max(1, sum(client.nthreads().values()))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Start a call on a worker.

        Parameters
        ----------
        fn : callable
            Function to call; the function and its arguments must be picklable.
        args, kwargs
            Arguments of the call.
        """
        found: Future[Any] = Future()
        found.set_running_or_notify_cancel()
        remote = self._client.submit(fn, *args, **kwargs, pure=False, retries=_TRIES)
        with self._lock:
            self._running[remote] = found
        remote.add_done_callback(lambda done: self._finish(done, (fn, args, kwargs), _TRIES))
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel all tasks; do not close the client.

        Parameters
        ----------
        wait, cancel_futures : bool
            Ignored. Running tasks are always cancelled.
        """
        with self._lock:
            running, self._running = dict(self._running), {}
        if running:
            self._client.cancel(list(running), force=True)

    def _finish(self, done: Any, call: tuple[Any, Any, Any], tries: int) -> None:
        with self._lock:
            found = self._running.pop(done, None)
        if found is None:
            return
        try:
            found.set_result(done.result())
        except BaseException as error:
            if not _is_lost(error) or tries <= 1:
                found.set_exception(_as_error(error))
                return
            fn, args, kwargs = call
            again = self._client.submit(fn, *args, **kwargs, pure=False, retries=_TRIES)
            with self._lock:
                self._running[again] = found
            again.add_done_callback(lambda next_: self._finish(next_, call, tries - 1))


def _is_lost(error: BaseException) -> bool:
    """Return whether a task ended because its workers died, not because of an error in the task."""
    return type(error).__name__ in ("KilledWorker", "FutureCancelledError", "CancelledError")


def _as_error(error: BaseException) -> Exception:
    return error if isinstance(error, Exception) else RuntimeError(type(error).__name__)


def _check_builds(client: Any) -> None:
    """Reject workers with other builds of Airpath before any task runs on them."""
    try:
        builds = client.run(build, on_error="return")
    except Exception as error:
        raise RunError(f"dask: {type(error).__name__}: {one_line(str(error))}") from None
    lines, expected = [], _own_build()
    for address, found in builds.items():
        if isinstance(found, BaseException):
            why = f"{type(found).__name__}: {one_line(str(found))}"
            lines.append(f"worker {address}: no airpath there ({why}). Install it.")
        elif tuple(found) != expected:
            has, this = (f"airpath {version} ({commit})" for version, commit in (found, expected))
            lines.append(f"worker {address}: has {has}, this is {this}. Install the same there.")
    if lines:
        raise BadValueError("\n".join(sorted(lines)))


def _own_build() -> tuple[str, str]:
    return build()


# --- clusters ------------------------------------------------------------------------------------


@contextmanager
def dask_executor(where: str, workers: int | None = None) -> Iterator[DaskExecutor]:
    """Connect to Dask workers; yield an executor, which is usable until the block ends.

    Parameters
    ----------
    where : str
        ``local`` (processes of this machine), the address of a scheduler (``tcp://10.0.0.1:8786``),
        or a Python file with a function ``client`` that returns a `distributed.Client`, for example
        from dask-jobqueue. The client is closed at the end of the block. With ``local``, the worker
        processes are ended, too.
    workers : int, optional
        Number of processes; only with ``local``. Default: one for each core.

    Raises
    ------
    BadValueError
        If Dask is not installed, the scheduler does not answer, or the file has no function
        ``client``.
    """
    if importlib.util.find_spec("distributed") is None:
        raise BadValueError("dask: is not installed. Install airpath[dask].")
    client = _client(where, workers)
    try:
        if where == "local":
            _restore_workers(client.cluster)
        executor = DaskExecutor(client)
        try:
            yield executor
        finally:
            executor.shutdown()
    finally:
        if where == "local":
            _kill_workers(client.cluster)
        client.close()
        if where == "local":
            client.cluster.close()


def _restore_workers(cluster: Any) -> None:
    """Restart local workers that Dask has dropped.

    Dask restarts a worker that dies, but not a worker that dies during its start. It drops a worker
    that is disconnected for `distributed.deploy.lost-worker-timeout`, 15 s.
    """
    from tornado.ioloop import PeriodicCallback

    count = len(cluster.worker_spec)

    def restore() -> None:
        if cluster.status.name != "running":
            restoring.stop()
        elif len(cluster.workers) < count:
            cluster.scale(count)

    restoring = PeriodicCallback(restore, 1000 * _RESTORE_S)
    cluster.loop.add_callback(restoring.start)


def _kill_workers(cluster: Any) -> None:
    """Kill the worker processes of a local cluster; they hold no results.

    A normal close would wait 4 s for the running task.
    """

    async def kill() -> None:
        for nanny in cluster.workers.values():
            nanny.close_gracefully()  # The nanny does not start another worker.
            if nanny.pid:
                os.kill(nanny.pid, signal.SIGKILL)

    cluster.sync(kill)


def _client(where: str, workers: int | None) -> Any:
    if where == "local":
        from airpath.api import cores

        return _distributed().Client(_local_cluster(workers or cores()))
    if where.endswith(".py"):
        return _client_of_file(Path(where))
    try:
        return _distributed().Client(where, timeout=_CONNECT_S)
    except (OSError, TimeoutError, ValueError) as error:
        why = one_line(str(error)) or type(error).__name__
        raise BadValueError(
            f"--dask: {quoted(where)}: no scheduler answers ({why.rstrip('.')}). "
            "Use local, an address like tcp://10.0.0.1:8786, or a file like cluster.py."
        ) from None


def _local_cluster(workers: int) -> Any:
    """Return a cluster of processes on this machine."""
    distributed = _distributed()
    try:
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            # Any free port. The default port is 8787, and Dask warns if it is in use.
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=50,
            preload="airpath.sweeps.dask_preload",
        )
    except KeyboardInterrupt:
        # Dask cannot close a cluster that has not started. Its processes end with this process.
        atexit.unregister(distributed.deploy.spec.close_clusters)
        raise


def _distributed() -> Any:
    return importlib.import_module("distributed")


def _client_of_file(path: Path) -> Any:
    try:
        client = runpy.run_path(str(path)).get("client")
        made = client() if callable(client) else None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadValueError(f"--dask: {quoted(str(path))}: cannot be read ({why}).") from None
    except Exception as error:
        why = f"{type(error).__name__}: {one_line(str(error))}"
        raise BadValueError(f"--dask: {quoted(str(path))}: failed ({why}).") from None
    if not isinstance(made, _distributed().Client):
        raise BadValueError(
            f"--dask: {quoted(str(path))}: gives no client. "
            "Define a function client() that returns a distributed.Client."
        )
    return made
