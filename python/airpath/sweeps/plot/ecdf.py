"""Plots the distribution of a metric over the replications, with a step curve for each point."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from airpath.errors import BadValueError
from airpath.present import style
from airpath.present.axes import label_decades, legend_below
from airpath.sweeps.overview import effort
from airpath.sweeps.plot.limits import is_logarithmic
from airpath.sweeps.plot.selection import Facets, Selection, gid, outer_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_ecdf", "legend_of"]


def draw_ecdf(chosen: Selection, metric: str, by: str | None) -> Figure:
    """Draw the distributions of a metric; see `SweepPlot.ecdf`."""
    readings = chosen.readings
    if readings.plan.replicated is None:
        raise BadValueError(
            "ecdf: nothing is simulated in this sweep, and a model has no replications. Draw lines."
        )
    series = chosen.values(by) if by is not None else {"": ""}
    if len(series) > len(style.SERIES):
        raise BadValueError(
            f"ecdf: {len(series)} curves, one for each value of {by}, are more than the "
            f"{len(style.SERIES)} that can be distinguished. Choose some with where, or another by."
        )
    facets = Facets(chosen, [axis for axis in chosen.varied if axis != by], "ecdf")
    columns = {place: sorted(_known(chosen, place, metric)) for place in chosen.places}
    look = chosen.style_of(metric, (value for column in columns.values() for value in column))
    numbers = {key: number for number, key in enumerate(series)}
    with style.style():
        figure, panels = facets.draw((3.4, 2.5), sharex=True, sharey=True)
        for axis, places in panels:
            for place in places:
                values = [value * look.scale for value in columns[place]]
                if not values:
                    continue
                number = numbers[chosen.key(place, by)] if by is not None else 0
                shares = [n / len(values) for n in range(len(values) + 1)]
                curve = axis.step(
                    [values[0], *values],
                    shares,
                    where="post",
                    color=style.COLOURS[style.SERIES[number]],
                    ls=style.dashes_of(number),
                    lw=1.6,
                )
                curve[0].set_gid(gid(chosen.point(place)))
            axis.set_ylim(0, 1.02)
            axis.grid(visible=True, axis="both")
        if is_logarithmic([[v for place in of for v in columns[place]] for _, of in panels]):
            panels[0][0].set_xscale("log")
            label_decades(panels[0][0].xaxis)
        outer_labels(panels, style.literal(look.label), "share of replications")
        legend_of(figure, chosen, by)
        title = f"{readings.plan.name}: distribution of {look.name}"
        style.heading(figure, title, effort(readings, chosen.places))
    return figure


def _known(chosen: Selection, place: int, metric: str) -> list[float]:
    column = chosen.readings.column(place, metric)
    return [value for value in column if not math.isnan(value)]


def legend_of(figure: Figure, chosen: Selection, by: str | None) -> None:
    """Draw the legend below the panels, with a colour for each value of an axis."""
    from matplotlib.lines import Line2D

    if by is None:
        return
    handles = [
        Line2D(
            [],
            [],
            color=style.COLOURS[style.SERIES[number]],
            ls=style.dashes_of(number),
            lw=1.6,
            label=style.literal(label),
        )
        for number, label in enumerate(chosen.values(by).values())
    ]
    legend_below(figure, handles, chosen.axis_name(by))
