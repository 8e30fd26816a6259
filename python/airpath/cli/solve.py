"""``airpath solve``: the analytic model of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from airpath import api
from airpath.cli import output

__all__ = ["solve"]

MOST_FLOWS = 20


def solve(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")],
    set_: Annotated[
        list[str],
        typer.Option("--set", metavar="KEY=VALUE", help="Put a value in place of the file's."),
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
        where += f", alpha {solution.alpha:.4f}"
    out.print(
        f"throughput {solution.throughput_bps / 1e6:.4f} Mbit/s (IP packets), "
        f"queue {solution.queue_packets:.4f} packets, {where}"
    )
    if len(solution.flows) <= MOST_FLOWS:
        rows = [
            [
                str(flow.id),
                f"{flow.throughput_bps / 1e6:.4f} Mbit/s",
                f"{flow.rtt_s * 1e3:.2f} ms",
                f"{flow.loss:.3e}",
            ]
            for flow in solution.flows
        ]
        output.print_table(out, "Flows", ["flow", "throughput", "RTT", "loss"], rows)
