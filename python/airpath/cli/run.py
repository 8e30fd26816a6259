"""``airpath run``: simulate a scenario."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.markup import escape

from airpath import api
from airpath.cli import completion, options, output
from airpath.errors import BadValueError, Interrupted
from airpath.files import not_left_empty, output_directory
from airpath.interrupts import interrupts_wait
from airpath.present.progress import replication_progress, terminal_bar
from airpath.results import Result
from airpath.results.captures import checked_points
from airpath.results.export import checked_formats
from airpath.results.overview import heading, tables
from airpath.results.panel_choice import refuse_nothing_over_time
from airpath.results.save import Saving, check_places
from airpath.results.window import checked_window
from airpath.scenario import Scenario
from airpath.scenario.path import main_link

__all__ = ["run"]


def run(
    scenario: options.Scenario,
    set_: options.Set = [],  # noqa: B006  (typer copies it)
    parts: options.Parts = [],  # noqa: B006  (typer copies it)
    reps: options.Reps = 10,
    seed: options.Seed = 1,
    out: options.Out = None,
    format_: options.Formats = None,
    capture: Annotated[
        str | None,
        typer.Option(
            metavar="POINT[,POINT]",
            help="Capture packets at these points: pcapng files in --out.",
            autocompletion=completion.capture_points,
        ),
    ] = None,
    capture_replication: Annotated[
        int | None,
        typer.Option(metavar="N", help="Replication that is captured. Default: the first."),
    ] = None,
    json: options.Json = False,
    threads: options.Threads = None,
    confidence: options.Confidence = 0.99,
    plot: options.Plot = None,
    figure_format: options.FigureFormats = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="FROM..TO", help="Span of the timeline, 10s..20s. Default: the whole run."
        ),
    ] = None,
) -> int:
    """Simulate a scenario: tables of its flows, queues and links."""
    captures = {
        "capture": capture is not None,
        "capture_replication": capture_replication is not None,
    }
    files = Files.checked(out, format_, plot, figure_format, window, captures)
    output.load_parts(parts)
    checked = api.check(api.load(scenario, output.load_options(set_)))
    chosen = checked.scenario
    points = None if capture is None else checked_points(capture, checked.resolved)
    _check_recording(chosen, window)
    if capture_replication is not None and not (points or chosen.capture.points):
        raise BadValueError(
            "--capture-replication: nothing is captured. Use --capture POINT as well."
        )
    if out is None and chosen.capture.points:
        output.note("capture: nothing is written without a directory. Use --out DIR as well.")
    with not_left_empty(out):
        directory = None if out is None else output_directory(out, "out")
        if directory is not None:
            check_places(directory, chosen.record.series, files.formats)
        with terminal_bar() as notify:
            try:
                result = api.simulate(
                    checked,
                    reps=reps,
                    seed=seed,
                    threads=threads,
                    confidence=confidence,
                    capture=points,
                    capture_replication=capture_replication,
                    capture_to=directory,
                    progress=None if notify is None else replication_progress(notify),
                    command=output.command_line(),
                )
            except Interrupted as stopped:
                result = stopped.result
        _print_notes(result, directory)
        interrupted = _write(result, directory, files, json=json)
        return 130 if interrupted else 0


class Files(NamedTuple):
    """Settings of the files in the directory of ``--out``.

    Parameters
    ----------
    formats : sequence of str
        Formats of the tables.
    plot : bool or None
        Whether figures are plotted. None: if nothing interrupted the run or its tables.
    figure_formats : sequence of str
        Formats of the figures.
    window : str or None
        Time span of the timeline. None: the complete run.
    """

    formats: Sequence[str]
    plot: bool | None
    figure_formats: Sequence[str]
    window: str | None

    @classmethod
    def checked(
        cls,
        out: str | None,
        format_: str | None,
        plot: bool | None,
        figure_format: str | None,
        window: str | None,
        others: Mapping[str, bool],
    ) -> Files:
        """Return the settings for these options; `others` as for `output.figure_kinds`.

        Raises
        ------
        BadValueError
            If an option has no effect without ``--out``, is unknown, or conflicts with
            ``--no-plot``.
        """
        formats = checked_formats("csv" if format_ is None else format_)
        own = {"window": window is not None, "format": format_ is not None}
        kinds = output.figure_kinds(out, figure_format, plot, others={**own, **others})
        if plot is False and window is not None:
            raise BadValueError("--window and --no-plot: contradict each other. Use one of them.")
        return cls(formats, plot, kinds, window)


def _check_recording(chosen: Scenario, window: str | None) -> None:
    """Reject a window of the timeline that the scenario does not record."""
    if window is not None:
        checked_window(window, chosen.duration / 1e9)
        series = main_link(chosen).series
        refuse_nothing_over_time("--window", chosen.record.series, series)


def _print_notes(result: Result, directory: Path | None) -> None:
    if result.interrupted:
        done = f"{len(result.replications)} of {result.requested} replications"
        output.note(f"Interrupted: {done} were finished.")
        if not result.replications and directory is not None and any(directory.iterdir()):
            output.note(f"Nothing was written: what is in {directory} is of an earlier run.")
    for advisory in result.advisories:
        output.note(str(advisory))


def _write(result: Result, directory: Path | None, files: Files, *, json: bool) -> bool:
    """Write the files and print the result; return whether Ctrl-C ended the run or the tables."""
    interrupted, figures = result.interrupted, False
    try:
        # Files first, because the reader of a pipe may exit.
        if directory is not None and result.replications:
            interrupted = _save(result, directory, files.formats) or interrupted
            figures = not interrupted if files.plot is None else files.plot
    finally:
        try:
            with interrupts_wait():
                if json:
                    output.print_json(result.to_dict())
                else:
                    print_result(result, output.console())
                sys.stdout.flush()
        finally:
            if directory is not None and figures:
                kinds, window = files.figure_formats, files.window
                output.written(result.plot.save(directory, figure_formats=kinds, window=window))
    return interrupted


def _save(result: Result, directory: Path, formats: Sequence[str]) -> bool:
    """Write the files of a result; return whether Ctrl-C interrupted the writing.

    Statistics are always written. Writing the time series can take long.
    """
    saving = Saving(result, directory, formats)
    try:
        with interrupts_wait():
            output.written([*result.captures.values(), *saving.statistics()])
            output.removed(saving.removed)
        for path in saving.recordings():
            output.written([path])
    except KeyboardInterrupt:
        if saving.missing:
            output.note(f"Interrupted: without {', '.join(saving.missing)}.")
        return True
    return False


# --- printing ----------------------------------------------------------------------------------


def print_result(result: Result, out: Console) -> None:
    """Print the tables of a result."""
    from airpath.present.terminal import print_table

    out.print(f"[bold]{escape(result.title)}[/bold]")
    out.print(heading(result))
    for reason in result.invalid:
        out.print(f"[bold red]INVALID:[/bold red] {escape(reason)}")
    runs = len(result.replications)
    if not result.complete:
        out.print(f"[bold red]Incomplete:[/bold red] {runs} of {result.requested} were finished.")
    for table in tables(result, "--out and --json") if runs else ():
        print_table(table, out)
