"""``airpath sweep``: run a sweep file, and the commands on its ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from airpath import api
from airpath.arguments import check_all, master_seed, replication_count, worker_threads
from airpath.cli import options, output
from airpath.cli.examples import epilog
from airpath.cli.sweep_ledger import export, prune, status
from airpath.errors import BadValueError, RunError, one_line
from airpath.interrupts import interrupts_wait
from airpath.present.progress import terminal_bar
from airpath.present.terminal import print_table
from airpath.scenario.part_files import has_part_files

if TYPE_CHECKING:
    from airpath.sweeps.coordinator import SweepOutcome
    from airpath.sweeps.description import Description
    from airpath.sweeps.result import Sweep

__all__ = ["app"]

_MOST_ROWS = 40
"""Maximum number of printed points, if a file contains all points."""


class _Group(TyperGroup):
    """Command group. If the first argument is not the name of a command, run a sweep."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.commands, "--help", "-h"):
            args = ["run", *args] if args else ["--help"]
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage(ctx.command_path, "FILE.toml [OPTIONS]")
        others = "|".join(name for name in self.commands if name != "run")
        formatter.write_usage(ctx.command_path, f"{others} DIR [OPTIONS]", prefix="       ")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        # The options of `run`, then the commands.
        run: Any = self.commands["run"]
        run.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


app = typer.Typer(
    cls=_Group,
    help="Run many scenarios; the same command resumes them.",
    epilog=epilog("sweep"),
    add_completion=False,
    rich_markup_mode=None,
)
app.command("status", epilog=epilog("sweep status"))(status)
app.command("export", epilog=epilog("sweep export"))(export)
app.command("prune", epilog=epilog("sweep prune"))(prune)


@app.command("run", hidden=True)
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The sweep file.")],
    out: options.Out = None,
    set_: options.Set = [],  # noqa: B006  (typer copies it)
    parts: options.Parts = [],  # noqa: B006  (typer copies it)
    reps: options.MaybeReps = None,
    seed: options.MaybeSeed = None,
    threads: options.Threads = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="local|ADDRESS|FILE.py",
            help="Run on Dask: local processes, a scheduler, or a client from client() in a file.",
        ),
    ] = None,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first failure.")
    ] = False,
    accept_version: options.AcceptVersion = False,
    format_: options.Formats = None,
    plot: options.Plot = None,
    figure_format: options.FigureFormats = None,
    json: options.Json = False,
) -> int:
    """Run what is missing of a sweep, and write its tables, figures and report."""
    from airpath.results.export import checked_formats

    _check(reps, seed, threads, dask)
    formats = checked_formats("csv" if format_ is None else format_)
    kinds = output.figure_kinds(out, figure_format, plot, others={"format": format_ is not None})
    output.load_parts(parts)
    description = _read(file, set_, reps, seed)
    if dask is not None and description.plan.replicated == "emulate":
        raise BadValueError("--dask: an emulation runs here, one at a time. Remove it.")
    options = {"out": out, "fail_fast": fail_fast, "accept_version": accept_version}
    simulates = description.plan.replicated == "simulate"
    with _executor(dask, threads, simulates=simulates) as executor:
        sweep, outcome = _run(description, executor=executor, threads=threads, **options)
        if outcome.interrupted:
            _print_resume_hint(sweep, out)
            return 130
    try:
        if out is not None:
            _save(sweep, Path(out), formats, [] if plot is False else kinds)
    except KeyboardInterrupt:
        _print_resume_hint(sweep, out)
        return 130
    finally:
        with interrupts_wait():
            _print(sweep, out, json=json)
    if outcome.failed:
        from airpath.sweeps.api import failure_text

        raise RunError(failure_text(outcome))
    return 0


def _read(file: Path, set_: list[str], reps: int | None, seed: int | None) -> Description:
    """Read the sweep file, with a progress bar: checking a million points takes minutes."""
    from airpath.sweeps.description import read_sweep_file
    from airpath.sweeps.plan import Rule

    with terminal_bar() as notify:
        description = read_sweep_file(file, output.load_options(set_), seed=seed, notify=notify)
    if reps is None:
        return description
    return replace(description, plan=replace(description.plan, rule=Rule(reps, reps)))


