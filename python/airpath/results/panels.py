"""Panels of a result's figures over time: rates, queue, delays, congestion windows, regimes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.engine.path import ResolvedDirection
from airpath.engine.resolved import Change
from airpath.present import style
from airpath.present.bands import (
    draw_quantiles,
    largest_in_bins,
    mean_levels,
    quantiles_in_bins,
)
from airpath.results.recordings import DROP_REASONS
from airpath.results.schemes import regime_names, scheme_names
from airpath.results.tables import queue_names
from airpath.results.users import queues_at, user_of, users_in_words
from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.units import Duration, Rate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from airpath.results.result import Result

__all__ = ["SHADES", "Panels"]

SHADES = ("blue", "orange", "green", "purple", "sky", "red")
"""Colours of flows and of regimes."""

_MOST_FLOWS = len(SHADES)
_MOST_POINTS = 400
_STEPS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_MOST_LABELLED_CHANGES = 8
# Width of a panel as a share of the figure's width, and number of letters per inch of a label.
_AXIS_PART, _LABEL_PER_INCH = 0.88, 14.0
_DROPS = {
    "overflow": ("the full queue", "red"),
    "early": ("the AQM", "purple"),
    "channel": ("the channel", "orange"),
    "interruption": ("an interruption", "black"),
}


class Panels:
    """Panels of one replication in a time window, one method per panel.

    Parameters
    ----------
    result : Result
        Result to plot.
    replication : int
        Index of the finished replication, from 0.
    window_s : tuple of float
        Start and end of the plotted window, s.
    """

    def __init__(self, result: Result, replication: int, window_s: tuple[float, float]) -> None:
        self._result = result
        self._replication = replication
        self._window_s = window_s
        self._edges = _edges(*window_s)

    # --- the panels ----------------------------------------------------------------------------

    def rates(self, axis: Axes) -> None:
        """Draw the link's capacity, the served rate, and the rate of in-order delivery."""
        edges, colours = self._edges, style.COLOURS
        top = 0.0
        capacity = self._result.capacity(self._replication)
        if capacity is not None:
            offered = capacity.rates(edges) / 1e6
            short = self._result.resolved.is_short_form
            label = "capacity of the link" if short else f"capacity of {self._bottleneck}"
            axis.stairs(offered, edges, fill=True, color="#D3DBE0", lw=0, label=label)
            top = float(offered.max())
        served = self._served()
        if served is not None:
            top = max(top, self._stack(axis, served))
        series = self._series("delivered")
        series = series[series["id"].isin(self._flows_at_bottleneck)]
        delivered = _mbps(series["time_s"], series["value"] * 8, edges)
        label = "delivered in order (payload)"
        axis.stairs(delivered, edges, color=colours["black"], lw=1.0, baseline=None, label=label)
        axis.set_ylabel("rate, Mbit/s")
        axis.set_ylim(0, 1.12 * (top or float(delivered.max())) or None)
        # When a retransmission fills a gap, all buffered data after the gap is delivered
        # immediately.
        middles = (edges[:-1] + edges[1:]) / 2
        style.mark_beyond(axis, middles, delivered, "black", "Mbit/s")
        style.legend_above(axis)

    def queue_length(self, axis: Axes, at: ResolvedDirection | None = None) -> None:
        """Draw the queue length at a hop, for each user with a queue, and the drops.

        `at` is the direction of the hop. Default: the bottleneck.
        """
        names = self._queues_at(at)
        parts = {name: self._levels_of("queue", name) for name in names}
        top = max([1.0, *(float(part["value"].max()) for part in parts.values() if len(part))])
        if len(parts) > _MOST_FLOWS:
            means = [
                mean_levels(part["time_s"].to_numpy(), part["value"].to_numpy(), self._edges)
                for part in parts.values()
            ]
            draw_quantiles(axis, np.array(means), self._edges, users_in_words(names))
        else:
            for (name, part), colour in zip(parts.items(), SHADES, strict=False):
                look: dict[str, Any] = {"color": style.COLOURS[colour], "lw": 0.9}
                if len(parts) > 1:
                    look["label"] = user_of(name)
                axis.step(part["time_s"], part["value"], where="post", **look)
        style.legend_above(axis)
        levels = self._levels(top, at)
        height = 1.09 * max([top, *levels])
        style.mark_levels(axis, levels, height)
        self._mark_drops(axis, names)
        axis.set_ylabel("queue length, packets" if at is None else _at(at, "queue, packets"))
        axis.set_ylim(0, height)

    def queueing_delay(self, axis: Axes, at: ResolvedDirection | None = None) -> None:
        """Draw the sojourn times at a hop, separately for each user with a queue.

        `at` is the direction of the hop. Default: the bottleneck.
        """
        names, edges = self._queues_at(at), self._edges
        series = self._events_at("sojourn", names)
        longest = f"longest in {edges[1] - edges[0]:.3g} s"
        waits = {}
        for name in names:
            # Directories of version 0.1.0 may not have the name of the queue.
            part = series[(series["queue"] == name) | series["queue"].isna()]
            waits[name] = (part["time_s"].to_numpy(), part["value"].to_numpy() * 1e3)
        highest = {name: largest_in_bins(*of, edges) for name, of in waits.items()}
        if len(names) > _MOST_FLOWS:
            curves = np.array(list(highest.values()))
            draw_quantiles(axis, curves, edges, f"{users_in_words(names)}, {longest}")
        elif len(names) > 1:
            for name, colour in zip(names, SHADES, strict=False):
                self._draw_waits(axis, *waits[name], colour)
                look: dict[str, Any] = {"color": style.COLOURS[colour], "lw": 1.2}
                axis.stairs(highest[name], edges, baseline=None, label=user_of(name), **look)
            axis.plot([], [], color=style.COLOURS["grey"], lw=1.2, label=longest)
            self._draw_waits(axis, [], [], "grey", label="of each packet")
        else:
            look = {"color": style.COLOURS["red"], "lw": 1.2}
            axis.stairs(highest[names[0]], edges, baseline=None, label=longest, **look)
            self._draw_waits(axis, *waits[names[0]], "blue", label="of each packet")
        axis.set_ylabel(_at(at, "sojourn time, ms"))
        axis.set_ylim(bottom=0)
        height = axis.get_ylim()[1]
        levels = self._quantiles_ms(names[0]) if len(names) == 1 else {}
        shown = {level: names for level, names in levels.items() if level <= height}
        style.mark_levels(axis, shown, height)
        style.legend_above(axis)

    def _draw_waits(
        self, axis: Axes, times_s: ArrayLike, waits_ms: ArrayLike, colour: str, label: str = ""
    ) -> None:
        dots: dict[str, Any] = {"ms": 1.2, "color": style.COLOURS[colour], "rasterized": True}
        axis.plot(times_s, waits_ms, ".", alpha=0.25, **dots)
        if label:
            # Dots of this size and transparency would be invisible in a legend.
            axis.plot([], [], ".", **(dots | {"ms": 5}), label=label)

    def snr(self, axis: Axes) -> None:
        """Draw the SNR of each user of a cell in the slots in which the user had data."""
        series, edges = self._series("snr"), self._edges
        step = f"in {edges[1] - edges[0]:.3g} s"
        found = {}
        for user in np.unique(series["id"]):
            part = series[series["id"] == user]
            times, values = part["time_s"].to_numpy(), part["value"].to_numpy()
            found[int(user)] = quantiles_in_bins(times, values, edges)
        if len(found) > _MOST_FLOWS:
            medians = np.array([middle for _, middle, _ in found.values()])
            draw_quantiles(axis, medians, edges, f"{self._users}, medians {step}")
        else:
            for (user, (low, middle, high)), shade in zip(found.items(), SHADES, strict=False):
                look: dict[str, Any] = {"color": style.COLOURS[shade]}
                axis.stairs(high, edges, baseline=low, fill=True, alpha=0.15, lw=0, **look)
                axis.stairs(middle, edges, baseline=None, lw=1.1, label=f"user {user}", **look)
            look = {"color": style.COLOURS["grey"]}
            axis.plot([], [], lw=1.1, label=f"median {step}", **look)
            axis.fill_between([], [], [], lw=0, alpha=0.3, label=f"10 % to 90 % {step}", **look)
        axis.set_ylabel("SNR, dB")
        style.legend_above(axis)

    def windows(self, axis: Axes) -> None:
        """Draw the congestion windows."""
        flows = np.unique(self._result.series("cwnd", self._replication)["id"])
        few = len(flows) <= _MOST_FLOWS
        drawn = {int(flow): self._levels_of("cwnd", int(flow)) for flow in flows}
        for flow, part in drawn.items():
            axis.step(
                part["time_s"],
                part["value"] / 1e3,
                where="post",
                lw=1.1 if few else 0.5,
                alpha=1 if few else 0.4,
                color=style.COLOURS[SHADES[flow % _MOST_FLOWS]],
                label=f"flow {self._result.resolved.flows.flow_label(flow)}",
            )
        axis.set_ylabel("congestion\nwindow, kB")
        if few and len(flows) > 1:
            style.legend_above(axis)
        # The axis limits ignore the warm-up: the peak of the first slow start would flatten the
        # rest.
        everything = [part[["time_s", "value"]].to_numpy() for part in drawn.values()]
        times, values = np.concatenate([np.empty((0, 2)), *everything]).T
        measured = values[times >= self._warmup_s] if self._warmup_s < self._window_s[1] else values
        highest = (measured if len(measured) else values).max(initial=0.0) / 1e3
        axis.set_ylim(0, 1.08 * highest if highest > 0 else None)
        style.mark_beyond(axis, times, values / 1e3, "grey", "kB")

    def regimes(self, axis: Axes) -> None:
        """Draw the share of time that the link spent in each regime."""
        names = regime_names(self._result)
        times, numbers = self._states("regime")
        # A link begins in its first regime; only changes are recorded.
        times, numbers = np.append(0.0, times), np.append(0, numbers)
        colours = [style.COLOURS[SHADES[j % len(SHADES)]] for j in range(len(names))]
        self._draw_states(axis, times, numbers, names, colours)
        axis.set_ylabel("share of time")

    def schemes(self, axis: Axes) -> None:
        """Draw the share of time of each MCS; an MCS counts until the next transmission."""
        names = scheme_names(self._result, self._replication)
        palette = list(style.COLOURS.values())
        colours = [palette[j % len(palette)] for j in range(len(names))]
        self._draw_states(axis, *self._states("mcs"), names, colours)
        axis.set_ylabel("share of MCS")

    def _states(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        series = self._result.series(name, self._replication)
        series = series[series["id"] == self._result.resolved.path.bottleneck_id]
        return series["time_s"].to_numpy(), series["value"].to_numpy().astype(int)

    def _draw_states(
        self,
        axis: Axes,
        times_s: NDArray[np.float64],
        numbers: NDArray[np.int64],
        names: Sequence[str],
        colours: Sequence[str],
    ) -> None:
        """Draw, for each bin, the stacked shares of time that the link spent in each state."""
        floor = np.zeros(len(self._edges) - 1)
        for number, (name, colour) in enumerate(zip(names, colours, strict=True)):
            share = _share_of_time(times_s, numbers == number, self._edges)
            if not share.any():
                continue
            look: dict[str, Any] = {"fill": True, "color": colour, "alpha": 0.75, "lw": 0}
            label = style.literal(name)
            axis.stairs(floor + share, self._edges, baseline=floor, label=label, **look)
            floor = floor + share
        axis.set_ylim(0, 1)
        style.legend_above(axis)

    def _quantiles_ms(self, name: str) -> dict[float, list[str]]:
        """Map the median and the 95th percentile of sojourn times, ms, to their labels."""
        queues = self._result.replications[self._replication]["queues"]
        queue = next(queue for queue in queues if queue["name"] == name)
        found: dict[float, list[str]] = {}
        for level, label in (("p50_sojourn_s", "median"), ("p95_sojourn_s", "p95")):
            if queue[level] is not None:
                found.setdefault(1e3 * queue[level], []).append(label)
        return found

    # --- shared helpers ------------------------------------------------------------------------

    @property
    def _bottleneck(self) -> str:
        return self._result.resolved.bottleneck.name

    @property
    def _flows_at_bottleneck(self) -> list[int]:
        """Flows whose data or ACKs traverse the bottleneck's hop."""
        resolved = self._result.resolved
        hop = resolved.path.bottleneck_hop
        return [n for n, flow in enumerate(resolved.flows) if hop in resolved.path.crossed(flow)]

    def _queues_at(self, at: ResolvedDirection | None) -> list[str]:
        """Return the names of the queues of a direction of a hop; None is the bottleneck."""
        name = self._bottleneck if at is None else at.name
        return queues_at(queue_names(self._result.replications), name)

    @property
    def _users(self) -> str:
        """Number of users of the bottleneck as text."""
        return users_in_words(self._queues_at(None))

    @property
    def _warmup_s(self) -> float:
        return self._result.resolved.warmup_s

    def _series(self, name: str) -> pd.DataFrame:
        """Return the events of a series within the window."""
        series = self._result.series(name, self._replication)
        first, last = self._window_s
        return series[(series["time_s"] >= first) & (series["time_s"] <= last)]

    def _events_at(self, name: str, queues: Sequence[str]) -> pd.DataFrame:
        """Return the events of a series at some queues within the window."""
        series = self._series(name)
        # Directories of version 0.1.0 may not have the name of the queue.
        return series[series["queue"].isin(queues) | series["queue"].isna()]

    def _levels_of(self, name: str, of: int | str) -> pd.DataFrame:
        """Return a series of levels of one flow (index) or queue (name) within the window."""
        series = self._result.series(name, self._replication)
        if isinstance(of, int):
            is_it = series["id"] == of
        else:
            # Directories of version 0.1.0 may not have the name of the queue; ID 0 is the
            # bottleneck.
            is_it = (series["queue"] == of) | (series["queue"].isna() & (series["id"] == 0))
        series = series[is_it & (series["time_s"] <= self._window_s[1])]
        before = int((series["time_s"] < self._window_s[0]).sum())
        return series.iloc[max(before - 1, 0) :]

    def _served(self) -> pd.DataFrame | None:
        """Return time, flow and bits of each packet dequeued at the bottleneck; None if unknown."""
        if "sojourn" not in self._result.resolved.recording.series:
            return None
        series = self._series("sojourn")
        # Several queues if each user or station has one. Directories of version 0.1.0 may not have
        # queue names.
        queues = series["queue"]
        at_it = queues.astype(str).str.fullmatch(f"{re.escape(self._bottleneck)}(/.*)?")
        series = series[at_it | queues.isna()]
        sizes = np.array([flow.source.packet_bytes for flow in self._result.resolved.flows])
        return series.assign(bits=8 * sizes[series["id"]])

    def _stack(self, axis: Axes, served: pd.DataFrame) -> float:
        """Draw the served rates of the flows as a stack, and return its largest height."""
        flows = np.unique(served["id"])
        if len(flows) > _MOST_FLOWS:
            groups = {f"served, all {len(flows)} flows": served}
        else:
            label_of = self._result.resolved.flows.flow_label
            groups = {
                f"served, flow {label_of(int(flow))}": served[served["id"] == flow]
                for flow in flows
            }
        floor = np.zeros(len(self._edges) - 1)
        for (label, part), colour in zip(groups.items(), SHADES, strict=False):
            above = floor + _mbps(part["time_s"], part["bits"], self._edges)
            look: dict[str, Any] = {"fill": True, "color": style.COLOURS[colour], "alpha": 0.6}
            axis.stairs(above, self._edges, baseline=floor, lw=0, label=label, **look)
            floor = above
        return float(floor.max(initial=0.0))

    def _levels(self, top: float, at: ResolvedDirection | None) -> dict[float, list[str]]:
        """Map queue lengths to mark (limit, thresholds, regimes) to labels, up to 1.3 `top`."""
        hop = self._result.resolved.bottleneck if at is None else at
        queue, link = hop.queue, hop.link
        known = [(queue.limit_packets, "limit")]
        if not queue.get("by_rate"):  # With by_rate, the thresholds depend on the rate of the link.
            thresholds = ("min_th", "max_th")
            known += [(queue.get(name), QueueDisc.key_labels[name]) for name in thresholds]
        known += [(level, "regime boundary") for level in link.regime_boundaries]
        found: dict[float, list[str]] = {}
        for level, name in known:
            # The level is not a number if the queue discipline chooses its threshold itself.
            if isinstance(level, (int, float)) and level <= 1.3 * top:
                found.setdefault(level, []).append(name)
        return found

    def _mark_drops(self, axis: Axes, queues: Sequence[str]) -> None:
        if "drop" not in self._result.resolved.recording.series:
            return
        series = self._events_at("drop", queues)
        for reason, (label, colour) in _DROPS.items():
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
        style.legend_above(axis)

    # --- decorations ---------------------------------------------------------------------------

    def surround(self, axis: Axes, *, labelled: bool) -> None:
        """Hatch the warm-up and mark scheduled changes of the rate."""
        axis.set_xlim(self._window_s)
        if self._warmup_s > self._window_s[0]:
            end = min(self._warmup_s, self._window_s[1])
            # Hatched, because the area of the capacity is solid grey.
            look: dict[str, Any] = {"fc": "none", "ec": "#C3CACE", "hatch": "////", "lw": 0}
            axis.axvspan(self._window_s[0], end, zorder=0, **look)
        first, last = self._window_s
        changes: dict[float, list[str]] = {}
        for change in self._result.resolved.changes:
            if first <= change.at_s <= last:
                changes.setdefault(change.at_s, []).append(_change_text(change))
        for at_s in changes:
            axis.axvline(at_s, color=style.COLOURS["grey"], lw=0.8, ls=":", zorder=0.5)
        if labelled and len(changes) <= _MOST_LABELLED_CHANGES:
            self._label(axis, {at_s: ", then ".join(rates) for at_s, rates in changes.items()})

    def _label(self, axis: Axes, labels: Mapping[float, str]) -> None:
        """Draw labels at given times; a label that would overlap is moved to a lower line."""
        first, last = self._window_s
        width = axis.figure.get_figwidth()  # type: ignore[union-attr]
        letter_s = (last - first) / (_AXIS_PART * width * _LABEL_PER_INCH)
        ends: list[float] = []
        for at_s, text in labels.items():
            length_s = (len(text) + 2) * letter_s
            is_left = at_s + length_s > last
            begin_s = at_s - length_s if is_left else at_s
            line = next((n for n, end_s in enumerate(ends) if end_s <= begin_s), len(ends))
            ends[line : line + 1] = [begin_s + length_s]
            axis.annotate(
                text,
                (at_s, 1),
                xycoords=("data", "axes fraction"),
                xytext=(-3 if is_left else 3, -8 - 11 * line),
                textcoords="offset points",
                ha="right" if is_left else "left",
                va="top",
                fontsize=style.points(8.5),
                color=style.COLOURS["black"],
            )


def _at(hop: ResolvedDirection | None, label: str) -> str:
    """Return the label of an axis, with the name of the hop if it is not the bottleneck."""
    return label if hop is None else f"{style.literal(hop.name)}\n{label}"


def _edges(first_s: float, last_s: float) -> NDArray[np.float64]:
    """Return the edges of the bins of a window, at multiples of the bin width."""
    length = last_s - first_s
    step = next((s for s in _STEPS_S if length / s <= _MOST_POINTS), _STEPS_S[-1])
    step = min(step, length / 4)
    inner = np.arange(np.floor(first_s / step) + 1, np.ceil(last_s / step)) * step
    inner = inner[(inner > first_s + 1e-6 * step) & (inner < last_s - 1e-6 * step)]
    return np.concatenate(([first_s], inner, [last_s]))


def _mbps(
    time_s: pd.Series[float], bits: pd.Series[float], edges_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    total = np.histogram(time_s, bins=edges_s, weights=bits)[0]
    rate: NDArray[np.float64] = total / np.diff(edges_s) / 1e6
    return rate


def _share_of_time(
    times_s: NDArray[np.float64], on: NDArray[np.bool_], edges_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return, for each bin, the share of time in which `on` was true."""
    return mean_levels(times_s, on.astype(float), edges_s)


def _change_text(change: Change) -> str:
    """Return a short description of a scheduled change of the link."""
    if change.rate_bps is not None:
        return str(Rate(change.rate_bps))
    if change.delay_ns is not None:
        return f"delay {Duration(change.delay_ns)}"
    if change.loss is not None:
        return f"loss {change.loss:g}"
    if change.length_s is not None:
        return f"interrupted {Duration.from_si(change.length_s)}"
    parts = change.schemes if change.moved_db is None else (f"{change.moved_db:+g} dB",)
    return f"station {change.user}: {', '.join(parts)}"
