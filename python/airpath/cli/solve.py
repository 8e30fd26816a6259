"""``airpath solve``: the analytic model of a scenario."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from airpath import api
from airpath.cli import completion, output

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
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    """Solve the analytic model that matches a scenario."""
    chosen = api.load(scenario, output.load_options(set_))
    solution = api.solve(chosen, command=output.command_line())
    if json:
        output.print_json(solution.to_dict())
    else:
        _print(chosen.title, solution)
    return 0


def _print(name: str, solution: api.Solution) -> None:
    out = output.console()
    out.print(f"[bold]{escape(name)}[/bold], model {solution.model}")
    where = f"domain {solution.domain}"
    if solution.alpha is not None:
        where += f", alpha {solution.alpha:.2g}"
    out.print(
        f"throughput {_digits(solution.throughput_bps / 1e6, 4)} Mbit/s (IP packets), "
        f"queue {_digits(solution.queue_packets)} packets, {where}"
    )
    out.print(
        "averaged over the swings of the windows: "
        f"{_digits(solution.average_throughput_bps / 1e6, 4)} Mbit/s, "
        f"{_digits(solution.average_queue_packets)} packets"
    )
    if len(solution.flows) <= MOST_FLOWS:
        rows = [
            [
                str(flow.id),
                f"{_digits(flow.throughput_bps / 1e6)} Mbit/s",
                f"{_digits(flow.rtt_s * 1e3)} ms",
                f"{flow.loss:.2e}",
            ]
            for flow in solution.flows
        ]
        output.print_table(out, "Flows", ["flow", "throughput", "RTT", "loss"], rows)


def _digits(value: float, digits: int = 3) -> str:
    """Return a number with so many digits that mean something; the model has hardly more."""
    if value == 0:
        return "0"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
