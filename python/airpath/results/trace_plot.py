"""Figure of a trace: rate over time, and cumulative distribution of the rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.present import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airpath.trace import Trace

__all__ = ["trace_figure"]

_BIN_NS = 100_000_000
_MOST_POINTS = 1500


def trace_figure(trace: Trace) -> Figure:
    """Plot the mean rate of a trace in bins over one period, and the distribution of these means.

    Parameters
    ----------
    trace : Trace
        Trace to plot.
    """
    info = trace.info()
    fine = trace.bin_rates(_BIN_NS) if info.duration_s >= 1 else trace.bin_rates(1_000_000)
    step_s = 0.1 if info.duration_s >= 1 else 1e-3
    per_bin = max(1, -(-len(fine) // _MOST_POINTS))
    shown_s = step_s * per_bin
    coarse = fine if per_bin == 1 else trace.bin_rates(round(shown_s * 1e9))
    edges = np.minimum(np.arange(len(coarse) + 1) * shown_s, info.duration_s)
    colours = style.COLOURS
    with style.style():
        figure = style.new_figure(10.5, 3.9)
        panels: Any = figure.subplots(1, 2, width_ratios=[4, 1], sharey=True)
        over_time, spread = panels
        over_time.stairs(coarse / 1e6, edges, fill=True, color=colours["sky"], alpha=0.55, lw=0)
        over_time.stairs(coarse / 1e6, edges, color=colours["blue"], lw=0.8, baseline=None)
        over_time.axhline(
            info.mean_bps / 1e6, color=colours["black"], lw=1, ls=(0, (4, 3)), label="mean"
        )
        if info.longest_outage_s >= 0.005 * info.duration_s:
            start = info.longest_outage_start_s
            over_time.axvspan(
                start,
                min(start + info.longest_outage_s, info.duration_s),
                color=colours["orange"],
                alpha=0.45,
                lw=0,
                label=f"longest outage, {info.longest_outage_s:.3g} s",
            )
        over_time.set(xlabel="time, s", xlim=(0, info.duration_s))
        over_time.set_ylabel("rate, Mbit/s")
        over_time.set_ylim(bottom=0)
        style.legend_above(over_time)
        ordered = np.sort(fine) / 1e6
        spread.plot(np.linspace(0, 1, len(ordered)), ordered, color=colours["blue"], lw=1.6)
        shares = [percent / 100 for percent in info.percentiles_bps]
        rates = [rate / 1e6 for rate in info.percentiles_bps.values()]
        spread.plot(shares, rates, "o", ms=4, color=colours["red"], label="percentiles")
        style.legend_above(spread)
        spread.set(xlabel="fraction of time below", xlim=(0, 1))
        spread.grid(visible=True, axis="both")
        outage = f"longest outage {info.longest_outage_s:.3g} s"
        style.heading(
            figure,
            trace.name.rpartition("/")[2].removeprefix("traces:"),
            f"{info.duration_s:g} s, mean {info.mean_bps / 1e6:.3g} Mbit/s, {outage}; "
            f"drawn in bins of {shown_s:g} s",
        )
    return figure
