"""``airpath compare``: the results of several engines for one scenario, side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from airpath import api
from airpath.cli import completion, options, output
from airpath.comparison import Comparison, texts
from airpath.comparison.engines import checked_engines
from airpath.comparison.engines import compare as compare_engines
from airpath.emulation.api import REAL_TIME
from airpath.errors import ComparisonInterrupted
from airpath.files import not_left_empty, output_directory, write_file
from airpath.interrupts import interrupts_wait
from airpath.present.progress import ProgressCallback, terminal_bar
from airpath.present.terminal import print_table

__all__ = ["compare"]


def compare(
    scenario: options.Scenario,
    engines: Annotated[
        str | None,
        typer.Option(
            metavar="simulate,emulate,solve",
            help="Engines; differences are from the first. Default: those that can.",
            autocompletion=completion.engines,
        ),
    ] = None,
    set_: options.Set = [],  # noqa: B006  (typer copies it)
    parts: options.Parts = [],  # noqa: B006  (typer copies it)
    reps: options.Reps = 5,
    seed: options.Seed = 1,
    threads: options.Threads = None,
    confidence: options.Confidence = 0.99,
    out: options.Out = None,
    plot: options.Plot = None,
    figure_format: options.FigureFormats = None,
    json: options.Json = False,
) -> int:
    """Compare simulation, emulation and model of one scenario."""
    kinds = output.figure_kinds(out, figure_format, plot)
    checked_engines(engines)
    output.load_parts(parts)
    chosen = api.load(scenario, output.load_options(set_))
    with not_left_empty(out):
        directory = None if out is None else output_directory(out, "out")
        interrupted = False
        with terminal_bar() as notify:
            try:
                comparison = compare_engines(
                    chosen,
                    engines=engines,
                    reps=reps,
                    seed=seed,
                    threads=threads,
                    confidence=confidence,
                    progress=_each_replication() if notify is None else notify,
                    command=output.command_line(),
                )
            except ComparisonInterrupted as stopped:
                if stopped.comparison is None:
                    raise
                comparison, interrupted = stopped.comparison, True
        _notify(comparison, interrupted)
        try:
            # Files first: the reader of the output may close the pipe.
            if directory is not None:
                _save(comparison, directory)
        finally:
            try:
                with interrupts_wait():
                    if json:
                        output.print_json(comparison.to_dict())
                    else:
                        _print(comparison)
                    sys.stdout.flush()
            finally:
                if directory is not None and plot is not False:
                    output.written(comparison.save_figure(directory, kinds))
    return 130 if interrupted else 0


def _each_replication() -> ProgressCallback:
    """Return a callback that prints the emulated replication, for use without a terminal."""
    printed: set[str] = set()

    def notify(fraction: float, what: str) -> None:  # noqa: ARG001  (a `ProgressCallback`)
        if what.startswith(REAL_TIME) and what not in printed:
            printed.add(what)
            output.note(what)

    return notify


def _notify(comparison: Comparison, interrupted: bool) -> None:
    """Print the engines without an answer, and warnings about the answers."""
    if interrupted:
        found = "; ".join(map(texts.who, comparison.answers.values()))
        output.note(f"Interrupted: what was finished is compared. {found}.")
    for engine, reason in comparison.refused.items():
        output.note(f"{engine}: not compared: {reason}")
    for answer in comparison.answers.values():
        if not texts.about(answer).get("valid", True):
            output.note(f"{answer.engine}: INVALID, its numbers cannot be believed; see the facts.")
    lines = [
        str(advisory) for answer in comparison.answers.values() for advisory in answer.advisories
    ]
    for line in dict.fromkeys(lines):
        output.note(line)


def _save(comparison: Comparison, directory: Path) -> None:
    """Write the comparison, and the result of each engine into a separate directory."""
    with interrupts_wait():
        output.written(comparison.save(directory, figure_formats=None))
    for engine, answer in comparison.answers.items():
        place = directory / engine
        if answer.result is not None:
            answer.result.save(place, figure_formats=None)
        elif answer.solution is not None:
            output_directory(place)
            write_file(place / "solution.json", (answer.solution.to_json() + "\n").encode("utf-8"))
        output.written([place])


def _print(comparison: Comparison) -> None:
    out = output.console()
    out.print(f"[bold]{escape(comparison.title)}[/bold]")
    out.print(texts.heading(comparison))
    for answer in comparison.answers.values():
        out.print(escape(texts.who(answer)))
    print_table(texts.table(comparison), out)
    out.print("\n[bold]Differences[/bold]")
    for line in texts.explanation(comparison):
        out.print(escape(line), soft_wrap=True)