def _check(reps: int | None, seed: int | None, threads: int | None, dask: str | None) -> None:
    both = dask is not None and dask != "local" and threads is not None
    check_all(
        None if reps is None else replication_count(reps),
        None if seed is None else master_seed(seed),
        worker_threads(threads),
        "--threads and --dask: the cluster has its own. Leave one of them out." if both else None,
    )


@contextmanager
def _executor(dask: str | None, threads: int | None, *, simulates: bool) -> Iterator[Any]:
    """Open the executor of a sweep; None for threads of this process.

    Parts in Python hold the interpreter lock, so that they use several cores only in processes.
    """
    if dask is None and simulates and has_part_files():
        with ProcessPoolExecutor(threads or api.cores(), get_context("spawn")) as pool:
            yield pool
        return
    if dask is None:
        yield None
        return
    from airpath.sweeps.dask import dask_executor

    with dask_executor(dask, threads) as executor:
        yield executor


def _run(
    description: Description, *, executor: Any, threads: int | None, **options: Any
) -> tuple[Sweep, SweepOutcome]:
    from airpath.sweeps.api import run_description

    own = threads if executor is None else None
    with terminal_bar() as notify:
        return run_description(
            description,
            executor=executor,
            threads=own,
            notify=notify,
            command=output.command_line(),
            **options,
        )


def _print_resume_hint(sweep: Sweep, out: str | None) -> None:
    left, points = len(sweep.unfinished), len(sweep.plan.points)
    done = f"Interrupted: {points - left} of {points} points are finished"
    if out is None:
        output.note(f"{done}; nothing is kept without a directory (--out DIR).")
    else:
        output.note(f"{done}. Resume with: {output.command_line()}")


def _save(sweep: Sweep, directory: Path, formats: Sequence[str], kinds: Sequence[str]) -> None:
    from airpath.files import write_file
    from airpath.present.figure_files import file_name
    from airpath.report.sweep import report_of_sweep
    from airpath.sweeps.plot.figures import rendered

    page = directory / "report.html"
    with interrupts_wait():
        output.written(sweep.save(directory, formats=formats, figure_formats=None))
    # Figures take seconds and can be written again by the next call, so Ctrl-C interrupts them.
    figures, plot = {}, sweep.plot
    # The report uses SVG.
    for stem, files in rendered(plot, dict.fromkeys(["svg", *kinds])) if kinds else ():
        figures[stem] = files["svg"]
        for kind in kinds:
            write_file(path := directory / file_name(stem, kind), files[kind])
            output.written([path])
    left_out = plot.left_out()
    if left_out:
        output.note(f"figures: not drawn: {'; '.join(left_out.values())}")
    report = report_of_sweep(sweep, directory=directory, figures=figures, left_out=left_out)
    write_file(page, report.encode())
    output.written([page])


# --- printing ------------------------------------------------------------------------------------


def _print(sweep: Sweep, out: str | None, *, json: bool) -> None:
    from airpath.sweeps.advisories import advisory_lines
    from airpath.sweeps.point_table import point_table

    plan, readings, console = sweep.plan, sweep.readings, output.console()
    if json:
        output.print_json(sweep.to_dict())
    else:
        most = len(plan.points) if out is None else _MOST_ROWS // len(plan.engines)
        print_table(point_table(readings, plan.metrics, most=most), console)
        if (left := len(plan.points) - most) > 0:
            others = f"and {left} more points in {out}"
            console.print(others, style="dim", markup=False)
    _print_unsolved(sweep)
    for line in advisory_lines(readings):
        output.note(one_line(line))
    if out is None:
        output.note("Nothing was kept. Use --out DIR for ledger, tables, figures and report.")


def _print_unsolved(sweep: Sweep) -> None:
    without = [of for of in sweep.readings.points if isinstance(of.solved, str)]
    if without:
        first, count = without[0], len(sweep.plan.points)
        output.note(
            f"solve: {len(without)} of {count} points have no solution. The first is point "
            f"{first.point.number}: {one_line(str(first.solved))}"
        )
