"""``python -m airpath.demo``: an LTE link, a fading cell and a paper made again, in pictures.

Three parts, under two minutes on two cores, figures into ``out/``:
a recorded LTE link (or a synthetic one where there is no recording) under Reno and NewReno with
drop-tail and gentle RED; four flows in a fading cell, NewReno beside CLAMP; then
``reproduce qawla`` in its quick mode, for its tables and Figures 5 and 6, where the papers are
installed.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from airpath import api, reproduction
from airpath.cli import guarded, output
from airpath.errors import Interrupted
from airpath.files import output_directory
from airpath.present import figure_files
from airpath.present.progress import terminal_bar
from airpath.present.tables import Table
from airpath.present.terminal import print_table
from airpath.reproduction.plugins import INSTALL
from airpath.reproduction.render import print_report
from airpath.results import Result
from airpath.results.compare import comparison_figure, sojourn_times
from airpath.results.flow_bars import flow_bars
from airpath.results.intervals import Interval, mean_interval, text
from airpath.scenario import Scenario, recorded_traces
from airpath.scenario.examples import shipped_examples

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["main"]

RECORDING = "Verizon-LTE-short"
REPLICATIONS = 4
COMBINATIONS = {
    "Reno, drop-tail": "reno-droptail",
    "Reno, gentle RED": "reno-gred",
    "NewReno, drop-tail": "newreno-droptail",
    "NewReno, gentle RED": "newreno-gred",
}
PERCENTILES = (50, 95)
PAPER = "qawla"
IN_A_CELL = {"NewReno, drop-tail": "cell-newreno", "CLAMP": "cell-clamp"}


def main(out: str = "out", examples: Path | None = None) -> int:
    """Run the demonstration.

    Parameters
    ----------
    out : str
        Directory for the figures, made when missing.
    examples : Path, optional
        Directory of the example scenarios. Default: those that come with Airpath.

    Returns
    -------
    status : int
        0, or 130 after Ctrl-C.
    """
    began = time.monotonic()
    console = output.console()
    directory = output_directory(out, "out")
    examples = examples or shipped_examples()
    interrupted = (
        _link(_scenarios(examples, console), directory, console)
        or _fading_cell(examples, directory, console)
        or _paper(directory, console)
    )
    console.print(f"\nFigures are in {directory}/. {time.monotonic() - began:.0f} s.", style="bold")
    return 130 if interrupted else 0


# --- a recorded link ---------------------------------------------------------------------------


def _scenarios(examples: Path, console: Console) -> dict[str, Scenario]:
    directory = recorded_traces()
    missing = [
        name
        for name in (f"{RECORDING}.down", f"{RECORDING}.up")
        if not (directory / name).is_file()
    ]
    kind = "synthetic" if missing else "lte"
    if missing:
        console.print(
            f"{' and '.join(missing)}: not in {directory}.\n"
            "Mahimahi publishes its recordings in the repository ravinet/mahimahi on GitHub, "
            "directory traces.\nPut them into a directory and name it in AIRPATH_TRACES. "
            "This demonstration goes on with a synthetic trace.",
            style="yellow",
        )
    return {
        label: api.load(examples / f"{kind}-{stem}.toml") for label, stem in COMBINATIONS.items()
    }


def _link(scenarios: dict[str, Scenario], directory: Path, console: Console) -> bool:
    """Simulate and draw every combination; return whether Ctrl-C ended it."""
    results: dict[str, Result] = {}
    interrupted = False
    with terminal_bar() as tell:
        for number, (label, scenario) in enumerate(scenarios.items()):

            def report(_done: int, _total: int, part: float, n: int = number) -> None:
                if tell is not None:
                    tell((n + part) / len(scenarios), "simulating the link")

            try:
                results[label] = api.simulate(
                    scenario, reps=REPLICATIONS, progress=report, command="python -m airpath.demo"
                )
            except Interrupted:
                interrupted = True
                break
    if not results:
        return interrupted
    where = next(iter(scenarios.values())).name.rpartition(", ")[2]
    _print_link(where, results, console)
    for label, result in results.items():
        stem = f"link-{COMBINATIONS[label]}"
        _save(result.plot.timeline(), directory, stem, f"{label}, {where}", console)
    if not interrupted:
        title = f"Goodput and delay over the link: {where}"
        _save(comparison_figure(results, title), directory, "link-comparison", title, console)
    return interrupted


def _print_link(where: str, results: dict[str, Result], console: Console) -> None:
    flows = len(next(iter(results.values())).resolved.flows)
    rows = []
    for label, result in results.items():
        row = result.intervals("flows")[-1]
        runs = [sojourn_times(result, index) for index in range(len(result.replications))]
        delays = [
            mean_interval(
                (1e3 * _percentile(run, p) for run in runs), result.confidence, (0.0, math.inf)
            )
            for p in PERCENTILES
        ]
        rows.append(
            [
                label,
                _cell(row["goodput_bps"], 2, 1e-6),
                _cell(result.intervals("links")[0]["utilisation"], 1, 100),
                *(_cell(delay, 0) for delay in delays),
                _cell(row["retransmissions"], 0),
                _cell(row["timeouts"], 1),
                _cell(result.jain(), 3),
            ]
        )
    columns = [
        "",
        "goodput, Mbit/s",
        "link used, %",
        *(f"sojourn time, {p} %, ms" for p in PERCENTILES),
        "retransmitted",
        "timeouts",
        "Jain",
    ]
    title = f"{flows} bulk downloads over the link: {where}"
    print_table(Table(title, columns, rows), console)
    console.print(f"{REPLICATIONS} replications each; ± is the 99 % interval.", style="dim")


def _percentile(run: NDArray[np.float64], percent: float) -> float:
    return float(np.percentile(run, percent)) if len(run) else math.nan


def _cell(value: Interval, digits: int, scale: float = 1.0) -> str:
    return text(value, scale, digits)


def _save(figure: Figure, directory: Path, stem: str, title: str, console: Console) -> None:
    for path in figure_files.save(
        figure, directory, stem, title, "python -m airpath.demo", ["png"]
    ):
        console.print(f"  written: {path}", soft_wrap=True)


# --- a fading cell -----------------------------------------------------------------------------


def _fading_cell(examples: Path, directory: Path, console: Console) -> bool:
    """Simulate and draw four flows under both schemes; return whether Ctrl-C ended it."""
    results: dict[str, Result] = {}
    try:
        for label, stem in IN_A_CELL.items():
            results[label] = api.simulate(
                api.load(examples / f"{stem}.toml"),
                reps=REPLICATIONS,
                command="python -m airpath.demo",
            )
    except Interrupted:
        return True
    rows = []
    for label, result in results.items():
        *flows, together = result.intervals("flows")
        mean_sojourns = [queue["mean_sojourn_s"].mean for queue in result.intervals("queues")]
        rows.append(
            [
                label,
                _cell(together["ip_throughput_bps"], 2, 1e-6),
                *(_cell(flow["ip_throughput_bps"], 2, 1e-6) for flow in flows),
                f"{1e3 * math.fsum(mean_sojourns) / len(mean_sojourns):.0f}",
            ]
        )
    each = [f"flow {flow}" for flow in range(len(rows[0]) - 3)]
    title = "Four downloads in a fading cell, IP throughput in Mbit/s"
    console.print()
    print_table(Table(title, ["", "all", *each, "mean sojourn time, ms"], rows), console)
    _save(flow_bars(results, title.partition(",")[0]), directory, "cell", title, console)
    return False


# --- a paper made again ------------------------------------------------------------------------


def _paper(directory: Path, console: Console) -> bool:
    if PAPER not in reproduction.installed_papers():
        console.print(
            f"\nThe paper {PAPER} is not installed: {INSTALL} adds its tables and figures."
        )
        return False
    with terminal_bar() as tell:
        report = reproduction.reproduce(
            PAPER,
            mode="quick",
            out=directory,
            progress=tell,
            provenance={"command": "python -m airpath.demo"},
        )
    console.print()
    print_report(report, console)
    return report.interrupted


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1] if sys.argv[1:] else "out")))
