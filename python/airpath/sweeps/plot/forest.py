"""Forest plot: paired differences with their intervals, one per row."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airpath.errors import BadValueError
from airpath.present import style
from airpath.results.intervals import Interval
from airpath.sweeps.differences import PointDifference, differences, text_of
from airpath.sweeps.overview import effort
from airpath.sweeps.plot import choice
from airpath.sweeps.plot.limits import limits
from airpath.sweeps.plot.selection import Selection, gid

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airpath.results.differences import Difference

__all__ = ["draw_forest"]

_NO_VALUE, _UNCERTAIN = "no value", "uncertain mean"
"""Texts that are shown instead of a marker."""
_MOST_ROWS = 60
_ROW_IN = 0.2
"""Height of a row, inches."""
_LETTER_IN, _PANEL_IN = 0.07, 0.8
"""Width of a letter of a row's label, and least width of a panel without labels, inches."""


def draw_forest(
    chosen: Selection, axis: str, metric: str, base: object, *, relative: bool
) -> Figure:
    """Draw the differences to one value of an axis; see `SweepPlot.forest`."""
    found = differences(chosen.readings, axis, metric, base, chosen.places)
    shown = _layout(chosen, axis, found)
    if len(shown.labels) > _MOST_ROWS or len(shown.panels) > len(style.SERIES):
        raise BadValueError(
            f"forest: {len(shown.labels)} rows in {len(shown.panels)} panels, for the settings of "
            f"all axes but {axis}, are more than the {_MOST_ROWS} × {len(style.SERIES)} that can "
            "be read. Choose some with where."
        )
    look = chosen.style_of(metric, (each.difference.absolute.mean for each in found))
    unit, scale = ("%", 100.0) if relative else (look.unit, look.scale)
    with style.style():
        labels = shown.labels
        words_in = _LETTER_IN * max(map(len, labels))
        count = len(shown.panels)
        down, columns = style.grid_of(
            count, style.columns_within(_PANEL_IN + words_in, count, words_in)
        )
        width = max(9.0, 1.5 + words_in + 2.2 * columns)
        figure = style.new_figure(width, 2.3 + down * _ROW_IN * max(len(labels), 3))
        drawn: Any = figure.subplots(down, columns, sharey=True, sharex=True, squeeze=False)
        for spare in drawn.flat[count:]:
            spare.set_visible(False)
        for panel, (title, rows) in zip(drawn.flat, shown.panels.items(), strict=False):
            panel.set_title(style.literal(title))
            panel.axvline(0, color="black", lw=0.9, zorder=1)
            for each, row in rows:
                colour = shown.colours[text_of(each.point, axis)]
                mark = _row(panel, each.difference, row, colour, scale, relative=relative)
                mark.set_gid(gid(each.point))
            panel.grid(visible=True, axis="x")
            panel.grid(visible=False, axis="y")
            panel.tick_params(axis="y", length=0)
            _bands(panel, shown.bands)
        intervals = [_interval(each.difference, relative) for each in found]
        drawn[0, 0].set_xlim(limits(intervals, scale, [0.0]) or (-1, 1))
        drawn[0, 0].set_yticks(range(len(labels)), list(map(style.literal, labels)))
        drawn[0, 0].set_ylim(len(labels) - 0.4, -0.6)
        what = f"difference of {look.name}" + (f", {unit}" if unit else "")
        figure.supxlabel(style.literal(what), fontsize=style.points(10))
        methods = " and ".join(sorted({each.difference.method for each in found}))
        style.heading(
            figure,
            f"{chosen.readings.plan.name}: {look.name}, difference to "
            f"{found[0].base.labels.get(axis, '')}",
            f"{effort(chosen.readings, chosen.places)} · {methods} · filled: the interval shown "
            f"excludes 0{_left_out(found, relative)}",
        )
    return figure


@dataclass(frozen=True)
class _Layout:
    """Panels and rows of the differences.

    Parameters
    ----------
    panels : mapping
        Differences of each panel, each with the number of its row, by title of the panel.
    labels : sequence of str
        Labels of the rows.
    bands : sequence of str
        Text of each row; adjacent rows with the same text have the same background.
    colours : mapping of str to str
        Colours by value of the axis.
    """

    panels: Mapping[str, Sequence[tuple[PointDifference, int]]]
    labels: Sequence[str]
    bands: Sequence[str]
    colours: Mapping[str, str]


