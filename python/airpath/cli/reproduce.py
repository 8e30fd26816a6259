"""``airpath reproduce``: tables and figures of a published paper, computed by Airpath."""

from __future__ import annotations

from json import loads as json_of
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from airpath import reproduction
from airpath.cli import completion, options, output
from airpath.errors import BadValueError
from airpath.files import LARGEST, read_bytes
from airpath.interrupts import interrupts_wait
from airpath.present.progress import terminal_bar
from airpath.present.terminal import print_table
from airpath.reproduction import installed_papers
from airpath.reproduction.overview import counts, lists, overviews
from airpath.reproduction.plugins import NO_PAPERS
from airpath.reproduction.render import print_report

__all__ = ["reproduce"]


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER",
            help="Name, of airpath list paper, or a directory: papers/studies/qawla.",
            autocompletion=completion.papers,
        ),
    ] = None,
    items: Annotated[
        list[str],
        typer.Argument(
            metavar="[ITEM ...]",
            help="Items: table3, fig5, … Default: all.",
            autocompletion=completion.items,
        ),
    ] = [],  # noqa: B006  (typer copies it)
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter runs.")] = False,
    full: Annotated[bool, typer.Option("--full", help="As many and as long as the paper.")] = False,
    reps: options.MostReps = None,
    brief: Annotated[
        bool,
        typer.Option("--brief", help="Print only the verdict and the failures."),
    ] = False,
    summary: Annotated[
        bool,
        typer.Option("--summary", help="Print the last full runs at a glance; run nothing."),
    ] = False,
    json: options.Json = False,
    out: options.Out = None,
    figure_format: options.FigureFormats = None,
    seed: options.Seed = 1,
    threads: options.Threads = None,
    accept_version: options.AcceptVersion = False,
) -> int:
    """Reproduce a paper's tables and figures, and compare the numbers."""
    if summary:
        given = {
            "ITEM": items,
            "--quick": quick,
            "--full": full,
            "--reps": reps is not None,
            "--brief": brief,
            "--out": out,
            "--figure-format": figure_format,
            "--seed": seed != 1,
            "--threads": threads,
            "--accept-version": accept_version,
        }
        return _summary(paper, [name for name, value in given.items() if value], json=json)
    if paper is None:
        found = ", ".join(installed_papers())
        known = f"expected one of {found}, or a directory. Use --summary for all of them."
        raise BadValueError(f"PAPER: missing; {known if found else NO_PAPERS}")
    if quick and full:
        raise BadValueError("--quick and --full: contradict each other. Use one of them.")
    kept = {"accept_version": accept_version}
    kinds = output.figure_kinds(out, figure_format, usual="png,svg", others=kept)
    chosen = reproduction.load(paper)
    before = [] if out is None else _figures(Path(out) / f"{chosen.key}.json")
    with terminal_bar() as notify:
        report = reproduction.reproduce(
            chosen,
            items,
            mode="quick" if quick else "full" if full else "default",
            reps=reps,
            out=out,
            seed=seed,
            threads=threads,
            figure_formats=kinds,
            progress=notify,
            provenance={"command": output.command_line()},
            accept_version=accept_version,
        )
    _print_notes(report, before, out)
    with interrupts_wait():
        if json:
            output.print_json(report.to_dict(brief=brief))
        else:
            print_report(report, output.console(), brief=brief)
    return 130 if report.interrupted else 0


def _print_notes(report: reproduction.Report, before: list[str], out: str | None) -> None:
    """Print unfinished work after Ctrl-C, and names of figures from an earlier run."""
    if report.interrupted:
        finished = sum(item.complete for item in report.items)
        output.note(f"Interrupted: {finished} of {len(report.items)} items were finished.")
        if out is not None:
            output.note(f"Finished replications are kept. Resume with: {output.command_line()}")
    drawn = {path.name for item in report.items for path in item.figures}
    left = [name for name in before if name not in drawn and Path(out or "", name).is_file()]
    if left:
        # They are kept: each contains its provenance, and plotting them again can take hours.
        output.note(f"{out}: of an earlier run are {', '.join(left)}.")


def _summary(paper: str | None, others: list[str], *, json: bool) -> int:
    """Print the overview of one paper or of all; `others` are options that conflict with it."""
    if others:
        raise BadValueError(f"--summary: conflicts with {others[0]}. Remove one of them.")
    found = overviews(paper)
    if json:
        output.print_json({"papers": [each.to_dict() for each in found]})
    else:
        console = output.console()
        print_table(counts(found), console, comparison=True)
        for heading, entries in lists(found).items():
            console.print(f"\n[italic]{heading}[/italic]", highlight=False)
            for entry in entries or ["none"]:
                console.print(f"  {escape(entry)}", highlight=False)
    return 0


def _figures(report: Path) -> list[str]:
    """Return the names of the figures in an earlier report in the directory."""
    try:
        items = json_of(read_bytes(report, LARGEST))["items"]
        return [Path(figure).name for item in items for figure in item["figures"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []
