"""Bar chart of several results: throughput and one-way delay of each flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.errors import BadValueError
from airpath.present import style
from airpath.results.intervals import Interval
from airpath.results.labels import effort_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airpath.results.result import Result

__all__ = ["flow_bars", "propagation_s"]

_COLOURS = ("orange", "blue", "green", "purple")
_GROUP = 0.8
"""Width of a group of bars as a share of the distance between two flows."""


def propagation_s(result: Result, flow: int) -> float:
    """Return the one-way propagation delay from sender to receiver, s.

    Parameters
    ----------
    result : Result
        Result.
    flow : int
        Index of the flow, from 0.
    """
    about, path = result.resolved.flows[flow], result.resolved.path
    shared_ns = path.delay_ns(about, about.direction)
    return (about.access.delay_ns + about.egress.delay_ns + shared_ns) / 1e9


def flow_bars(results: Mapping[str, Result], title: str) -> Figure:
    """Plot the throughput and the one-way delay of every flow, with several results side by side.

    Parameters
    ----------
    results : mapping of str to Result
        Maps labels to results. One to four results, all with the same number of forward flows (at
        most 16).
    title : str
        Heading of the figure.

    Returns
    -------
    figure : matplotlib.figure.Figure
        The figure. Left panel: IP throughput with confidence intervals. Right panel: mean one-way
        delay. Its grey part is the propagation delay; a line shows the 95th percentile.

    Raises
    ------
    BadValueError
        If there are not one to four results, or their numbers of flows differ or exceed 16.
    """
    if not 0 < len(results) <= len(_COLOURS):
        raise BadValueError(f"{len(results)} results: draw 1 to {len(_COLOURS)} side by side.")
    first, *others = results.values()
    flows = len(first.resolved.flows)
    if flows > 16 or any(len(other.resolved.flows) != flows for other in others):
        counts = ", ".join(str(len(result.resolved.flows)) for result in results.values())
        raise BadValueError(f"{counts} flows: draw results of the same number, at most 16.")
    with style.style():
        figure = style.new_figure(10.5, 4.4)
        panels: Any = figure.subplots(1, 2)
        rates, delays = panels
        width = _GROUP / len(results)
        handles = []
        for number, result in enumerate(results.values()):
            at = np.arange(flows) + (number + 0.5) * width - _GROUP / 2
            look: dict[str, Any] = {"width": 0.94 * width, "color": style.COLOURS[_COLOURS[number]]}
            rows = result.intervals("flows")[:flows]
            handles.append(_bars(rates, at, [row["ip_throughput_bps"] for row in rows], 1e-6, look))
            _bars(delays, at, [row["mean_delay_s"] for row in rows], 1e3, look)
            base = [1e3 * propagation_s(result, flow) for flow in range(flows)]
            delays.bar(at, base, width=0.94 * width, color="#C3CACE")
            p95 = [1e3 * row["p95_delay_s"].mean for row in rows]
            delays.hlines(p95, at - 0.4 * width, at + 0.4 * width, color=look["color"], lw=1.6)
        grey: Any = delays.bar([0], [0], color="#C3CACE")
        line: Any = delays.hlines([], 0, 0, color=style.COLOURS["grey"], lw=1.6)
        delays.legend([grey, line], ["propagation", "95th percentile"], loc="upper left")
        rates.set_ylabel("IP throughput, Mbit/s")
        delays.set_ylabel("mean one-way delay, ms")
        names = [_name(first, flow) for flow in range(flows)]
        for panel in (rates, delays):
            panel.set_xticks(np.arange(flows), names)
            panel.set_ylim(bottom=0)
        # Leave space for the legend above the bars.
        delays.set_ylim(top=1.25 * delays.get_ylim()[1])
        labels = list(map(style.literal, results))
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        duration_s, warmup_s = first.resolved.duration_s, first.resolved.warmup_s
        style.heading(
            figure,
            title,
            effort_text(len(first.replications), duration_s, warmup_s, first.confidence),
        )
    return figure


def _bars(
    axis: Axes, at: Any, values: Sequence[Interval], scale: float, look: Mapping[str, Any]
) -> Any:
    means = [scale * value.mean for value in values]
    errors = np.array(
        [[scale * (v.mean - v.low) for v in values], [scale * (v.high - v.mean) for v in values]]
    )
    bars = axis.bar(at, means, **look)
    if not np.isnan(errors).any():
        axis.errorbar(at, means, errors, fmt="none", ecolor="black", elinewidth=1.1, capsize=2)
    return bars


def _name(result: Result, flow: int) -> str:
    about = result.resolved.flows[flow]
    back_s = (about.ack_access.delay_ns + about.return_wire.delay_ns) / 1e9
    rtt = f"{1e3 * (propagation_s(result, flow) + back_s):.3g} ms"
    return f"flow {result.resolved.flows.flow_label(flow)}\n{rtt}" + (
        f"\nuser {about.user}" if about.user is not None else ""
    )
