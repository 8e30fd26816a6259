"""The coordinator of a sweep: it runs and stores the same replications with any executor, in any
order of completion, and if it is called repeatedly.
"""

from __future__ import annotations

import multiprocessing
import random
import re
from collections.abc import Callable, Collection
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sweep_samples import Sample, scenario, traced

import airpath as ap
from airpath.errors import BadValueError, RunError
from airpath.sweeps import tasks
from airpath.sweeps.executors import workers_of
from airpath.sweeps.ledger import FILE_NAME, Ledger
from airpath.sweeps.metrics import solve_metrics
from airpath.sweeps.plan import Rule
from airpath.sweeps.progress import Progress
from airpath.sweeps.solving import Solver
from airpath.sweeps.tasks import Task, TaskResult, run_task

UNTIL = Rule(4, 24, "goodput_bps", relative=0.02)
RATES = ("1 Mbit/s", "2 Mbit/s", "3 Mbit/s")


class Inline(Executor):
    """Runs each call immediately, and keeps the shipped contents."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls.append(args)
        found: Future[Any] = Future()
        try:
            found.set_result(fn(*args, **kwargs))
        except Exception as error:
            found.set_exception(error)
        return found


class Shuffled:
    """Workers that finish their tasks in a random order."""

    slots = 3

    def __init__(self, contents: Any, seed: int) -> None:
        self.waiting: list[tuple[Future[TaskResult], Task]] = []
        self.most = 0
        self._contents = contents
        self._random = random.Random(seed)

    def submit(self, task: Task, ship: Collection[str] = ()) -> Future[TaskResult]:
        self.waiting.append((Future(), task))
        self.most = max(self.most, len(self.waiting))
        if len(self.waiting) == 3 * self.slots or self._random.random() < 0.3:
            self.finish()
        return self.waiting[-1][0] if self.waiting else self.last

    def finish(self) -> None:
        self.last = self.waiting[-1][0]
        self._random.shuffle(self.waiting)
        while self.waiting:
            future, task = self.waiting.pop()
            future.set_result(run_task(task, self._contents))

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass


def sample(tmp_path: Path, rule: Rule = UNTIL) -> Sample:
    return Sample([*(scenario(rate) for rate in RATES), traced(tmp_path)], rule)


def counting(directory: Path, of: Sample) -> dict[str, list[Any]]:
    """Return, for each job, the replications that count: those up to the number that the rule
    requires.
    """
    from airpath.sweeps.stopping import counted

    found = {}
    for digest, runs in of.stored(directory).items():
        values = [values["goodput_bps"] for _, _, values in runs]
        assert [number for number, _, _ in runs] == list(range(len(runs)))
        found[digest] = runs[: counted(of.plan.rule, values, of.plan.confidence)]
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    directory = tmp_path_factory.mktemp("expected")
    of = sample(directory)
    ended = of.run(directory, workers_of(of.contents, None, 1))
    assert (ended.interrupted, ended.failed) == (False, 0)
    found = counting(directory, of)
    assert len({len(runs) for runs in found.values()}) > 1
    return found


def test_two_threads_give_the_same_as_one(tmp_path: Path, expected: Any) -> None:
    of = sample(tmp_path)
    of.run(tmp_path, workers_of(of.contents, None, 2))
    assert counting(tmp_path, of) == expected
    assert of.run(tmp_path).replications == 0


@pytest.mark.parametrize("seed", range(3))
def test_order_of_completion_does_not_matter(tmp_path: Path, expected: Any, seed: int) -> None:
    of = sample(tmp_path)
    workers = Shuffled(of.contents, seed)

    def stop() -> bool:
        workers.finish() if workers.waiting else None
        return False

    of.run(tmp_path, workers, stop)
    assert counting(tmp_path, of) == expected
    assert 1 < workers.most <= 9


def test_processes_give_the_same_as_threads(tmp_path: Path, expected: Any) -> None:
    of = sample(tmp_path)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        of.run(tmp_path, workers_of(of.contents, pool, None))
    assert counting(tmp_path, of) == expected


def test_interrupted_sweep_resumes_and_runs_nothing_twice(tmp_path: Path, expected: Any) -> None:
    of = sample(tmp_path)
    ran, ends = 0, 0
    while True:
        looks = iter([*[False] * (1 + ends % 2), *[True] * 100])
        ended = of.run(tmp_path, workers_of(of.contents, None, 1), looks.__next__)
        ran, ends = ran + ended.replications, ends + 1
        if not ended.interrupted:
            break
    assert ends > 2
    assert counting(tmp_path, of) == expected
    assert ran == sum(map(len, of.stored(tmp_path).values()))


def test_long_replications_in_progress_are_aborted_at_once(tmp_path: Path) -> None:
    of = Sample([scenario(), scenario("1 Gbit/s", duration="10 h")], Rule(2, 2))
    ended = of.run(tmp_path, stop=lambda: len(next(iter(of.stored(tmp_path).values()))) == 2)
    assert ended.interrupted
    assert [len(runs) for runs in of.stored(tmp_path).values()] == [2, 0]


def test_equal_points_share_replications(tmp_path: Path) -> None:
    of = Sample([scenario(), scenario()], Rule(3, 3))
    assert of.run(tmp_path).replications == 3


def test_metrics_requested_later_need_no_new_runs(tmp_path: Path) -> None:
    of = Sample([scenario()], Rule(3, 3))
    of.run(tmp_path)
    later = Sample([scenario()], Rule(3, 3), metrics=["jain", "goodput_bps"])
    assert later.run(tmp_path).replications == 0
    (tmp_path / "fresh").mkdir()
    later.run(tmp_path / "fresh")
    assert later.stored(tmp_path) == later.stored(tmp_path / "fresh")
    ((*_, (_, _, values)),) = later.stored(tmp_path).values()
    assert values.keys() == {"goodput_bps", "jain"}


# --- failures ------------------------------------------------------------------------------------


def broken(of: Sample, place: int) -> str:
    """Make the engine reject the job of a point."""
    digest = of.plan.points[place].digest
    job = of.jobs[digest]
    sections = tuple(each.replace("gred", "no") for each in job.sections)
    of.jobs[digest] = replace(job, sections=sections)
    return digest


def test_failed_point_is_recorded_and_the_others_continue(tmp_path: Path) -> None:
    of = sample(tmp_path, Rule(3, 3))
    full = dict(of.jobs)
    bad = broken(of, 1)
    ended = of.run(tmp_path)
    assert (ended.interrupted, ended.failed, ended.replications) == (False, 1, 9)
    # Which of three parallel runs fails first depends on the threads.
    assert re.match(r"point 1 \(n = 1\), replication [012]: short: ", ended.first_failure)
    assert "bottleneck.queue.kind = no: unknown." in ended.first_failure
    with Ledger.read(tmp_path / FILE_NAME) as ledger:
        assert ledger.failed(bad, 3).keys() == {0, 1, 2}
    of.jobs = full
    assert of.run(tmp_path).replications == 3
    with Ledger.read(tmp_path / FILE_NAME) as ledger:
        assert ledger.failed(bad, 3) == {}


def test_first_failure_can_end_the_sweep(tmp_path: Path) -> None:
    of = Sample([scenario(), scenario("1 Gbit/s", duration="10 h")], Rule(1, 1))
    broken(of, 0)
    ended = of.run(tmp_path, fail_fast=True)
    assert (ended.interrupted, ended.failed, ended.replications) == (False, 1, 0)


def test_failing_user_function_is_a_failure_of_its_point(tmp_path: Path) -> None:
    def worst(result: Any) -> float:
        if result.replications[0]["replication"] == 1:
            raise ZeroDivisionError("no\nflow")
        return float(result.replications[0]["events"])

    of = Sample([scenario()], Rule(2, 2), functions={"worst": worst}, metrics=["worst"])
    ended = of.run(tmp_path)
    assert (
        ended.first_failure == r"point 0 (n = 0), replication 1: worst: ZeroDivisionError: no\nflow"
    )
    assert ended.replications == 2


def test_function_that_fails_on_stored_data_is_a_failure_too(tmp_path: Path) -> None:
    """Regression: the exception of the function ended the sweep."""
    values: list[Any] = [1.0, 1.0, 2.0]

    def own(result: Any) -> Any:
        return values[result.replications[0]["replication"]]

    of = Sample([scenario()], Rule(2, 3, "own", absolute=1.0), functions={"own": own})
    of.plan.metrics[:] = ["own"]
    assert of.run(tmp_path).failed == 0
    values[1] = "many"
    ended = of.run(tmp_path)
    text = 'point 0 (n = 0), replication 1: own: TypeError: returned "many", not a number'
    assert (ended.failed, ended.first_failure, ended.replications) == (1, text, 0)


def test_user_function_may_determine_the_number_of_replications(tmp_path: Path) -> None:
    def own(result: Any) -> float:
        return float(result.replications[0]["replication"] % 2)

    rule = Rule(2, 40, "own", absolute=0.5)
    of = Sample([scenario()], rule, functions={"own": own}, metrics=["own", "goodput_bps"])
    of.run(tmp_path)
    ((*_, (last, _, values)),) = of.stored(tmp_path).values()
    assert values.keys() == {"goodput_bps"}
    # Half-width of the interval, Student's t * s / sqrt(n): 2.57 * 0.548 / sqrt(6) = 0.57 for six
    # values, and 2.45 * 0.535 / sqrt(7) = 0.49 for seven values.
    assert last >= 6
    assert of.run(tmp_path).replications == 0


# --- external workers ----------------------------------------------------------------------------


def test_contents_are_sent_when_a_worker_lacks_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_kept", type(tasks._kept)())
    of = Sample([traced(tmp_path, (1, 7)), traced(tmp_path, (1, 7, 8))], Rule(300, 300))
    executor = Inline()
    executor._max_workers = 1  # type: ignore[attr-defined]
    of.run(tmp_path, workers_of(of.contents, executor, None))
    shipped = [sorted(contents) for _, contents in executor.calls]
    assert {key for keys in shipped for key in keys} == set(of.contents)
    # Three tasks are in progress before the first worker reports its missing packages.
    assert sum(map(len, shipped)) <= 3 * len(of.contents) < len(shipped)
    # The number of tasks depends on the clock: the last task may be the first task that needs the
    # content.
    assert shipped[0] == []


def test_worker_of_another_version_is_rejected_with_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "build", lambda: ("0.0.9", "abc"))
    of = sample(tmp_path)
    with pytest.raises(BadValueError) as raised:
        of.run(tmp_path, workers_of(of.contents, Inline(), None))
    text = str(raised.value)
    assert text.startswith("worker ")
    assert ": has airpath 0.0.9 (abc), this is airpath " in text
    assert sum(map(len, of.stored(tmp_path).values())) == 0


def test_workers_that_disappear_end_the_sweep_in_one_line_and_lose_nothing(tmp_path: Path) -> None:
    class Dying(Inline):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            if len(self.calls) == 2:
                raise BrokenProcessPool("a process died")
            return super().submit(fn, *args, **kwargs)

    of = Sample([scenario(rate) for rate in RATES], Rule(1, 1))
    executor = Dying()
    with pytest.raises(RunError, match=r"^the executor failed: a process died\. What was") as lost:
        of.run(tmp_path, workers_of(of.contents, executor, None))
    assert "\n" not in str(lost.value)
    assert sum(map(len, of.stored(tmp_path).values())) == 2


def test_function_that_cannot_be_pickled_is_reported(tmp_path: Path) -> None:
    class Pickling(Inline):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            import pickle

            pickle.dumps(args)
            return super().submit(fn, *args, **kwargs)

    of = Sample([scenario()], Rule(1, 1), functions={"own": lambda _: 1.0}, metrics=["own"])
    with pytest.raises(RunError, match=r"^metrics: a function cannot be sent to another process "):
        of.run(tmp_path, workers_of(of.contents, Pickling(), None))


def test_invalid_executor_is_rejected() -> None:
    with pytest.raises(BadValueError, match=r'^executor = "dask": cannot run anything\. Use'):
        workers_of({}, "dask", None)


# --- analytic models -----------------------------------------------------------------------------


def test_models_have_a_solution_or_a_reason(tmp_path: Path) -> None:
    covered = ap.Scenario(
        flows=ap.flows(source="poisson", rate="4 Mbit/s", packet="1500 B"),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="10 packets"), link=ap.link.Fixed(rate="5 Mbit/s")
        ),
        duration="2 s",
    )
    uncovered = traced(tmp_path)
    of = Sample([covered, uncovered], Rule(1, 1), engines=["simulate", "solve"])
    jobs = list(of.jobs.values())
    scenarios = dict(zip(of.jobs, (covered, uncovered), strict=True))
    names = ["goodput_bps", "utilisation"]
    solver = Solver(jobs, of.contents, names, lambda job: scenarios[job.digest], 1)
    assert of.run(tmp_path, solver=solver).failed == 0
    with Ledger.read(tmp_path / FILE_NAME) as ledger:
        found = [ledger.solved(point.digest) for point in of.plan.points]
    solution = ap.solve(covered)
    assert found[0] == solve_metrics(names, solution)
    assert isinstance(found[1], str)
    assert "\n" not in found[1]
    assert "no analytic model covers it" in found[1]


# --- progress ------------------------------------------------------------------------------------


def test_progress_ends_with_all_replications(tmp_path: Path) -> None:
    reports: list[tuple[float, str]] = []
    of = sample(tmp_path)
    of.run(tmp_path, progress=Progress(lambda fraction, text: reports.append((fraction, text))))
    assert all(0 <= fraction <= 1 for fraction, _ in reports)
    assert " of 4 points, " in reports[-1][1]
    speed = reports[-1][1].split(", ")[2].removesuffix(" simulated s/s")
    assert re.fullmatch(r"\d[\d,]*(\.\d+)?", speed), speed
