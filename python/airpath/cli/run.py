"""``airpath run``: simulate a scenario."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from airpath import api
from airpath.advisory import grouped
from airpath.captures import checked_points
from airpath.cli import completion, output
from airpath.cli.output import interval as _number
from airpath.errors import BadValueError, Interrupted
from airpath.files import not_left_empty, output_folder
from airpath.results import Interval, Result
from airpath.results.export import checked_formats
from airpath.results.figure_files import checked_formats as checked_figure_formats
from airpath.results.plot import checked_window
from airpath.results.save import Saving
from airpath.results.statistics import ALL_FLOWS

__all__ = ["run"]

MOST_FLOWS = 20
"""More flows are not listed one by one."""


def run(
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
    reps: Annotated[int, typer.Option(help="Independent replications.")] = 10,
    seed: Annotated[int, typer.Option(help="Master seed.")] = 1,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write tables and figures into this folder.")
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="csv,csv.gz,parquet",
            help="Of the tables in --out.",
            autocompletion=completion.formats,
        ),
    ] = "csv",
    capture: Annotated[
        str | None,
        typer.Option(
            metavar="POINT[,POINT]",
            help="Capture packets there: pcapng files in --out.",
            autocompletion=completion.capture_points,
        ),
    ] = None,
    capture_replication: Annotated[
        int | None, typer.Option(metavar="N", help="Which replication. Default: the first.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    threads: Annotated[int | None, typer.Option(help="Default: one for each core.")] = None,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.99,
    plot: Annotated[
        bool | None, typer.Option("--plot/--no-plot", help="Figures in --out. Default: yes.")
    ] = None,
    figure_format: Annotated[
        str, typer.Option(metavar="png,pdf,svg", help="Of the figures in --out.")
    ] = "png",
    window: Annotated[
        str | None,
        typer.Option(metavar="FROM..TO", help="Of the timeline: 10s..20s. Default: the run."),
    ] = None,
) -> int:
    """Simulate a scenario and print what its flows, queues and links did."""
    if plot and out is None:
        raise BadValueError("--plot: needs a folder. Write --out DIR as well.")
    if window is not None and out is None:
        raise BadValueError("--window: needs a folder. Write --out DIR as well.")
    if capture is not None and out is None:
        raise BadValueError("--capture: needs a folder. Write --out DIR as well.")
    formats = checked_formats(format_)
    kinds = checked_figure_formats(figure_format)
    points = None if capture is None else checked_points(capture)
    chosen = api.load(scenario, output.load_options(set_))
    api.check(chosen)
    checked_window(window, chosen.duration / 1e9)
    if out is None and chosen.capture.points:
        output.note("capture: nothing is written without a folder. Write --out DIR as well.")
    with not_left_empty(out):
        folder = None if out is None else output_folder(out)
        with output.progress_bar() as tell:
            try:
                result = api.simulate(
                    chosen,
                    reps=reps,
                    seed=seed,
                    threads=threads,
                    confidence=confidence,
                    capture=points,
                    capture_replication=capture_replication,
                    capture_to=folder,
                    progress=None if tell is None else _reporter(tell),
                    command=output.command_line(),
                )
            except Interrupted as stopped:
                result = stopped.result
        if result.interrupted:
            done = f"{len(result.replications)} of {result.requested} replications"
            output.note(f"Interrupted: {done} were finished.")
        for advisory in result.advisories:
            output.note(str(advisory))
        interrupted, figures = result.interrupted, False
        try:
            # Files first: whoever reads the output may go away.
            if folder is not None and result.replications:
                interrupted = _save(result, folder, formats) or interrupted
                figures = not interrupted if plot is None else plot
        finally:
            try:
                with output.interrupts_wait():
                    if json:
                        output.print_json(result.to_dict())
                    else:
                        print_result(result, output.console())
                    sys.stdout.flush()
            finally:
                if folder is not None and figures:
                    output.written(result.plot.save(folder, figure_formats=kinds, window=window))
        return 130 if interrupted else 0


def _save(result: Result, folder: Path, formats: Sequence[str]) -> bool:
    """Write the files of a result; return whether Ctrl-C ended that.

    Statistics are written in any case. What was recorded over time can take long.
    """
    saving = Saving(result, folder, formats)
    try:
        with output.interrupts_wait():
            output.written([*result.captures.values(), *saving.statistics()])
            output.removed(saving.removed)
        for path in saving.recordings():
            output.written([path])
    except KeyboardInterrupt:
        if saving.missing:
            output.note(f"Interrupted: without {', '.join(saving.missing)}.")
        return True
    return False


def _reporter(tell: output.Tell) -> api.Progress:
    def report(finished: int, total: int, fraction: float) -> None:
        tell(fraction, f"simulating, {finished} of {total} replications finished")

    return report


# --- printing ----------------------------------------------------------------------------------


def print_result(result: Result, out: Console) -> None:
    """Print the tables of a result."""
    resolved, about = result.resolved, result.provenance
    out.print(f"[bold]{escape(result.title)}[/bold]")
    runs = len(result.replications)
    warmup = resolved["warmup_ns"] / 1e9
    out.print(
        f"{runs} {'replication' if runs == 1 else 'replications'} of "
        f"{resolved['duration_ns'] / 1e9:g} s"
        + (f", the first {warmup:g} s not counted" if warmup else "")
        + f"; seed {about['seed']}; "
        + (f"± is the {100 * result.confidence:g} % interval" if runs > 1 else "no intervals")
    )
    if not result.complete:
        out.print(f"[bold red]Incomplete:[/bold red] {runs} of {result.requested} were finished.")
    if runs:
        _print_flows(result, out)
        _print_queues(result, out)
        _print_links(result, out)
        _print_transfers(result, out)


def _print_flows(result: Result, out: Console) -> None:
    rows = dict(result.intervals)
    together = rows.pop(ALL_FLOWS)
    shown = rows if len(rows) <= MOST_FLOWS else {}
    lines = [[f"{flow} {_source(result, flow)}", *_flow_row(row)] for flow, row in shown.items()]
    groups = result.group_intervals()
    if len(rows) > len(groups) > 1:
        lines += [[_group(result, group), *_flow_row(group)] for group in groups]
    if len(rows) != 1:
        lines.append([f"all {len(rows)}", *_flow_row(together)])
    columns = ["flow", "goodput", "IP throughput", "delay", "RTT", "retransmitted", "timeouts"]
    output.print_table(out, "Flows", columns, lines)
    if len(rows) > MOST_FLOWS:
        out.print(f"{len(rows)} flows: --out and --json have them one by one.", style="dim")
    if len(rows) > 1:
        out.print(f"Jain's index of the goodputs: {_number(result.jain(), 1, 4)}")


def _group(result: Result, group: Mapping[str, Any]) -> str:
    first = grouped(result.resolved)[group["group"]][0]
    return f"group {group['group']}: {group['flows']} {_source(result, first)}"


def _source(result: Result, flow: int | str) -> str:
    source = result.resolved["flows"][flow]["source"]
    if source["kind"] != "tcp":
        return str(source["kind"])
    law, recovery = source["congestion"]["kind"], source["options"]["recovery"]
    return str(recovery if law == "reno" else f"{law}+{recovery}")


def _flow_row(row: Mapping[str, Interval]) -> list[str]:
    return [
        _number(row["goodput_bps"], 1e-6, 3, "Mbit/s"),
        _number(row["ip_throughput_bps"], 1e-6, 3, "Mbit/s"),
        _number(row["mean_delay_s"], 1e3, 1, "ms"),
        _number(row["mean_rtt_s"], 1e3, 1, "ms"),
        _number(row["retransmissions"], 1, 1),
        _number(row["timeouts"], 1, 1),
    ]


def _print_queues(result: Result, out: Console) -> None:
    rows = [
        [
            queue["name"],
            _number(queue["mean_packets"], 1, 2, "packets"),
            _number(queue["mean_sojourn_s"], 1e3, 1, "ms"),
            _number(queue["max_packets"], 1, 1),
            ", ".join(f"{_number(n, 1, 1)} {why}" for why, n in queue["drops"].items()) or "none",
            _number(queue["marks"], 1, 1),
        ]
        for queue in result.queue_intervals()
    ]
    columns = ["queue", "mean length", "mean wait", "longest", "drops", "marks"]
    output.print_table(out, "Queues", columns, rows)


def _print_links(result: Result, out: Console) -> None:
    rows = [
        [
            link["name"],
            _number(link["utilisation"], 100, 1, "%"),
            _number(link["delivered_packets"], 1, 0),
            _number(link["lost_packets"], 1, 1),
            _shares([regime.mean for regime in link["regime_packets"]]),
        ]
        for link in result.link_intervals()
    ]
    columns = ["link", "used", "packets", "lost", "packets by regime"]
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    output.print_table(out, "Links", columns, rows)
    for link in result.link_intervals():
        if link["counters"]:
            counters = [
                [
                    name.replace("_", " "),
                    _number(counter, 1, 3 if name.endswith("share") else 1),
                ]
                for name, counter in link["counters"].items()
            ]
            output.print_table(out, f"Link {link['name']}", ["count", "mean"], counters)


def _print_transfers(result: Result, out: Console) -> None:
    rows = [
        [
            str(group["group"]),
            _number(group["started"], 1, 1),
            _number(group["unfinished"], 1, 1),
            *(_number(group[name], 1, 3, "s") for name in ("mean_s", "median_s", "p95_s")),
        ]
        for group in result.transfer_intervals()
    ]
    if rows:
        columns = ["group", "started", "unfinished", "mean time", "median", "95th percentile"]
        output.print_table(out, "Transfers", columns, rows)


def _shares(counts: Sequence[float]) -> str:
    if len(counts) < 2:
        return ""
    total = sum(counts) or 1
    return ", ".join(f"R{j} {100 * n / total:.1f} %" for j, n in enumerate(counts, start=1))
