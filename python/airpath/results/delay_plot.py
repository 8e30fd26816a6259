"""Figure of the parts of delays by hop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from airpath.arguments import check_all, whole, word
from airpath.errors import BadValueError
from airpath.present import style
from airpath.present.drawing import FigureOptions, drawing
from airpath.results.delay_parts import DELAYS, PARTS, delay_part_intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airpath.results.result import Result

__all__ = ["DelayPlot"]

_COLOURS = {
    "propagation": "#C3CACE",
    "queueing": style.COLOURS["blue"],
    "service": style.COLOURS["sky"],
    "retransmission": style.COLOURS["red"],
    "resequencing": style.COLOURS["orange"],
    "ack_wait": style.COLOURS["purple"],
}
_MOST_GROUPS = 4
_HEIGHT = 0.7


class DelayPlot:
    """Method of `Plot` that plots the parts of delays."""

    _result: Result

    if TYPE_CHECKING:

        @property
        def _name(self) -> str: ...
        def _effort(self, *, intervals: bool = True) -> str: ...

    @drawing
    def delay_parts(
        self, group: int | None = None, delay: str | None = None, **_options: Unpack[FigureOptions]
    ) -> Figure:
        """Plot the parts of the mean delay of packets by hop, in the order of the path.

        Each hop has a stacked bar that starts at the end of the previous one, so that the last bar
        ends at the mean delay.

        Parameters
        ----------
        group : int, optional
            Index of a group of flows, from 0. Default: a panel for each of the first four groups.
        delay : {"data", "ack", "round_trip"}, optional
            One-way delay of data packets, one-way delay of ACKs, or round trip. Default: the round
            trip, and the data packets of groups without ACKs.

        Returns
        -------
        figure : matplotlib.figure.Figure
            The figure.

        Raises
        ------
        BadValueError
            If the parts of delays were not recorded, or there is no such group or delay.
        """
        check_all(
            None if group is None else whole("group", group, 0, None, "Use the index of a group"),
            None if delay is None else word("delay", delay, DELAYS),
        )
        panels = self._delay_panels(group, delay)
        with style.style():
            heights = [len({_hop(row) for row in rows}) for _, _, rows in panels]
            figure = style.new_figure(8.5, 1.6 + 0.5 * len(panels) + 0.34 * sum(heights))
            axes: Any = figure.subplots(
                len(panels), sharex=True, squeeze=False, height_ratios=heights
            )
            longest_ms = 0.0
            for axis, (number, kind, rows) in zip(axes[:, 0], panels, strict=True):
                total_ms = _draw(axis, rows)
                longest_ms = max(longest_ms, total_ms)
                named = self._result.resolved.flows.group_title(number)
                title = style.literal(f"{named}, {DELAYS[kind]}: {total_ms:.4g} ms")
                axis.set_title(title, loc="left")
            axes[-1, 0].set_xlim(0, 1.02 * longest_ms)
            axes[-1, 0].set_xlabel("mean time since the departure of the packet, ms")
            found = {row["part"] for _, _, rows in panels for row in rows}
            names = [name for name in PARTS if name in found]
            bars = [axes[0, 0].barh([0], [0], color=_COLOURS[name]) for name in names]
            labels = [PARTS[name] for name in names]
            figure.legend(bars, labels, loc="outside lower center", ncols=3)
            title = f"{self._name}: parts of the delay"
            style.heading(figure, title, self._effort(intervals=False))
        return figure

    def _delay_panels(
        self, group: int | None, delay: str | None
    ) -> list[tuple[int, str, list[Mapping[str, Any]]]]:
        """Return the group, the kind of delay, and the parts of each panel."""
        if not self._result.resolved.recording.has_delay_parts:
            raise BadValueError("delay_parts: not recorded. Set record.delay_parts = true.")
        found: dict[tuple[int, str], list[Mapping[str, Any]]] = {}
        result = self._result
        for row in delay_part_intervals(result.replications, "group", result.confidence):
            found.setdefault((row["group"], row["delay"]), []).append(row)
        groups = dict.fromkeys(number for number, _ in found)
        panels = []
        for number in [*groups][:_MOST_GROUPS] if group is None else [group]:
            usual = "round_trip" if (number, "round_trip") in found else "data"
            kind = usual if delay is None else delay
            if (number, kind) in found:
                panels.append((number, kind, found[number, kind]))
        if not panels:
            known = ", ".join(f"group {number} {kind}" for number, kind in found) or "none"
            raise BadValueError(f"delay_parts: no such delays. Expected one of: {known}.")
        return panels


def _hop(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["hop"], row["direction"]


def _draw(axis: Axes, rows: Sequence[Mapping[str, Any]]) -> float:
    """Draw the bars of a panel. Return the sum of all parts, ms."""
    hops = list(dict.fromkeys(map(_hop, rows)))
    end = 0.0
    for at, hop in enumerate(hops):
        of_hop = {row["part"]: 1e3 * row["mean_s"].mean for row in rows if _hop(row) == hop}
        for name in PARTS:
            width = of_hop.get(name, 0.0)
            axis.barh(at, width, left=end, height=_HEIGHT, color=_COLOURS[name])
            end += width
        if at + 1 < len(hops):
            axis.plot([end, end], [at, at + 1], color=style.COLOURS["grey"], linewidth=0.6)
    names = [f"{hop}, {direction}" if direction else hop for hop, direction in hops]
    axis.set_yticks(range(len(hops)), map(style.literal, names))
    axis.set_ylim(len(hops) - 0.5, -0.5)
    axis.grid(axis="y", visible=False)
    return end
