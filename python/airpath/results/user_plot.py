"""Figure with the throughput of each user of a cell, and the components of the packet delay."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from airpath.errors import BadValueError
from airpath.present import style
from airpath.present.drawing import FigureOptions, drawing
from airpath.results.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airpath.results.result import Result

__all__ = ["MOST_USERS", "UserPlot"]

MOST_USERS = 60
"""Largest number of users in a figure."""
_WIDTH = 0.7


class UserPlot:
    """Methods of `Plot` that plot the users of a cell."""

    _result: Result

    if TYPE_CHECKING:

        @property
        def _name(self) -> str: ...
        def _effort(self, *, intervals: bool = True) -> str: ...

    @drawing
    def users(self, link: str | None = None, **_options: Unpack[FigureOptions]) -> Figure:
        """Plot the throughput of each user of a cell, and the components of its packets' delay.

        Parameters
        ----------
        link : str, optional
            Name in results of the cell, such as ``bottleneck``, ``reverse`` or the name of a hop.
            Default: the first cell in results.

        Returns
        -------
        figure : matplotlib.figure.Figure
            The figure. Top panel: throughputs with confidence intervals. Bottom panel: mean packet
            delay of each user, divided into three parts: propagation, sojourn time in the user's
            queue until the first slot of the packet, and time from this slot to the end of the
            packet's last slot. The error bar is the confidence interval of the sum of the last two
            parts.

        Raises
        ------
        BadValueError
            If the link has no users, or more than 60.
        """
        result = self._result
        rows = result.intervals("users")
        if link is None:
            link = next((str(row["link"]) for row in rows), "")
        users = [row for row in rows if row["link"] == link]
        if not users:
            raise BadValueError("users: the link has none. Use the name of a cell.")
        if len(users) > MOST_USERS:
            raise BadValueError(f"users: {len(users)} are more than the {MOST_USERS} drawn.")
        queues = {row["name"]: row for row in result.intervals("queues")}
        waits = [queues[f"{link}/user {row['user']}"] for row in users]
        with style.style():
            figure = style.new_figure(8.5, 5.2)
            rates, delays = figure.subplots(2, sharex=True)
            at = [row["user"] for row in users]
            _bars(rates, at, [row["throughput_bps"] for row in users], 1e-6, "blue")
            rates.set_ylabel("throughput, Mbit/s")
            _stacked(delays, at, waits, [1e3 * self._propagation_s(link, user) for user in at])
            delays.set_ylabel("mean delay, ms")
            delays.set_xlabel("user")
            delays.set_xticks(at if len(at) <= 20 else at[:: -(-len(at) // 20)])
            figure.legend(loc="outside lower center", ncols=3)
            style.heading(figure, f"{self._name}: users of the cell", self._effort())
        return figure

    def _propagation_s(self, link: str, user: int) -> float:
        """Return the mean propagation delay of a user's flows up to a link, s."""
        path, found, crossing = self._result.resolved.path, [], 0
        cell = next(hop for hop in path.hops if link in [each.name for each in hop.directions])
        for flow in self._result.resolved.flows:
            if cell not in path.crossed(flow):
                continue
            # Without `user`, the user of a flow is its position among the crossing flows.
            own = crossing if flow.user is None else flow.user
            crossing += 1
            if own == user and link in [each.name for each in path.data_directions(flow)]:
                shared = path.delay_ns(flow, flow.direction)
                found.append(flow.access.delay_ns + flow.egress.delay_ns + shared)
        return math.fsum(found) / len(found) / 1e9 if found else 0.0


def _bars(
    axis: Axes, at: Sequence[int], values: Sequence[Interval], scale: float, colour: str
) -> None:
    means = [scale * value.mean for value in values]
    axis.bar(at, means, _WIDTH, color=style.COLOURS[colour])
    _error_bars(axis, at, means, values, scale)
    axis.set_ylim(bottom=0)


def _stacked(
    axis: Axes, at: Sequence[int], waits: Sequence[Mapping[str, Any]], base_ms: Sequence[float]
) -> None:
    sojourn = [1e3 * row["mean_sojourn_s"].mean for row in waits]
    total = [row["mean_delay_s"] for row in waits]
    service = [1e3 * all_of.mean - part for all_of, part in zip(total, sojourn, strict=True)]
    bottom = list(base_ms)
    axis.bar(at, bottom, _WIDTH, color=style.COLOURS["grey"], label="propagation")
    parts = (("sojourn time", sojourn, "orange"), ("time in slots", service, "green"))
    for label, part, colour in parts:
        known = [0.0 if math.isnan(value) else value for value in part]
        axis.bar(at, known, _WIDTH, bottom=bottom, color=style.COLOURS[colour], label=label)
        bottom = [low + high for low, high in zip(bottom, known, strict=True)]
    _error_bars(axis, at, bottom, total, 1e3)
    axis.set_ylim(bottom=0)


def _error_bars(
    axis: Axes, at: Sequence[int], tops: Sequence[float], values: Sequence[Interval], scale: float
) -> None:
    if all(math.isnan(value.low) for value in values):
        return
    below = [0.0 if math.isnan(v.low) else scale * (v.mean - v.low) for v in values]
    above = [0.0 if math.isnan(v.high) else scale * (v.high - v.mean) for v in values]
    axis.errorbar(at, tops, [below, above], fmt="none", ecolor="black", elinewidth=1.1, capsize=2)
