"""Plots a metric over an axis, with a line for each value of another axis, and interval bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airpath.present import style
from airpath.present.axes import label_decades, legend_below
from airpath.results.intervals import Interval
from airpath.sweeps.overview import effort
from airpath.sweeps.plan import Engine
from airpath.sweeps.plot.limits import set_scale
from airpath.sweeps.plot.selection import Facets, Selection, gid, outer_labels
from airpath.sweeps.scales import MetricStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_lines"]

_MOST_TICKS, _MOST_LETTERS = 8, 38
_DODGE = 0.6
"""Width of a group of series, as a fraction of the distance between two text values."""


def draw_lines(chosen: Selection, metric: str, over: str, by: str | None, *, bands: bool) -> Figure:
    """Draw a metric over an axis; see `SweepPlot.lines`."""
    return _Lines(chosen, metric, over, by, bands).figure()


class _Lines:
    def __init__(
        self, chosen: Selection, metric: str, over: str, by: str | None, bands: bool
    ) -> None:
        self.chosen, self.metric, self.over = chosen, metric, over
        self.by = by
        self.bands = bands
        rest = [axis for axis in chosen.varied if axis not in (over, by)]
        self.series: dict[str, str] = chosen.values(by) if by is not None else {"": ""}
        # With more series than colours, each has a panel, with the other series in grey.
        self.is_apart = len(self.series) > len(style.SERIES)
        self.rest = rest
        axes = [by, *rest] if self.is_apart and by is not None else rest
        self.facets = Facets(chosen, axes, "lines")
        readings = chosen.readings
        self.engines: Sequence[Engine] = readings.plan.engines
        self.found = {
            (place, engine): readings.interval(place, metric, engine)
            for place in chosen.places
            for engine in self.engines
        }
        self.look: MetricStyle = chosen.style_of(metric, (f.mean for f in self.found.values()))
        self.numbers = chosen.numbers(over)
        self.labels = chosen.values(over)

    def figure(self) -> Figure:
        with style.style():
            figure, panels = self.facets.draw((3.4, 2.5), sharex=True, sharey=True)
            for axis, places in panels:
                self._panel(axis, places)
            over = self.chosen.axis_name(self.over)
            name = style.literal(over)
            unit = self.numbers[1].unit if self.numbers and not self._own_labels else ""
            y = style.literal(self.look.label)
            outer_labels(panels, f"{name}, {unit}" if unit else name, y)
            of_panels = [
                [self.found[place, engine] for place in places for engine in self.engines]
                for _, places in panels
            ]
            set_scale(panels[0][0], "y", of_panels, self.look.scale)
            self._ticks([axis for axis, _ in panels])
            self._legend(figure)
            title = f"{self.chosen.readings.plan.name}: {self.look.name} over {over}"
            style.heading(figure, title, effort(self.chosen.readings, self.chosen.places))
        return figure

    # --- a panel -------------------------------------------------------------------------------

    def _panel(self, axis: Axes, places: Sequence[int]) -> None:
        if self.is_apart:
            self._others(axis, places)
            self._series(axis, places, 0)
            return
        for number, key in enumerate(self.series):
            own = [p for p in places if self.by is None or self.chosen.key(p, self.by) == key]
            self._series(axis, own, number)

    def _others(self, axis: Axes, places: Sequence[int]) -> None:
        """Plot in grey all series whose other axes have the same values as this panel."""
        setting = self._setting(places[0])
        others: dict[str, list[int]] = {}
        for place in self.chosen.places:
            if self._setting(place) == setting and self.by is not None:
                others.setdefault(self.chosen.key(place, self.by), []).append(place)
        for each in others.values():
            x, y, _ = self._curve(each, self.chosen.readings.first_engine, 0)
            axis.plot(x, y, color=style.COLOURS["grey"], lw=0.7, alpha=0.35, zorder=1)

    def _setting(self, place: int) -> list[str]:
        return [self.chosen.key(place, axis) for axis in self.rest]

    def _series(self, axis: Axes, places: Sequence[int], number: int) -> None:
        colour, marker = style.COLOURS[style.SERIES[number]], style.MARKERS[number]
        for engine in self.engines:
            is_model = engine == "solve"
            x, y, found = self._curve(places, engine, number)
            if self.numbers is not None or is_model:
                dashes: Any = (0, (4, 2)) if is_model else "-"
                axis.plot(x, y, color=colour, lw=1.3, ls=dashes, zorder=2)
            if not is_model:
                self._spread(axis, x, found, colour)
            for place, left, value in zip(self._ordered(places), x, y, strict=True):
                if math.isnan(value):
                    continue
                face = "white" if is_model else colour
                size = style.points(6.5 if marker == "*" else 4.5)
                one = axis.plot([left], [value], marker, ms=size, color=colour, mfc=face, zorder=3)
                one[0].set_gid(gid(self.chosen.point(place), engine))

    def _spread(
        self, axis: Axes, x: Sequence[float], found: Sequence[Interval], colour: str
    ) -> None:
        low, high = (
            [getattr(each, end) * self.look.scale for each in found] for end in ("low", "high")
        )
        if self.bands and self.numbers is not None and len(x) > 1:
            axis.fill_between(x, low, high, color=colour, alpha=0.16, lw=0, zorder=1.5)
        else:
            axis.vlines(x, low, high, color=colour, lw=1.2, zorder=2)

    def _curve(
        self, places: Sequence[int], engine: Engine, number: int
    ) -> tuple[list[float], list[float], list[Interval]]:
        ordered = self._ordered(places)
        found = [self.found[place, engine] for place in ordered]
        x = [self._x(place, number) for place in ordered]
        return x, [each.mean * self.look.scale for each in found], found

    def _ordered(self, places: Sequence[int]) -> list[int]:
        return sorted(places, key=lambda place: (self._x(place, 0), place))

    def _x(self, place: int, number: int) -> float:
        key = self.chosen.key(place, self.over)
        if self.numbers is not None:
            return self.numbers[0][key]
        count = 1 if self.is_apart else len(self.series)
        return list(self.labels).index(key) + _DODGE * ((number + 0.5) / count - 0.5)

    # --- around --------------------------------------------------------------------------------

    @property
    def _own_labels(self) -> bool:
        """Whether the labels of the user differ from the numbers."""
        pairs = (self.chosen.point(place) for place in self.chosen.places)
        return any(
            point.labels.get(self.over) != str(point.values.get(self.over)) for point in pairs
        )

    def _ticks(self, panels: Sequence[Axes]) -> None:
        axis = panels[0]
        labels = [style.literal(label) for label in self.labels.values()]
        if self.numbers is None:
            at = [float(n) for n in range(len(labels))]
            axis.set_xlim(-0.6, len(labels) - 0.4)
        else:
            by_key, numbers = self.numbers
            at = [by_key[key] for key in self.labels]
            if numbers.logarithmic:
                axis.set_xscale("log")
                label_decades(axis.xaxis)
            if not self._own_labels:
                labels = [f"{number:g}" for number in at]
            if len(labels) > _MOST_TICKS:
                return
        turned = sum(map(len, labels)) > _MOST_LETTERS
        look: dict[str, Any] = {"rotation": 35, "ha": "right"} if turned else {}
        for each in panels:
            each.set_xticks(at, labels, **look)
            each.set_xticks([], minor=True)

    def _legend(self, figure: Figure) -> None:
        from matplotlib.lines import Line2D

        handles: list[Any] = []
        by = "" if self.by is None else self.chosen.axis_name(self.by)
        if self.by is not None and not self.is_apart:
            for number, label in enumerate(self.series.values()):
                look: dict[str, Any] = {
                    "color": style.COLOURS[style.SERIES[number]],
                    "marker": style.MARKERS[number],
                }
                handles.append(Line2D([], [], ms=5, label=style.literal(label), **look))
        if self.is_apart:
            grey = style.COLOURS["grey"]
            other = f"the other values of {by}"
            handles.append(Line2D([], [], color=grey, lw=0.9, alpha=0.6, label=other))
        if "solve" in self.engines:
            model: dict[str, Any] = {"ls": "--", "marker": "o", "mfc": "white"}
            handles.append(Line2D([], [], color="black", ms=5, label="analytic model", **model))
        if handles:
            legend_below(figure, handles, "" if self.is_apart else by)
