"""``airpath solve``: the analytic model of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from airpath import api
from airpath.cli import completion, options, output
from airpath.files import not_left_empty, output_directory
from airpath.present.terminal import print_table
from airpath.solutions import ClampFluid, Solution

__all__ = ["solve"]

MOST_FLOWS = 20


def solve(
    scenario: options.Scenario,
    set_: options.Set = [],  # noqa: B006  (typer copies it)
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Model, where several cover the scenario.",
            autocompletion=completion.models,
        ),
    ] = None,
    trajectory: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Integrate the equations up to then; needs --out or --json.",
        ),
    ] = None,
    max_window_packets: Annotated[
        float | None,
        typer.Option(metavar="PACKETS", help="W_max of fixed-point, if it is not an integer."),
    ] = None,
    out: options.OutSolution = None,
    json: options.Json = False,
) -> int:
    """Solve the analytic model that matches a scenario."""
    if not json:
        what = "a directory or a document. Use --out DIR or --json"
        output.only_with_out(out, what, trajectory=trajectory is not None)
    chosen = api.load(scenario, output.load_options(set_))
    with not_left_empty(out):
        directory = None if out is None else output_directory(out, "out")
        solution = api.solve(
            chosen,
            model=model,
            trajectory=trajectory,
            max_window_packets=max_window_packets,
            command=output.command_line(),
        )
        if directory is not None:
            output.written(_save(solution, directory))
    if json:
        output.print_json(solution.to_dict())
    else:
        _print(chosen.title, solution)
    return 0


def _save(solution: Solution, directory: Path) -> list[Path]:
    """Write the document, and the trajectory if there is one."""
    paths = [directory / "solution.json"]
    paths[0].write_text(solution.to_json() + "\n", encoding="utf-8")
    if isinstance(solution, ClampFluid) and solution.trajectory is not None:
        paths.append(directory / "trajectory.csv")
        solution.trajectory_table().to_csv(paths[1], index=False, lineterminator="\n")
    return paths


def _print(name: str, solution: Solution) -> None:
    out = output.console()
    out.print(f"[bold]{escape(name)}[/bold], model {solution.model}")
    for line in solution.lines():
        out.print(line)
    if 0 < len(solution.flows) <= MOST_FLOWS:
        print_table(solution.flow_table(), out)
