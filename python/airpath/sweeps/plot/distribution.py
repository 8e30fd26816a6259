"""Plots distributions over packets or transfers, with a curve for each point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from airpath.errors import BadValueError
from airpath.present import style
from airpath.present.cdf import draw_curve, finish_axis, is_wide, time_unit
from airpath.results.distribution_plot import curve_of, share_of
from airpath.results.distributions import QUANTITIES, Distribution
from airpath.sweeps.overview import effort
from airpath.sweeps.plot.ecdf import legend_of
from airpath.sweeps.plot.selection import Facets, Selection, gid, outer_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_distribution"]


def draw_distribution(
    chosen: Selection,
    found: Mapping[int, Distribution],
    quantity: str,
    by: str | None,
    *,
    complementary: bool,
) -> Figure:
    """Plot distributions (`found`: by number of the point); see `SweepPlot.distribution`."""
    series = chosen.values(by) if by is not None else {"": ""}
    if len(series) > len(style.SERIES):
        raise BadValueError(
            f"distribution: {len(series)} curves, one for each value of {by}, are more than the "
            f"{len(style.SERIES)} that can be distinguished. Choose some with where, or another by."
        )
    facets = Facets(chosen, [axis for axis in chosen.varied if axis != by], "distribution")
    of_points = {place: found[chosen.point(place).number] for place in chosen.places}
    curves = {place: curve_of(each) for place, each in of_points.items() if each.total}
    if not curves:
        raise BadValueError("distribution: the points have no values.")
    numbers = {key: number for number, key in enumerate(series)}
    name, _, unit = QUANTITIES[quantity]
    unit, scale = time_unit(curves.values()) if unit == "s" else ("", 1.0)
    wide = is_wide(curves.values())
    with style.style():
        figure, panels = facets.draw((3.4, 2.5), sharex=True, sharey=True)
        for axis, places in panels:
            for place in places:
                if place in curves:
                    number = numbers[chosen.key(place, by)] if by is not None else 0
                    line = draw_curve(
                        axis, curves[place], scale, number, complementary=complementary
                    )
                    line.set_gid(gid(chosen.point(place)))
            finish_axis(axis, curves.values(), complementary=complementary, wide=wide)
        label = f"{name}, {unit}" if unit else name
        outer_labels(panels, label, share_of(quantity, complementary=complementary))
        legend_of(figure, chosen, by)
        title = f"{chosen.readings.plan.name}: {name}"
        style.heading(figure, title, effort(chosen.readings, chosen.places))
    return figure
