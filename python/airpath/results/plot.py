"""Figures of a result: ``result.plot.timeline()`` and its neighbours.

Each returns a matplotlib figure. Colours can be told apart with any colour vision; axes have units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.errors import BadValueError
from airpath.files import output_folder
from airpath.results import style
from airpath.results.recordings import DROP_REASONS
from airpath.scenario.units import Rate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from airpath.api import Solution
    from airpath.results.result import Result

__all__ = ["Plot"]

_FLOW_COLOURS = ("blue", "orange", "green", "purple", "sky", "red")
_MOST_FLOWS = 6
_MOST_POINTS = 400
_STEPS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_MOST_BARS = 400
_MOST_LABELLED_CHANGES = 8


class Plot:
    """Figures of one result.

    Parameters
    ----------
    result : Result
        What to draw.
    shown : bool
        Whether the figures may be shown, by pyplot or a notebook. Default True.
    """

    def __init__(self, result: Result, *, shown: bool = True) -> None:
        self._result = result
        self._shown = shown

    # --- over time -----------------------------------------------------------------------------

    def timeline(self, replication: int = 0) -> Figure:
        """Draw what the link could carry, what was delivered, the queue and the delay over time.

        Panels whose series were not recorded are left out: ``delivered`` for the rates, ``queue``,
        ``sojourn`` for the queueing delay, ``cwnd``; ``drop`` adds marks. Vertical lines are
        changes of the rate that the scenario schedules.

        Parameters
        ----------
        replication : int
            Which of the finished replications, from 0. Default 0.

        Raises
        ------
        BadValueError
            If none of these was recorded.
        """
        panels: list[tuple[str, float, Callable[[Axes, int], None]]] = [
            ("delivered", 1.5, self._rates),
            ("queue", 1.0, self._queue_length),
            ("sojourn", 1.0, self._queueing_delay),
            ("cwnd", 1.0, self._windows),
        ]
        shown = [panel for panel in panels if panel[0] in self._result.recorded]
        if not shown:
            names = ", ".join(name for name, _, _ in panels)
            raise BadValueError(f"nothing to draw over time: record at least one of {names}.")
        heights = [height for _, height, _ in shown]
        with style.style():
            figure = style.new_figure(10.5, 1.1 + 1.75 * sum(heights), shown=self._shown)
            axes: Any = figure.subplots(
                len(shown), 1, sharex=True, height_ratios=heights, squeeze=False
            )
            for axis, (_, _, draw) in zip(axes[:, 0], shown, strict=True):
                draw(axis, replication)
                self._shade_warmup(axis)
                self._mark_rate_changes(axis, labelled=axis is axes[0, 0])
            axes[-1, 0].set(xlabel="time, s", xlim=(0, self._end_s))
            figure.align_ylabels()
            self._head(figure, replication)
        return figure

    def queue(self, replication: int | None = None) -> Figure:
        """Draw the bottleneck queue: over time when it was recorded, else its distribution.

        Parameters
        ----------
        replication : int, optional
            Draws this replication over time. Default: the first, if ``queue`` was recorded.
        """
        if replication is None and "queue" not in self._result.recorded:
            return self.pmf()
        return self._single(self._queue_length, replication or 0)

    def cwnd(self, replication: int = 0) -> Figure:
        """Draw the congestion windows over time; needs the series ``cwnd``."""
        return self._single(self._windows, replication)

    def delivered(self, replication: int = 0) -> Figure:
        """Draw the rate at which each flow's data arrived; needs the series ``delivered``."""
        return self._single(self._rates, replication)

    def delay(self, replication: int = 0) -> Figure:
        """Draw how long packets waited at the bottleneck; needs the series ``sojourn``."""
        return self._single(self._queueing_delay, replication)

    # --- distributions -------------------------------------------------------------------------

    def pmf(self, queue: str = "bottleneck", solution: Solution | None = None) -> Figure:
        """Draw the queue-length distribution, bars with their intervals.

        Parameters
        ----------
        queue : str
            Which queue. Default the bottleneck's.
        solution : Solution, optional
            Marks the queue length of an analytic model.
        """
        table = self._result.pmf(queue)
        common = table.index[table["mean"] > 2e-4]
        table = table.iloc[: min(int(common.max()) + 2 if len(common) else 1, _MOST_BARS)]
        colours = style.COLOURS
        with style.style():
            figure = style.new_figure(8.5, 3.9, shown=self._shown)
            axis = figure.subplots()
            self._bars(axis, table, queue)
            if not table["low"].isna().all():
                below = np.minimum(table["mean"], table["mean"] - table["low"])
                axis.errorbar(
                    table["packets"],
                    table["mean"],
                    yerr=[below, table["high"] - table["mean"]],
                    fmt="none",
                    ecolor=colours["grey"],
                    elinewidth=0.8,
                )
            if solution is not None:
                label = f"model: {solution.queue_packets:.2f} packets ({solution.domain})"
                axis.axvline(solution.queue_packets, color=colours["red"], lw=1.8, label=label)
            axis.set(xlabel="packets waiting", ylabel="fraction of time")
            axis.set_xlim(-0.7, len(table) - 0.3)
            axis.set_ylim(bottom=0)
            if axis.get_legend_handles_labels()[0]:
                axis.legend()
            title = f"{self._name}: queue length at the {queue.replace('_', ' ')}"
            style.heading(figure, title, self._effort())
        return figure

    def _bars(self, axis: Axes, table: pd.DataFrame, queue: str) -> None:
        thresholds = _thresholds(self._result.resolved["bottleneck"]["link"])
        if queue != "bottleneck" or not thresholds:
            axis.bar(table["packets"], table["mean"], width=0.86, color=style.COLOURS["blue"])
            return
        edges = [0, *thresholds, math.inf]
        for j, (low, high) in enumerate(pairwise(edges), start=1):
            part = table[(table["packets"] >= low) & (table["packets"] < high)]
            colour = style.COLOURS[_FLOW_COLOURS[(j - 1) % _MOST_FLOWS]]
            label = f"regime {j}, from {low} packets on" if low else f"regime {j}"
            axis.bar(part["packets"], part["mean"], width=0.86, color=colour, label=label)

    # --- files ---------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> list[Path]:
        """Write all figures that the result has data for, as PNG.

        Parameters
        ----------
        folder : path
            Made when missing.

        Returns
        -------
        paths : list of Path
            ``queue-lengths.png``, and ``timeline.png`` when something was recorded over time.
        """
        where = output_folder(folder)
        drawn = Plot(self._result, shown=False)
        figures = {"queue-lengths": drawn.pmf()}
        if {"delivered", "queue", "sojourn", "cwnd"} & set(self._result.recorded):
            figures["timeline"] = drawn.timeline()
        about = self._result.provenance
        source = f"airpath {about['version']} ({about['commit']}), {about['command']}"
        return [
            path
            for stem, figure in figures.items()
            for path in style.save(figure, where, stem, f"{self._name}: {stem}", source, ["png"])
        ]

    # --- panels --------------------------------------------------------------------------------

    def _single(self, draw: Callable[[Axes, int], None], replication: int) -> Figure:
        with style.style():
            figure = style.new_figure(10.5, 3.9, shown=self._shown)
            axis = figure.subplots()
            draw(axis, replication)
            self._shade_warmup(axis)
            self._mark_rate_changes(axis, labelled=True)
            axis.set(xlabel="time, s", xlim=(0, self._end_s))
            self._head(figure, replication)
        return figure

    def _rates(self, axis: Axes, replication: int) -> None:
        edges = self._edges()
        top = 0.0
        capacity = self._result.capacity(replication)
        if capacity is not None:
            offered = capacity.rates(edges) / 1e6
            label = "capacity of the link"
            axis.stairs(offered, edges, fill=True, color="#D3DBE0", lw=0, label=label)
            top = 1.12 * float(offered.max())
        carried = self._carried_bits(replication)
        if carried is not None:
            self._stack(axis, edges, carried)
        series = self._result.series("delivered", replication)
        axis.stairs(
            _mbps(series["time_s"], series["value"] * 8, edges),
            edges,
            color=style.COLOURS["black"],
            lw=1.0,
            baseline=None,
            label="delivered in order",
        )
        axis.set_ylabel("rate, Mbit/s")
        # When a gap is filled, all that waited behind it is delivered at once: beyond the capacity,
        # and beyond the panel.
        axis.set_ylim(0, top or None)
        _legend_above(axis)

    def _carried_bits(self, replication: int) -> pd.DataFrame | None:
        """Time, flow and bits of each packet that the bottleneck took out of its queue."""
        if "sojourn" not in self._result.recorded or self._result.resolved["record"]["interval_ns"]:
            return None
        series = self._result.series("sojourn", replication)
        sizes = np.array([_packet_bytes(f["source"]) for f in self._result.resolved["flows"]])
        return series.assign(bits=8 * sizes[series["id"]])

    def _stack(self, axis: Axes, edges: NDArray[np.float64], carried: pd.DataFrame) -> None:
        flows = np.unique(carried["id"])
        if len(flows) > _MOST_FLOWS:
            groups = {f"used, all {len(flows)} flows": carried}
        elif len(flows) == 1:
            groups = {"used": carried}
        else:
            groups = {f"flow {flow}": carried[carried["id"] == flow] for flow in flows}
        floor = np.zeros(len(edges) - 1)
        for (label, part), colour in zip(groups.items(), _FLOW_COLOURS, strict=False):
            above = floor + _mbps(part["time_s"], part["bits"], edges)
            axis.stairs(
                above,
                edges,
                baseline=floor,
                fill=True,
                color=style.COLOURS[colour],
                alpha=0.6,
                lw=0,
                label=label,
            )
            floor = above

    def _queue_length(self, axis: Axes, replication: int) -> None:
        series = self._result.series("queue", replication)
        series = series[series["id"] == 0]
        colours = style.COLOURS
        axis.step(series["time_s"], series["value"], where="post", color=colours["blue"], lw=0.9)
        top = max(series["value"].max(), 1.0) if len(series) else 1.0
        levels = self._levels(top)
        for level, label in levels:
            axis.axhline(level, color=colours["grey"], lw=1, ls=(0, (4, 3)))
            axis.annotate(
                label,
                (1, level),
                xycoords=("axes fraction", "data"),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
                color=colours["grey"],
            )
        self._mark_drops(axis, replication)
        axis.set_ylabel("queue, packets")
        axis.set_ylim(0, 1.09 * max([top, *(level for level, _ in levels)]))

    def _levels(self, top: float) -> list[tuple[float, str]]:
        """Lengths that mean something to the queue or to the link, as far as they are reached."""
        queue, link = (self._result.resolved["bottleneck"][key] for key in ("queue", "link"))
        limit = queue.get("limit")
        if isinstance(limit, Mapping):
            limit = limit.get("packets")
        known = [(limit, "limit")]
        if not queue.get("by_rate"):  # Else the thresholds follow the rate of the link.
            known += [(queue.get(name), name) for name in ("min_th", "max_th")]
        known += [(level, "regime\nboundary") for level in _thresholds(link)]
        # A threshold may be left to the discipline itself, and then is no number.
        numbers = [pair for pair in known if isinstance(pair[0], (int, float))]
        return [(level, label) for level, label in numbers if level <= 1.3 * top]

    def _mark_drops(self, axis: Axes, replication: int) -> None:
        if "drop" not in self._result.recorded:
            return
        series = self._result.series("drop", replication)
        marks = {
            "overflow": ("the full queue", "red"),
            "early": ("the AQM", "purple"),
            "channel": ("the channel", "orange"),
        }
        for reason, (label, colour) in marks.items():
            times = series.loc[series["value"] == DROP_REASONS.index(reason), "time_s"]
            if len(times):
                axis.plot(
                    times,
                    np.full(len(times), 0.985),
                    "|",
                    ms=7,
                    mew=0.9,
                    color=style.COLOURS[colour],
                    label=f"dropped by {label}: {len(times)}",
                    transform=axis.get_xaxis_transform(),
                    clip_on=False,
                )
        _legend_above(axis)

    def _queueing_delay(self, axis: Axes, replication: int) -> None:
        series = self._result.series("sojourn", replication)
        time, delay = series["time_s"].to_numpy(), series["value"].to_numpy() * 1e3
        edges = self._edges()
        where = np.digitize(time, edges) - 1
        highest = np.full(len(edges) - 1, np.nan)
        inside = (where >= 0) & (where < len(highest))
        np.fmax.at(highest, where[inside], delay[inside])
        colours = style.COLOURS
        label = f"longest wait in {edges[1] - edges[0]:g} s"
        axis.stairs(highest, edges, color=colours["red"], lw=1.2, baseline=None, label=label)
        axis.plot(time, delay, ".", ms=1.2, color=colours["blue"], alpha=0.25, rasterized=True)
        axis.set_ylabel("wait, ms")
        axis.set_ylim(bottom=0)
        _legend_above(axis)

    def _windows(self, axis: Axes, replication: int) -> None:
        series = self._result.series("cwnd", replication)
        flows = np.unique(series["id"])
        few = len(flows) <= _MOST_FLOWS
        for flow in flows:
            part = series[series["id"] == flow]
            axis.step(
                part["time_s"],
                part["value"] / 1e3,
                where="post",
                lw=1.1 if few else 0.5,
                alpha=1 if few else 0.4,
                color=style.COLOURS[_FLOW_COLOURS[int(flow) % _MOST_FLOWS]],
                label=f"flow {flow}",
            )
        # A first slow start that nothing bounds would make everything after it flat.
        measured = series.loc[series["time_s"] >= self._warmup_s, "value"]
        highest = (measured if len(measured) else series["value"]).max() / 1e3
        axis.set_ylabel("cwnd, kB")
        axis.set_ylim(0, 1.08 * highest if highest > 0 else None)
        if 1 < len(flows) <= _MOST_FLOWS:
            _legend_above(axis)

    # --- around the panels ---------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return self._result.title

    @property
    def _end_s(self) -> float:
        return float(self._result.resolved["duration_ns"]) / 1e9

    @property
    def _warmup_s(self) -> float:
        return float(self._result.resolved["warmup_ns"]) / 1e9

    def _edges(self) -> NDArray[np.float64]:
        step = next((s for s in _STEPS_S if self._end_s / s <= _MOST_POINTS), _STEPS_S[-1])
        step = min(step, self._end_s)
        return np.append(np.arange(0, self._end_s - step / 2, step), self._end_s)

    def _shade_warmup(self, axis: Axes) -> None:
        if self._warmup_s:
            axis.axvspan(0, self._warmup_s, color=style.COLOURS["grey"], alpha=0.10, lw=0, zorder=0)

    def _mark_rate_changes(self, axis: Axes, *, labelled: bool) -> None:
        changes = self._result.resolved["controls"]
        for change in changes:
            at_s = change["at_ns"] / 1e9
            axis.axvline(at_s, color=style.COLOURS["grey"], lw=0.8, ls=":", zorder=0.5)
            if labelled and len(changes) <= _MOST_LABELLED_CHANGES:
                axis.annotate(
                    str(Rate(change["action"]["rate_bps"])),
                    (at_s, 1),
                    xycoords=("data", "axes fraction"),
                    xytext=(3, -8),
                    textcoords="offset points",
                    va="top",
                    fontsize=8.5,
                    color=style.COLOURS["black"],
                )

    def _effort(self) -> str:
        result = self._result
        runs = len(result.replications)
        text = f"{runs} {'run' if runs == 1 else 'runs'} of {self._end_s:g} s"
        if self._warmup_s:
            text += f", first {self._warmup_s:g} s not counted"
        if runs > 1:
            text += f" · {100 * result.confidence:g} % intervals"
        return f"{text} · seed {result.provenance['seed']}"

    def _head(self, figure: Figure, replication: int) -> None:
        run = self._result.replications[replication]
        goodput = sum(flow["goodput_bps"] for flow in run["flows"]) / 1e6
        link = next(link for link in run["links"] if link["name"] == "bottleneck")
        wait = next(queue for queue in run["queues"] if queue["name"] == "bottleneck")
        parts = [
            f"replication {run['replication']}, seed {self._result.provenance['seed']}",
            f"goodput {goodput:.3g} Mbit/s",
            f"link used to {100 * link['utilisation']:.0f} %",
        ]
        if wait["mean_sojourn_s"] is not None:
            parts.append(f"mean wait {wait['mean_sojourn_s'] * 1e3:.3g} ms")
        if self._warmup_s:
            parts.append("warm-up shaded, not counted")
        style.heading(figure, self._name, " · ".join(parts))


def _thresholds(link: Mapping[str, Any]) -> list[int]:
    """Return the packets waiting from which the next regime of a link holds."""
    policy = link.get("policy", {})
    return [policy["threshold"]] if "threshold" in policy else list(link.get("thresholds", []))


def _legend_above(axis: Axes) -> None:
    handles, labels = axis.get_legend_handles_labels()
    if handles:
        place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1)}
        axis.legend(handles, labels, ncols=len(labels), borderaxespad=0.2, **place)


def _mbps(
    time_s: pd.Series[float], bits: pd.Series[float], edges_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    total = np.histogram(time_s, bins=edges_s, weights=bits)[0]
    rate: NDArray[np.float64] = total / np.diff(edges_s) / 1e6
    return rate


def _packet_bytes(source: Mapping[str, Any]) -> int:
    if source["kind"] == "tcp":
        return int(source["options"]["mss"] + source["options"]["header_bytes"])
    return int(source["packet_bytes"])
