"""A sweep on Dask gives the same results as a sweep on threads, even if workers die."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import warnings
from collections.abc import Callable, Collection, Coroutine, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from sweep_samples import Sample, scenario, traced

from airpath.errors import BadValueError
from airpath.sweeps.executors import workers_of
from airpath.sweeps.plan import Rule
from airpath.sweeps.tasks import Task, TaskResult

# Resources that Dask's processes leave to the garbage collector when they are killed.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:UserWarning:distributed"),
]


@pytest.fixture(scope="module")
def executor() -> Iterator[Any]:
    from airpath.sweeps.dask import dask_executor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with dask_executor("local", 2) as made:
            yield made


class Killing:
    """Workers, one of which dies after a number of tasks."""

    def __init__(self, of: Sample, executor: Any, every: int, most: int) -> None:
        self._workers = workers_of(of.contents, executor, None)
        self.slots = self._workers.slots
        self.stop, self.close = self._workers.stop, self._workers.close
        self.killed = 0
        self._cluster = executor._client.cluster
        self._every, self._most, self._sent = every, most, 0
        self._random = random.Random(1)

    def submit(self, task: Task, ship: Collection[str] = ()) -> Future[TaskResult]:
        sent = self._workers.submit(task, ship)
        self._sent += 1
        alive = [worker.pid for worker in self._cluster.workers.values() if worker.pid]
        if alive and self._sent % self._every == 0 and self.killed < self._most:
            os.kill(self._random.choice(alive), signal.SIGKILL)
            self.killed += 1
        return sent


def sample(directory: Path, replications: int, duration: str) -> Sample:
    scenarios = [scenario(rate, duration) for rate in ("1 Mbit/s", "2 Mbit/s")]
    return Sample([*scenarios, traced(directory)], Rule(replications, replications))


def test_results_equal_those_on_threads_when_a_worker_dies(tmp_path: Path, executor: Any) -> None:
    of = sample(tmp_path, 60, "20 s")
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    of.run(here)
    workers = Killing(of, executor, 8, 1)
    ended = of.run(there, workers)
    assert workers.killed == 1
    assert (ended.failed, ended.replications) == (0, 180)
    assert of.stored(there) == of.stored(here)


@pytest.mark.long
def test_results_are_equal_when_workers_die_while_they_start(tmp_path: Path, executor: Any) -> None:
    """Regression: Dask drops a worker that dies during its start; without workers a sweep never
    ended.
    """
    of = sample(tmp_path, 300, "50 s")
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    of.run(here)
    workers = Killing(of, executor, 2, 12)
    assert of.run(there, workers).failed == 0
    assert workers.killed > 3
    assert of.stored(there) == of.stored(here)


def test_worker_of_another_version_is_rejected_before_anything_runs(
    executor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airpath.sweeps import dask

    # Only the version of this process is changed, not that of the workers.
    monkeypatch.setattr(dask, "_own_build", lambda: ("9.9", "fed"))
    with pytest.raises(BadValueError) as raised:
        dask.DaskExecutor(executor._client)
    lines = str(raised.value).splitlines()
    assert 1 <= len(lines) <= 2
    for line in lines:
        assert line.startswith("worker tcp://127.0.0.1:")
        assert line.endswith(", this is airpath 9.9 (fed). Install the same there.")


class Nanny:
    """A supervisor of a worker process, which restarts it unless it was closed."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(["sleep", "1000"])
        self.pid = self.process.pid
        self.is_closed = False

    def close_gracefully(self) -> None:
        assert self.process.poll() is None
        self.is_closed = True


class Cluster:
    """A local cluster, closed the way `dask` does it."""

    def __init__(self) -> None:
        self.workers = {number: Nanny() for number in range(2)}

    def sync(self, function: Callable[[], Coroutine[None, None, None]]) -> None:
        asyncio.run(function())


def test_local_workers_are_killed_during_a_task() -> None:
    """Regression: Dask waits for a task, so that Ctrl-C took four seconds."""
    from airpath.sweeps import dask

    cluster = Cluster()
    dask._kill_workers(cluster)
    for nanny in cluster.workers.values():
        assert nanny.is_closed
        assert nanny.process.wait() == -signal.SIGKILL


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (None, "cannot be read (no such file or directory)."),
        ("1 / 0", "failed (ZeroDivisionError: division by zero)."),
        ("def client():\n    return {}['a']", "failed (KeyError: 'a')."),
        ("x = 1", "gives no client. Define a function client() that returns a"),
        ("def client():\n    return 3", "gives no client. Define a function client()"),
    ],
)
def test_file_without_a_client_is_rejected(tmp_path: Path, text: str | None, wrong: str) -> None:
    from airpath.sweeps.dask import dask_executor

    path = tmp_path / "cluster.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BadValueError) as raised, dask_executor(str(path)):
        pass
    assert str(raised.value).startswith(f'--dask: "{path}": {wrong}')


def test_scheduler_that_does_not_answer_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from airpath.sweeps import dask

    monkeypatch.setattr(dask, "_CONNECT_S", 0.3)
    with pytest.raises(BadValueError) as raised, dask.dask_executor("tcp://127.0.0.1:9"):
        pass
    text = str(raised.value)
    assert text.startswith('--dask: "tcp://127.0.0.1:9": no scheduler answers (')
    assert "\n" not in text
