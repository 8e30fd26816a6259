"""The function `sweep`, which runs replications of many scenarios."""

from __future__ import annotations

import os
import subprocess
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.api import cores
from airpath.arguments import check_all, error_prefix, path_like, worker_threads
from airpath.errors import (
    AdvisoryWarning,
    AirpathWarning,
    BadValueError,
    RunError,
    SweepInterrupted,
    one_line,
)
from airpath.files import not_left_empty, output_directory
from airpath.interrupts import stop_on_ctrl_c
from airpath.present.progress import Auto, ProgressCallback, progress_line, reporting_to
from airpath.sweeps.advisories import advisory_lines
from airpath.sweeps.coordinator import Coordinator, SweepOutcome
from airpath.sweeps.executors import Threads, Workers, workers_of
from airpath.sweeps.plan import Engine, Point
from airpath.sweeps.progress import Progress

if TYPE_CHECKING:
    from airpath.scenario import Scenario
    from airpath.sweeps.description import Description
    from airpath.sweeps.job import Job
    from airpath.sweeps.ledger import Ledger
    from airpath.sweeps.result import Sweep
    from airpath.sweeps.solving import Solver

__all__ = ["TemporaryDirectory", "failure_text", "run_description", "sweep"]


def sweep(
    base: Scenario | str | os.PathLike[str] | Callable[..., Scenario],
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    zip: Mapping[str, Sequence[Any]] | None = None,  # noqa: A002  (the key of the sweep file)
    points: Sequence[Mapping[str, Any]] | None = None,
    random: Mapping[str, Any] | None = None,
    exclude: Sequence[Mapping[str, Any]] = (),
    labels: Mapping[str, Any] | None = None,
    metrics: Sequence[str] | Mapping[str, Any] | None = None,
    reps: int | Mapping[str, Any] = 4,
    seed: int = 1,
    confidence: float = 0.99,
    engines: Sequence[Engine] = ("simulate",),
    series: Sequence[str] = (),
    common_random_numbers: bool = True,
    out: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    threads: int | None = None,
    fail_fast: bool = False,
    accept_version: bool = False,
    progress: ProgressCallback | Auto | None = "auto",
    name: str | None = None,
) -> Sweep:
    """Run replications of many scenarios and store all finished replications.

    The tables depend only on the arguments, not on the order or the machine of the runs.

    Parameters
    ----------
    base : Scenario, path or callable
        The scenario to vary, the path of a scenario file, or a function that returns a scenario.
        An axis is a parameter of this function, or a key of the scenario.
    grid, zip, points, random, exclude, labels
        Points and their labels, as in a sweep file: all combinations of axis values (`grid`), the
        n-th value of each axis (`zip`), listed points, random points, excluded points, labels for
        tables and figures.
    metrics : sequence of str, or mapping of str to callable, optional
        Metrics of each replication: names of result columns, or functions that take a `Result` and
        return a number. Default ``goodput_bps`` and ``p95_delay_s``, as in a sweep file.
    reps : int or mapping
        Number of replications of each point, or a stopping rule: ``{"min": 4, "max": 64, "until":
        {"metric": "goodput_bps", "relative": 0.02}}``. Default 4.
    seed : int
        Master seed, 0 to 2^64 - 1. Default 1.
    confidence : float
        Confidence level of the intervals, above 0 and below 1. Default 0.99.
    engines : sequence of str
        ``simulate`` or ``emulate``, optionally with ``solve``, or only ``solve``. Default:
        ``simulate``. Emulations run in real time, one after the other, regardless of `threads`.
    series : sequence of str
        Time series that are stored as Parquet files next to the ledger. Default: none.
    common_random_numbers : bool
        True if all points have the same seed. Default True.
    out : path, optional
        Directory of the ledger. Replications that the ledger already contains are not run again.
        Default: a temporary directory, which is deleted together with the result.
    executor : concurrent.futures.Executor, optional
        Executor of the replications. Default: threads of this process. (The engine releases the
        interpreter lock.)
    threads : int, optional
        Number of threads, 1 to 10 000. Only without `executor`. Default: one for each core.
    fail_fast : bool
        True to end the sweep at the first failed replication. Default False: the failure is stored,
        no further replications of its point run, and the other points continue.
    accept_version : bool
        True to use replications in `out` that other versions of Airpath ran. Default False: they
        are rejected.
    progress : callable, ``"auto"`` or None
        Called at most ten times per second with the finished fraction, in [0, 1], and a line of
        text. It is called while replications run, and during a long check of the points. Default
        ``"auto"``: a progress bar in a notebook and in an interactive interpreter.
    name : str, optional
        Title of tables, figures and the report.

    Returns
    -------
    sweep : Sweep
        The tables and figures.

    Warns
    -----
    AirpathWarning
        If a point failed.
    AdvisoryWarning
        For each kind of advisory, with the number of points and the first of these points.

    Raises
    ------
    BadValueError
        If a value or a point is not accepted (the message has one line per problem); if the ledger
        is damaged, in use, or has replications of another version; if a worker has another version.
    RunError
        If the executor fails, or if `fail_fast` is set and a replication fails. Finished
        replications are in `out`.
    SweepInterrupted
        After Ctrl-C. It is a subclass of `KeyboardInterrupt`; its attribute `sweep` has the
        finished replications.
    """
    from airpath.sweeps.description import described

    _check(out, executor, threads, progress)
    how: dict[str, Any] = {"out": out, "executor": executor, "threads": threads}
    how |= {"fail_fast": fail_fast, "accept_version": accept_version}
    call = f"airpath.sweep(reps={reps}, seed={seed})"
    with reporting_to(progress) as notify:
        description = described(
            base,
            notify=notify,
            grid=grid,
            zip=zip,
            points=points,
            random=random,
            exclude=exclude,
            labels=labels,
            metrics=metrics,
            reps=reps,
            seed=seed,
            confidence=confidence,
            engines=engines,
            series=series,
            common_random_numbers=common_random_numbers,
            name=name,
        )
        result, outcome = run_description(description, notify=notify, command=call, **how)
    return _warned(result, outcome, fail_fast)


