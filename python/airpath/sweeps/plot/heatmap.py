"""Plots a metric over two axes as coloured cells with numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.present import style
from airpath.sweeps.overview import effort
from airpath.sweeps.plot.selection import Facets, Selection, gid, outer_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_heatmap"]

_MAP = "cividis"
"""Colour map with rising brightness, for any colour vision (Nuñez, Anderton, Renslow 2018)."""
_MOST_WRITTEN = 14
"""Largest number of cells in a row that show a number."""
_MIDDLE = 0.179
"""Relative luminance at which black and white letters have the same contrast (WCAG 2.2)."""
_LETTERS_PER_INCH = 14
"""Letters per inch of the numbers in cells."""


def draw_heatmap(chosen: Selection, metric: str, x: str, y: str) -> Figure:
    """Draw a metric over two axes; see `SweepPlot.heatmap`."""
    rest = [axis for axis in chosen.varied if axis not in (x, y)]
    facets = Facets(chosen, rest, "heatmap")
    readings = chosen.readings
    means = {
        place: readings.interval(place, metric, readings.first_engine).mean
        for place in chosen.places
    }
    look = chosen.style_of(metric, means.values())
    known = [value * look.scale for value in means.values() if not math.isnan(value)] or [0.0]
    columns, rows = list(chosen.values(x).items()), list(chosen.values(y).items())
    with style.style():
        import matplotlib as mpl

        scale = mpl.colors.Normalize(min(known), max(known))
        colours = mpl.cm.ScalarMappable(scale, _MAP)
        size = (max(2.2, 0.62 * len(columns) + 0.8), max(1.8, 0.42 * len(rows) + 0.7))
        figure, panels = facets.draw(size, sharex=True, sharey=True)
        digits = _digits(known)
        # Number of letters that fit into a cell, with a fifth of the column width as margin.
        across = len(columns) * facets.shape[1]
        room = style.letters_in(0.8 * figure.get_figwidth() / across, _LETTERS_PER_INCH)
        for axis, places in panels:
            _panel(axis, [label for _, label in columns], [label for _, label in rows])
            for place in places:
                value = means[place] * look.scale
                at = [
                    list(dict(of)).index(chosen.key(place, name))
                    for of, name in ((columns, x), (rows, y))
                ]
                text = "" if math.isnan(value) else f"{value:.{digits}f}"
                text = text if len(columns) <= _MOST_WRITTEN and len(text) <= room else ""
                cell = _cell(axis, at, value, colours, text)
                cell.set_gid(gid(chosen.point(place)))
        names = [chosen.axis_name(axis) for axis in (x, y)]
        outer_labels(panels, *map(style.literal, names))
        bar = figure.colorbar(colours, ax=[axis for axis, _ in panels], shrink=0.9, pad=0.02)
        bar.set_label(style.literal(look.label))
        bar.outline.set_visible(False)
        title = f"{readings.plan.name}: {look.name} over {' and '.join(names)}"
        style.heading(figure, title, effort(readings, chosen.places))
    return figure


def _panel(axis: Axes, columns: Sequence[str], rows: Sequence[str]) -> None:
    axis.set_xlim(-0.5, len(columns) - 0.5)
    axis.set_ylim(-0.5, len(rows) - 0.5)
    labels = list(map(style.literal, columns))
    turned = len(labels) > 1 and max(map(len, labels)) > 6
    axis.set_xticks(
        np.arange(len(columns)),
        labels,
        rotation=35 if turned else 0,
        ha="right" if turned else "center",
    )
    axis.set_yticks(np.arange(len(rows)), list(map(style.literal, rows)))
    axis.grid(visible=False)
    axis.tick_params(length=0)
    # Background of cells that were not measured.
    axis.set_facecolor("#ECEEF0")
    for side in ("left", "bottom"):
        axis.spines[side].set_visible(False)


def _cell(axis: Axes, at: Sequence[int], value: float, colours: Any, text: str) -> Any:
    from matplotlib.patches import Rectangle

    column, row = at
    is_known = not math.isnan(value)
    face: Any = colours.to_rgba(value) if is_known else "#ECEEF0"
    look: dict[str, Any] = {"facecolor": face, "edgecolor": "white", "linewidth": 1.2}
    if not is_known:
        look |= {"hatch": "///", "edgecolor": "#C3CACE"}
    cell = axis.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **look))
    if text:
        axis.text(
            column,
            row,
            text,
            ha="center",
            va="center",
            fontsize=style.points(8),
            color="black" if _luminance(face[:3]) > _MIDDLE else "white",
        )
    return cell


def _luminance(colour: Sequence[float]) -> float:
    """Return the relative luminance of a colour in sRGB, 0 to 1 (WCAG 2.2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def _digits(values: Sequence[float]) -> int:
    largest = max(map(abs, values))
    return 0 if largest >= 100 else 1 if largest >= 10 else 2 if largest >= 1 else 3
