"""Paired differences with their intervals, one below the other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from airpath.errors import BadValueError
from airpath.results import style
from airpath.sweep.differences import Difference, differences, text_of
from airpath.sweep.overview import effort
from airpath.sweep.plot.legends import limits
from airpath.sweep.plot.selection import COLOURS, Selection, gid
from airpath.sweep.scales import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_forest"]

_MOST_ROWS = 60
_ROW_IN = 0.2
"""Height of a row, inches."""


def draw_forest(
    chosen: Selection, axis: str, metric: str, base: object, *, relative: bool, is_shown: bool
) -> Figure:
    """Draw the differences to one value of an axis; see `SweepPlot.forest`."""
    found = differences(chosen.readings, axis, metric, base, chosen.places)
    columns: dict[str, list[Difference]] = {}
    for each in found:
        columns.setdefault(text_of(each.point, axis), []).append(each)
    # A row for each setting of the other axes, as the base has them.
    rows = {number: n for n, number in enumerate(sorted({each.base.number for each in found}))}
    if len(rows) > _MOST_ROWS or len(columns) > len(COLOURS):
        raise BadValueError(
            f"forest: {len(rows)} settings × {len(columns)} values of {axis} are more than the "
            f"{_MOST_ROWS} × {len(COLOURS)} that can be read. Choose some with where."
        )
    rest = [name for name in chosen.varied if name != axis]
    labels = [style.literal(chosen.name(number, rest)) for number in rows] if rest else [""]
    look = shown(metric, (each.interval.mean for each in found))
    scale = 100.0 if relative else look.scale
    with style.style():
        width = max(9.0, 1.5 + 0.07 * max(map(len, labels)) + 2.2 * len(columns))
        height = 2.3 + _ROW_IN * max(len(rows), 3)
        figure = style.new_figure(width, height, shown=is_shown)
        panels: Any = figure.subplots(1, len(columns), sharey=True, sharex=True, squeeze=False)
        for number, (panel, column) in enumerate(zip(panels[0], columns.values(), strict=True)):
            panel.set_title(style.literal(column[0].point.labels.get(axis, "")))
            panel.axvline(0, color="black", lw=0.9, zorder=1)
            for each in column:
                _row(panel, each, rows[each.base.number], COLOURS[number], scale, relative)
            panel.grid(visible=True, axis="x")
            panel.grid(visible=False, axis="y")
            _bands(panel, chosen, list(rows), rest)
        shown_of = [each.relative if relative else each.interval for each in found]
        both = limits(
            [0.0, *(each.mean * scale for each in shown_of)],
            [end * scale for each in shown_of for end in (each.low, each.high)],
        )
        panels[0, 0].set_xlim(both)
        panels[0, 0].set_yticks(range(len(rows)), labels)
        panels[0, 0].set_ylim(len(rows) - 0.4, -0.6)
        for panel in panels[0]:
            panel.tick_params(axis="y", length=0)
        unit = "%" if relative else look.unit
        what = f"difference of {look.name}" + (f", {unit}" if unit else "")
        figure.supxlabel(style.literal(what), fontsize=10)
        name = found[0].base.labels.get(axis, "")
        methods = " and ".join(sorted({each.method for each in found}))
        style.heading(
            figure,
            f"{chosen.readings.plan.name}: {look.name}, difference to {name}",
            f"{effort(chosen.readings)} · {methods} · filled: the interval excludes 0",
        )
    return figure


def _row(
    panel: Axes, each: Difference, row: int, colour: str, scale: float, relative: bool
) -> None:
    value = each.relative if relative else each.interval
    if math.isnan(value.mean):
        return
    look = style.COLOURS[colour]
    panel.plot([value.low * scale, value.high * scale], [row, row], color=look, lw=1.6, zorder=2)
    face = look if each.significant else "white"
    one = panel.plot([value.mean * scale], [row], "o", ms=5, color=look, mfc=face, zorder=3)
    one[0].set_gid(gid(each.point))


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
