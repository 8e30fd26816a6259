"""Comparison of several results in one figure: goodput and sojourn times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.errors import BadValueError
from airpath.present import style
from airpath.results.intervals import Interval, mean_interval
from airpath.results.labels import effort_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from airpath.results.result import Result

__all__ = ["comparison_figure", "sojourn_times"]

_MOST_POINTS = 2000


def sojourn_times(result: Result, replication: int) -> NDArray[np.float64]:
    """Return the sojourn times at the bottleneck after the warm-up, s, ascending.

    Parameters
    ----------
    result : Result
        Result with the series ``sojourn``.
    replication : int
        Index of the finished replication, from 0.

    Raises
    ------
    BadValueError
        If ``sojourn`` was not recorded.
    """
    series = result.series("sojourn", replication)
    measured = series["time_s"] >= result.resolved.warmup_s
    return np.sort(series.loc[measured, "value"].to_numpy(dtype=float))


def comparison_figure(results: Mapping[str, Result], title: str) -> Figure:
    """Plot goodput against delay, and distributions of sojourn times, for several results.

    Parameters
    ----------
    results : mapping of str to Result
        Maps the label of each result to the result; every result needs the series ``sojourn``.
    title : str
        Heading of the figure.

    Raises
    ------
    BadValueError
        If there are more than 8 results, or a result has no series ``sojourn``.
    """
    if len(results) > len(style.SERIES):
        raise BadValueError(
            f"{len(results)} results: too many. Compare at most {len(style.SERIES)}."
        )
    with style.style():
        figure = style.new_figure(10.5, 4.4)
        panels: Any = figure.subplots(1, 2, width_ratios=[1, 1.15])
        plane, spread = panels
        curves = []
        for number, result in enumerate(results.values()):
            colour = style.COLOURS[style.SERIES[number]]
            runs = [sojourn_times(result, index) for index in range(len(result.replications))]
            delay = mean_interval(
                (_percentile_ms(run, 95) for run in runs), result.confidence, (0.0, math.inf)
            )
            goodput = result.intervals("flows")[-1]["goodput_bps"]
            plane.errorbar(
                delay.mean,
                goodput.mean / 1e6,
                xerr=_error(delay),
                yerr=_error(goodput, 1e-6),
                fmt="o" if number % 2 else "s",
                ms=8,
                color=colour,
                elinewidth=1.2,
                capsize=2,
            )
            everything = np.sort(np.concatenate(runs)) * 1e3
            at = np.linspace(0, len(everything) - 1, min(len(everything), _MOST_POINTS)).astype(int)
            curves += spread.plot(
                everything[at],
                (at + 1) / max(len(everything), 1),
                color=colour,
                ls=style.dashes_of(number),
                lw=1.8,
            )
        plane.set(xlabel="95th percentile of sojourn times, ms")
        plane.set_ylabel("goodput, Mbit/s")
        plane.margins(0.15)
        # The axes start at 0, so that small differences look small.
        plane.set_xlim(plane.get_xlim()[1], 0)
        plane.set_ylim(bottom=0)
        plane.grid(visible=True, axis="both")
        plane.annotate(
            "better",
            (0.97, 0.22),
            (0.80, 0.10),
            xycoords="axes fraction",
            ha="center",
            color=style.COLOURS["grey"],
            arrowprops={"arrowstyle": "->", "color": style.COLOURS["grey"]},
        )
        spread.set(
            xlabel="sojourn time, ms", ylabel="fraction of packets with at most this sojourn time"
        )
        spread.set(xscale="log", ylim=(0, 1.01))
        spread.xaxis.set_major_formatter("{x:g}")
        spread.set_xlim(left=1)
        style.mark_levels(spread, {0.5: ["median"], 0.95: ["p95"]}, 1.0)
        spread.grid(visible=True, axis="both")
        labels = list(map(style.literal, results))
        widest = max(map(len, labels), default=1)
        columns = max(1, min(len(labels), round(130 / (widest + 8))))
        figure.legend(curves, labels, loc="outside lower center", ncols=columns)
        first = next(iter(results.values()))
        duration_s, warmup_s = first.resolved.duration_s, first.resolved.warmup_s
        style.heading(
            figure,
            title,
            f"{effort_text(len(first.replications), duration_s, warmup_s, first.confidence)} · "
            "goodput: payload delivered in order",
        )
    return figure


def _percentile_ms(run: NDArray[np.float64], percent: float) -> float:
    return float(np.percentile(run, percent)) * 1e3 if len(run) else float("nan")


def _error(value: Interval, scale: float = 1.0) -> list[list[float]] | None:
    """Return the lengths of an error bar below and above the mean; None without an interval."""
    if np.isnan(value.low):
        return None
    below, above = value.mean - value.low, value.high - value.mean
    return [[scale * below], [scale * above]]
