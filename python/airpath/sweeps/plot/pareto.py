"""Plots a rate against a delay, with the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from airpath.errors import BadValueError
from airpath.present import style
from airpath.present.axes import legends_below
from airpath.results.intervals import Interval
from airpath.sweeps.overview import effort
from airpath.sweeps.plot.limits import set_scale
from airpath.sweeps.plot.selection import Facets, Selection, gid, outer_labels
from airpath.sweeps.scales import MetricStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_pareto", "front"]

_MOST_POINTS = 1000
_MOST_NAMES = 6
"""Largest number of points of the front that are labelled in a panel."""


def front(rates: Sequence[float], delays: Sequence[float]) -> list[int]:
    """Return the indices of the points on the Pareto front, in ascending order of delay.

    A point is not on the front if a different point has at least its rate and at most its delay.

    Parameters
    ----------
    rates, delays : sequence of float, length n
        Rates and delays of the points; points with a NaN are ignored.
    """
    known = [
        n
        for n, pair in enumerate(zip(rates, delays, strict=True))
        if not any(map(math.isnan, pair))
    ]
    best, found = -math.inf, []
    for n in sorted(known, key=lambda n: (delays[n], -rates[n])):
        if rates[n] > best:
            best = rates[n]
            found.append(n)
        elif found and (rates[n], delays[n]) == (rates[found[-1]], delays[found[-1]]):
            found.append(n)
    return found


def draw_pareto(
    chosen: Selection,
    metrics: tuple[str, str],
    series: tuple[str | None, str | None],
    apart: Sequence[str],
) -> Figure:
    """Draw a rate against a delay; see `SweepPlot.pareto`."""
    if len(chosen.places) > _MOST_POINTS:
        raise BadValueError(
            f"pareto: {len(chosen.places)} points are more than the {_MOST_POINTS} that can be "
            "distinguished. Choose some with where."
        )
    return _Pareto(chosen, metrics, series, apart).figure()


class _Pareto:
    def __init__(
        self,
        chosen: Selection,
        metrics: tuple[str, str],
        series: tuple[str | None, str | None],
        apart: Sequence[str],
    ) -> None:
        self.chosen = chosen
        self.by, self.shape = series
        self.facets = Facets(chosen, apart, "pareto")
        readings, engine = chosen.readings, chosen.readings.first_engine
        self.found: list[dict[int, Interval]] = [
            {place: readings.interval(place, metric, engine) for place in chosen.places}
            for metric in metrics
        ]
        rates, delays = (
            chosen.style_of(metric, (each.mean for each in found.values()))
            for metric, found in zip(metrics, self.found, strict=True)
        )
        self.rate: MetricStyle = rates
        self.delay: MetricStyle = delays
        self.colours = self._looks_by_value(self.by, style.SERIES)
        self.markers = self._looks_by_value(self.shape, style.MARKERS)

    def _looks_by_value(self, axis: str | None, looks: Sequence[str]) -> dict[str, str]:
        return {} if axis is None else dict(zip(self.chosen.values(axis), looks, strict=False))

    def figure(self) -> Figure:
        with style.style():
            size = (5.2, 4.0) if len(self.facets.places) <= 2 else (3.8, 3.2)
            figure, panels = self.facets.draw(size, sharex=True, sharey=True)
            for axis, places in panels:
                self._panel(axis, places)
            first = panels[0][0]
            ways: Sequence[Literal["y", "x"]] = ("y", "x")
            for way, found, look in zip(ways, self.found, (self.rate, self.delay), strict=True):
                of_panels = [[found[place] for place in of] for _, of in panels]
                set_scale(first, way, of_panels, look.scale)
            first.invert_xaxis()
            outer_labels(panels, style.literal(self.delay.label), style.literal(self.rate.label))
            self._legend(figure)
            title = f"{self.chosen.readings.plan.name}: {self.rate.name} against {self.delay.name}"
            about = (
                f"{effort(self.chosen.readings, self.chosen.places)} · up and to the right is "
                "better; ringed: no other point is better in both means"
            )
            if axes := self._unencoded_axes():
                about += f"; equal marks differ in {', '.join(map(self.chosen.axis_name, axes))}"
            style.heading(figure, title, about)
        return figure

    def _panel(self, axis: Axes, places: Sequence[int]) -> None:
        rates = [self.found[0][place].mean * self.rate.scale for place in places]
        delays = [self.found[1][place].mean * self.delay.scale for place in places]
        for place, rate, delay in zip(places, rates, delays, strict=True):
            if not (math.isnan(rate) or math.isnan(delay)):
                self._marker(axis, place, delay, rate)
        best = front(rates, delays)
        if best:
            x, y = [delays[n] for n in best], [rates[n] for n in best]
            # No point lies above and to the right of the steps.
            axis.step(x, y, where="post", color="black", lw=1.1, zorder=1.8)
            ring: dict[str, Any] = {
                "ms": style.points(9.5),
                "mfc": "none",
                "color": "black",
                "mew": 1.0,
            }
            axis.plot(x, y, "o", zorder=3.5, **ring)
        axis.grid(visible=True, axis="both")
        self._names(axis, [(places[n], delays[n], rates[n]) for n in best])

    def _marker(self, axis: Axes, place: int, delay: float, rate: float) -> None:
        colour = style.COLOURS[self._look(self.colours, self.by, place, style.SERIES[0])]
        marker = self._look(self.markers, self.shape, place, style.MARKERS[0])
        for found, scale, is_rate in (
            (self.found[0][place], self.rate.scale, True),
            (self.found[1][place], self.delay.scale, False),
        ):
            ends = [found.low * scale, found.high * scale]
            x, y = ([delay, delay], ends) if is_rate else (ends, [rate, rate])
            axis.plot(x, y, color=colour, lw=0.9, alpha=0.45, zorder=2)
        size = style.points(8.0 if marker == "*" else 5.5)
        one = axis.plot(
            [delay], [rate], marker, ms=size, color=colour, mec="white", mew=0.5, zorder=3
        )
        one[0].set_gid(gid(self.chosen.point(place)))

    def _look(self, looks: Mapping[str, str], axis: str | None, place: int, first: str) -> str:
        return first if axis is None else looks[self.chosen.key(place, axis)]

    def _names(self, axis: Axes, best: Sequence[tuple[int, float, float]]) -> None:
        """Label the points of the front with the axes that colour and marker do not show."""
        axes = self._unencoded_axes()
        if not axes or len(best) > _MOST_NAMES:
            return
        for place, delay, rate in best:
            axis.annotate(
                style.literal(self.chosen.name(place, axes)),
                (delay, rate),
                xytext=(5, 6),
                textcoords="offset points",
                fontsize=style.points(7.5),
                color=style.COLOURS["grey"],
            )

    def _unencoded_axes(self) -> list[str]:
        """Return the axes that neither colour, marker nor panel shows."""
        encoded = {self.by, self.shape, *self.facets.axes}
        return [name for name in self.chosen.varied if name not in encoded]

    def _legend(self, figure: Figure) -> None:
        from matplotlib.lines import Line2D

        legends: list[tuple[str, list[Any]]] = []
        for axis, looks, is_colour in (
            (self.by, self.colours, True),
            (self.shape, self.markers, False),
        ):
            handles: list[Any] = []
            for key, label in (self.chosen.values(axis) if axis is not None else {}).items():
                marker = style.MARKERS[0] if is_colour else looks[key]
                colour = style.COLOURS[looks[key]] if is_colour else "#9AA3A8"
                text = style.literal(label)
                handles.append(Line2D([], [], ls="", marker=marker, color=colour, label=text))
            if axis is not None:
                legends.append((self.chosen.axis_name(axis), handles))
        legends_below(figure, legends)
