"""Simulated examples of the demonstration: four downloads over LTE, and in a fading cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from rich.console import Console

from airpath import api
from airpath.present import figure_files
from airpath.present.progress import ProgressCallback
from airpath.present.tables import Table
from airpath.report.demonstration import Example
from airpath.results import Result
from airpath.results.compare import comparison_figure, sojourn_times
from airpath.results.flow_bars import flow_bars
from airpath.results.intervals import Interval, mean_interval, text
from airpath.scenario import Scenario, recorded_traces

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["RECORDING", "fading_cell", "lte_link"]

RECORDING: Final = "Verizon-LTE-short"
REPLICATIONS = 4
COMBINATIONS: Final = {
    "Reno, drop-tail": "reno-droptail",
    "Reno, gentle RED": "reno-gred",
    "NewReno, drop-tail": "newreno-droptail",
    "NewReno, gentle RED": "newreno-gred",
}
PERCENTILES: Final = (50, 95)
IN_A_CELL: Final = {"NewReno, drop-tail": "cell-newreno", "CLAMP": "cell-clamp"}
COMMAND: Final = "python -m airpath.demo"


# --- an LTE link -------------------------------------------------------------------------------


def lte_link(
    examples: Path, directory: Path, console: Console, progress: ProgressCallback | None = None
) -> Example:
    """Simulate four bulk downloads over a recorded LTE link, or a synthetic one without recordings.

    Parameters
    ----------
    examples : Path
        Directory of the scenarios.
    directory : Path
        Directory of the figures.
    console : Console
        Console for the message about a missing recording.
    progress : callable, optional
        Function that is called with the finished share of the simulations.
    """
    results: dict[str, Result] = {}
    scenarios = _scenarios(examples, console)
    for number, (label, scenario) in enumerate(scenarios.items()):

        def report(_done: int, _total: int, part: float, n: int = number) -> None:
            if progress is not None:
                progress((n + part) / len(scenarios), "simulating the link")

        results[label] = api.simulate(scenario, reps=REPLICATIONS, progress=report, command=COMMAND)
    where = next(iter(scenarios.values())).name.rpartition(", ")[2]
    figures: dict[str, tuple[str, Figure]] = {
        f"link-{COMBINATIONS[label]}": (f"{label}, {where}", result.plot.timeline())
        for label, result in results.items()
    }
    title = f"Goodput and delay over the link: {where}"
    compared = {"link-comparison": (title, comparison_figure(results, title))}
    return Example(
        "link", _table_of_link(where, results), _saved({**compared, **figures}, directory)
    )


def _scenarios(examples: Path, console: Console) -> dict[str, Scenario]:
    traces = recorded_traces()
    missing = [
        name for name in (f"{RECORDING}.down", f"{RECORDING}.up") if not (traces / name).is_file()
    ]
    if missing:
        console.print(
            f"{' and '.join(missing)}: not found in {traces}; the link is synthetic.\n"
            "For the recorded link, copy the directory traces of github.com/ravinet/mahimahi and "
            "set AIRPATH_TRACES to its path.",
            style="yellow",
        )
    kind = "synthetic" if missing else "lte"
    return {
        label: api.load(examples / f"{kind}-{stem}.toml") for label, stem in COMBINATIONS.items()
    }


def _table_of_link(where: str, results: Mapping[str, Result]) -> Table:
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
    return Table(title, columns, rows, [_NOTE])


_NOTE: Final = f"{REPLICATIONS} replications each; ± is the 99 % interval."


def _percentile(run: NDArray[np.float64], percent: float) -> float:
    return float(np.percentile(run, percent)) if len(run) else math.nan


def _cell(value: Interval, digits: int, scale: float = 1.0) -> str:
    return text(value, scale, digits)


def _saved(figures: Mapping[str, tuple[str, Figure]], directory: Path) -> dict[str, str]:
    """Write figures as SVG and PNG files; return their titles, by the stem of the files."""
    for stem, (title, figure) in figures.items():
        figure_files.save(figure, directory, stem, title, COMMAND, ["svg", "png"])
    return {stem: title for stem, (title, _figure) in figures.items()}


# --- a fading cell -----------------------------------------------------------------------------


def fading_cell(examples: Path, directory: Path) -> Example:
    """Simulate four downloads in a fading cell, with NewReno and with CLAMP.

    Parameters
    ----------
    examples : Path
        Directory of the scenarios.
    directory : Path
        Directory of the figure.
    """
    results = {
        label: api.simulate(api.load(examples / f"{stem}.toml"), reps=REPLICATIONS, command=COMMAND)
        for label, stem in IN_A_CELL.items()
    }
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
    table = Table(title, ["", "all", *each, "mean sojourn time, ms"], rows, [_NOTE])
    drawn = {"cell": (title, flow_bars(results, title.partition(",")[0]))}
    return Example("cell", table, _saved(drawn, directory))