def _warned(result: Sweep, outcome: SweepOutcome, fail_fast: bool) -> Sweep:
    """Return the result of a sweep; warn of failed points and of advisories."""
    if outcome.interrupted:
        raise SweepInterrupted(result)
    if outcome.failed and fail_fast:
        raise RunError(failure_text(outcome))
    if outcome.failed:
        warnings.warn(failure_text(outcome), AirpathWarning, stacklevel=3)
    for line in advisory_lines(result.readings):
        warnings.warn(line, AdvisoryWarning, stacklevel=3)
    return result


def run_description(
    description: Description,
    *,
    out: str | os.PathLike[str] | None = None,
    executor: Any = None,
    threads: int | None = None,
    fail_fast: bool = False,
    accept_version: bool = False,
    stays: Callable[[Point], bool] | None = None,
    notify: ProgressCallback | None = None,
    command: str = "",
) -> tuple[Sweep, SweepOutcome]:
    """Run the missing replications of a sweep; return the results and the outcome.

    Parameters
    ----------
    description : Description
        Sweep to run.
    out, executor, threads, fail_fast, accept_version, notify
        As in `sweep`; `notify` is its `progress`.
    stays : callable, optional
        Function that returns whether a point of earlier calls stays in the plan of the ledger
        (`Plan.joined`). Set it if several calls share `out`, for example the calls of `reproduce`
        for different items. Replications of other versions are then not used, and a warning is
        issued. Default: the plan is replaced, and replications of other versions are rejected.
    command : str
        Command line or call, to store in the ledger. Default: not known.

    Raises
    ------
    BadValueError, RunError
        As in `sweep`.
    """
    from airpath.sweeps.ledger import FILE_NAME, Ledger
    from airpath.sweeps.result import Sweep
    from airpath.sweeps.series import DIRECTORY, refuse_without_parquet

    plan, jobs, is_shared = description.plan, description.jobs, stays is not None
    if plan.series:
        refuse_without_parquet()
    workers = _workers(description, executor, threads)
    try:
        with (
            _directory(out) as (directory, owned),
            Ledger.open(
                directory / FILE_NAME, accept_version=accept_version, leave_others=is_shared
            ) as ledger,
            stop_on_ctrl_c() as stop,
        ):
            if is_shared and not accept_version:
                _warn_of_others(ledger)
            ledger.set_plan(plan if stays is None else plan.joined(ledger.plan(), stays), jobs)
            coordinator = Coordinator(
                plan,
                jobs,
                description.functions,
                ledger,
                workers,
                description.contents,
                progress=Progress(notify),
                series=directory / DIRECTORY if plan.series else None,
                solver=_solver(description, ledger) if "solve" in plan.engines else None,
                fail_fast=fail_fast,
                command=command,
            )
            outcome = coordinator.run(stop)
    finally:
        workers.close()
    path, own_only = directory / FILE_NAME, is_shared and not accept_version
    return Sweep(path, description.functions, owned, own_only=own_only), outcome


