"""``airpath solve``: the analytic model of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from airpath import api
from airpath.cli import completion, output
from airpath.solutions import Solution

__all__ = ["solve"]

MOST_FLOWS = 20


def solve(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")],
    set_: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Put a value in place of the file's.",
            autocompletion=completion.settings,
        ),
    ] = [],  # noqa: B006  (typer copies it)
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Which model, where several cover the scenario.",
            autocompletion=completion.models,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    """Solve the analytic model that matches a scenario."""
    chosen = api.load(scenario, output.load_options(set_))
    solution = api.solve(chosen, model=model, command=output.command_line())
    if json:
        output.print_json(solution.to_dict())
    else:
        _print(chosen.title, solution)
    return 0


def _print(name: str, solution: Solution) -> None:
    out = output.console()
    out.print(f"[bold]{escape(name)}[/bold], model {solution.model}")
    for line in solution.lines():
        out.print(line)
    if len(solution.flows) <= MOST_FLOWS:
        heads, rows = solution.flow_table()
        output.print_table(out, "Flows", heads, rows)