def _layout(chosen: Selection, axis: str, found: Sequence[PointDifference]) -> _Layout:
    """Return the panel and row of each difference.

    Each condition has a panel. A row is a value of `axis`, except the base value, at one
    combination of values of the other axes. Without conditions, each value of `axis` has a panel;
    if each panel would have only one row, all rows are in one panel.
    """
    rest = [name for name in chosen.varied if name != axis]
    apart = [name for name in choice.conditions(chosen) if name != axis]
    inner = [name for name in rest if name not in apart]
    values = dict.fromkeys(text_of(each.point, axis) for each in found)
    settings = {each.base.number for each in found}
    if apart or len(settings) == 1:
        titles, rows = apart, [axis, *inner]
    else:
        titles, rows = [axis], inner
    order = {key: place for name in rows for place, key in enumerate(chosen.values(name))}

    def rank(each: PointDifference) -> list[int]:
        return [order[chosen.key(each.point.number, name)] for name in rows]

    placed = {tuple(chosen.key(each.point.number, name) for name in rows): each for each in found}
    ordered = sorted(placed, key=lambda key: rank(placed[key]))
    number = {key: row for row, key in enumerate(ordered)}
    panels: dict[str, list[tuple[PointDifference, int]]] = {}
    for each in found:
        key = tuple(chosen.key(each.point.number, name) for name in rows)
        title = chosen.name(each.point.number, titles)
        panels.setdefault(title, []).append((each, number[key]))
    return _Layout(
        panels,
        [chosen.name(placed[key].point.number, rows) for key in ordered],
        [key[0] if len(rows) > 1 else "" for key in ordered],
        dict(zip(values, itertools.cycle(style.SERIES), strict=False)),
    )


def _left_out(found: Sequence[PointDifference], relative: bool) -> str:
    """Return the number of differences that are not tested or not plotted, for the heading."""
    missing = [_missing(each.difference, relative) for each in found]
    untested = sum(
        bool(each.difference.untested) and not why for each, why in zip(found, missing, strict=True)
    )
    text = f" · {untested} hollow: not tested" if untested else ""
    if count := missing.count(_UNCERTAIN):
        text += (
            f" · {count} {_UNCERTAIN}: within three standard errors of 0, so that no ratio with "
            "it has a usable interval"
        )
    return text


def _missing(of: Difference, relative: bool) -> str:
    """Return the text of a row without a marker; empty if the difference is plotted."""
    if math.isnan(of.absolute.mean):
        return _NO_VALUE
    return _UNCERTAIN if relative and math.isnan(of.relative.mean) else ""


def _interval(of: Difference, relative: bool) -> Interval:
    return of.relative if relative else of.absolute


def _row(
    panel: Axes, of: Difference, row: int, colour: str, scale: float, *, relative: bool
) -> Artist:
    """Draw a difference; return its marker, or the text in its place."""
    if why := _missing(of, relative):
        grey: dict[str, Any] = {"color": style.COLOURS["grey"], "fontsize": style.points(8)}
        place = panel.get_yaxis_transform()
        return panel.text(0.98, row, why, transform=place, ha="right", va="center", **grey)
    value, look = _interval(of, relative), style.COLOURS[colour]
    panel.plot([value.low * scale, value.high * scale], [row, row], color=look, lw=1.6, zorder=2)
    # The interval of the plotted ratio may exclude 0 although the absolute difference's does not.
    is_sure = value.excludes_zero and not of.untested
    face = look if is_sure else "white"
    size = style.points(5)
    return panel.plot([value.mean * scale], [row], "o", ms=size, color=look, mfc=face, zorder=3)[0]


def _bands(panel: Axes, keys: Sequence[str]) -> None:
    """Shade every second block of rows with the same text, for readability."""
    change = 0
    for row, key in enumerate(keys):
        change += row > 0 and key != keys[row - 1]
        if change % 2:
            panel.axhspan(row - 0.5, row + 0.5, color="#EEF1F3", lw=0, zorder=0)