def _workers(description: Description, executor: Any, threads: int | None) -> Workers:
    if description.plan.replicated != "emulate":
        return workers_of(description.contents, executor, threads)
    if executor is not None:
        raise BadValueError(
            f"{error_prefix('executor', executor)}: an emulation runs here, one at a time. "
            "Remove it."
        )
    from airpath.sweeps.emulating import EmulationRunner

    return Threads(description.contents, 1, EmulationRunner(description.kernels))


def _warn_of_others(ledger: Ledger) -> None:
    others = [build for build in ledger.versions() if build != ledger.own]
    if others:
        warnings.warn(
            f"{one_line(str(ledger.path))}: replications of {', '.join(map(str, others))} are left "
            "alone and run again. --accept-version uses them, airpath sweep prune removes them.",
            AirpathWarning,
            stacklevel=3,
        )


def failure_text(outcome: SweepOutcome) -> str:
    """Return one line: number of failed points, and the first failure."""
    is_only = outcome.failed == 1
    points = "1 point" if is_only else f"{outcome.failed} points"
    return f"{points} failed. {'It is' if is_only else 'The first is'} {outcome.first_failure}"


class TemporaryDirectory:
    """A temporary directory. It is removed when this object is garbage-collected.

    A child process (a shell) removes the directory when its standard input is closed. The directory
    is therefore removed even if this process is killed by SIGKILL.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="airpath-sweep-"))
        remover = subprocess.Popen(
            ["/bin/sh", "-c", 'read _; rm -rf -- "$0"', self.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        weakref.finalize(self, remover.communicate)


@contextmanager
def _directory(out: str | os.PathLike[str] | None) -> Iterator[tuple[Path, Any]]:
    """Yield the directory of the ledger, and its `TemporaryDirectory` (None if `out` is given)."""
    if out is None:
        owned = TemporaryDirectory()
        yield owned.path, owned
        return
    with not_left_empty(out):
        yield output_directory(out, "out"), None


def _solver(description: Description, ledger: Any) -> Solver:
    from airpath.sweeps.solving import Solver

    numbers = {point.digest: point.number for point in reversed(description.plan.points)}
    jobs = [
        description.jobs[digest]
        for digest in sorted(numbers, key=numbers.__getitem__)
        if not _is_solved(ledger.solved(digest), description.plan.metrics)
    ]

    def scenario(job: Job) -> Scenario:
        return description.scenarios(numbers[job.digest])

    names = description.plan.metrics
    threads = 1 if description.plan.replicated else cores()
    return Solver(jobs, description.contents, names, scenario, threads)


def _is_solved(found: Any, metrics: Sequence[str]) -> bool:
    return isinstance(found, str) or (found is not None and found.keys() >= set(metrics))


def _check(out: Any, executor: Any, threads: Any, progress: Any) -> None:
    both = executor is not None and threads is not None
    check_all(
        None if out is None else path_like("out", out),
        worker_threads(threads),
        f"{error_prefix('threads', threads)}: the executor has its own. Remove it."
        if both
        else None,
        progress_line(progress),
    )
