"""Paired differences with their intervals, one below the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airpath.errors import BadValueError
from airpath.present import style
from airpath.results.intervals import Interval
from airpath.sweeps.differences import PointDifference, differences, text_of
from airpath.sweeps.overview import effort
from airpath.sweeps.plot.limits import limits
from airpath.sweeps.plot.selection import Selection, gid
from airpath.sweeps.scales import metric_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airpath.results.differences import Difference

__all__ = ["draw_forest"]

_MOST_ROWS = 60
_ROW_IN = 0.2
"""Height of a row, inches."""


def draw_forest(
    chosen: Selection, axis: str, metric: str, base: object, *, relative: bool
) -> Figure:
    """Draw the differences to one value of an axis; see `SweepPlot.forest`."""
    found = differences(chosen.readings, axis, metric, base, chosen.places)
    columns: dict[str, list[PointDifference]] = {}
    for each in found:
        columns.setdefault(text_of(each.point, axis), []).append(each)
    # A row for each setting of the other axes, as the base has them.
    rows = {number: n for n, number in enumerate(sorted({each.base.number for each in found}))}
    if len(rows) > _MOST_ROWS or len(columns) > len(style.SERIES):
        raise BadValueError(
            f"forest: {len(rows)} settings × {len(columns)} values of {axis} are more than the "
            f"{_MOST_ROWS} × {len(style.SERIES)} that can be read. Choose some with where."
        )
    rest = [name for name in chosen.varied if name != axis]
    if len(rows) == 1:
        # One panel with a row for each value says more than panels with one row.
        panels = [("", [(each, n, style.SERIES[n]) for n, each in enumerate(found)])]
        labels = [each.point.labels.get(axis, "") for each in found]
    else:
        panels = [
            (
                column[0].point.labels.get(axis, ""),
                [(each, rows[each.base.number], style.SERIES[number]) for each in column],
            )
            for number, column in enumerate(columns.values())
        ]
        labels = [chosen.name(number, rest) for number in rows]
    look = metric_style(metric, (each.difference.absolute.mean for each in found))
    unit, scale = ("%", 100.0) if relative else (look.unit, look.scale)
    with style.style():
        width = max(9.0, 1.5 + 0.07 * max(map(len, labels)) + 2.2 * len(panels))
        figure = style.new_figure(width, 2.3 + _ROW_IN * max(len(labels), 3))
        drawn: Any = figure.subplots(1, len(panels), sharey=True, sharex=True, squeeze=False)
        for panel, (title, column_rows) in zip(drawn[0], panels, strict=True):
            panel.set_title(style.literal(title))
            panel.axvline(0, color="black", lw=0.9, zorder=1)
            for each, row, colour in column_rows:
                _row(panel, each.difference, row, colour, scale, relative=relative)
                panel.lines[-1].set_gid(gid(each.point))
            panel.grid(visible=True, axis="x")
            panel.grid(visible=False, axis="y")
            panel.tick_params(axis="y", length=0)
            _bands(panel, chosen, list(rows), rest)
        intervals = [_interval(each.difference, relative) for each in found]
        drawn[0, 0].set_xlim(limits(intervals, scale, [0.0]))
        drawn[0, 0].set_yticks(range(len(labels)), list(map(style.literal, labels)))
        drawn[0, 0].set_ylim(len(labels) - 0.4, -0.6)
        what = f"difference of {look.name}" + (f", {unit}" if unit else "")
        figure.supxlabel(style.literal(what), fontsize=10)
        name = found[0].base.labels.get(axis, "")
        methods = " and ".join(sorted({each.difference.method for each in found}))
        style.heading(
            figure,
            f"{chosen.readings.plan.name}: {look.name}, difference to {name}",
            f"{effort(chosen.readings, chosen.places)} · {methods} · filled: the interval "
            f"excludes 0{_left_out(found, relative)}",
        )
    return figure


def _left_out(found: Sequence[PointDifference], relative: bool) -> str:
    """Return how many differences are not tested, or not drawn, for the heading."""
    untested = sum(bool(each.difference.untested) for each in found)
    missing = sum(relative and math.isnan(each.difference.relative.mean) for each in found)
    text = f" · {untested} hollow: not tested" if untested else ""
    return text + (f" · {missing} not drawn: a mean near 0" if missing else "")


def _interval(of: Difference, relative: bool) -> Interval:
    return of.relative if relative else of.absolute


def _row(
    panel: Axes, of: Difference, row: int, colour: str, scale: float, *, relative: bool
) -> None:
    value, look = _interval(of, relative), style.COLOURS[colour]
    panel.plot([value.low * scale, value.high * scale], [row, row], color=look, lw=1.6, zorder=2)
    face = look if of.is_significant else "white"
    panel.plot([value.mean * scale], [row], "o", ms=5, color=look, mfc=face, zorder=3)


def _bands(panel: Axes, chosen: Selection, places: list[int], rest: list[str]) -> None:
    """Shade every other value of the first of the other axes, so that rows can be followed."""
    if len(rest) < 2:
        return
    keys = [chosen.key(place, rest[0]) for place in places]
    change = 0
    for row, key in enumerate(keys):
        change += row > 0 and key != keys[row - 1]
        if change % 2:
            panel.axhspan(row - 0.5, row + 0.5, color="#EEF1F3", lw=0, zorder=0)
