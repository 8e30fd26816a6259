"""Figure of a comparison: a panel for each quantity, with a point and interval per engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airpath.comparison import texts
from airpath.present import style
from airpath.present.drawing import current
from airpath.results.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airpath.comparison.answers import Row
    from airpath.comparison.result import Comparison

__all__ = ["LOOKS", "figure_of"]

LOOKS = {"simulate": ("blue", "o"), "emulate": ("orange", "s"), "solve": ("red", "D")}
"""Colour and marker of each engine; models are red, as in plots of distributions."""

_ACROSS = 4
_LEAST_WIDTH_IN = 1.4
"""Least width of a panel in a figure whose size the user sets, inches."""
_LEAST_SPAN = 0.1
"""Least range of a panel as a fraction of the largest value. Keeps small differences small."""


def figure_of(comparison: Comparison) -> Figure:
    """Plot a comparison.

    Parameters
    ----------
    comparison : Comparison
        Comparison to plot.
    """
    panels = _panels(comparison.rows)
    down, across = style.grid_of(len(panels), style.columns_within(_LEAST_WIDTH_IN, _ACROSS))
    with style.style():
        if current().axes:
            across, down = len(panels), 1
        figure = style.new_figure(max(2.9 * across, 6.0), 1.0 + 2.35 * down)
        axes: Any = figure.subplots(down, across, squeeze=False)
        for axis in axes.flat[len(panels) :]:
            axis.set_visible(False)
        for axis, rows in zip(axes.flat, panels, strict=False):
            _panel(axis, rows, comparison)
        handles, labels = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        style.heading(figure, comparison.title, texts.heading(comparison))
    return figure


def _panels(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of each panel: one row, or the rows of all flows or groups."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        scope = row.quantity.name.partition(".")[0] if "." in row.quantity.name else ""
        own = "" if scope in ("flows", "groups", "transfers") else row.quantity.name
        found.setdefault((scope, row.quantity.label, own), []).append(row)
    return list(found.values())


def _panel(axis: Axes, rows: Sequence[Row], comparison: Comparison) -> None:
    quantity = rows[0].quantity
    engines = comparison.engines
    ends = [0.0]
    for number, engine in enumerate(engines):
        colour, marker = LOOKS[engine]
        places, means, below, above = [], [], [], []
        for place, row in enumerate(rows):
            found = row.answers[engine]
            if math.isnan(found.mean):
                continue
            low, mean, high = (end * quantity.scale for end in _ends(found))
            places.append(place + (number - (len(engines) - 1) / 2) * 0.24)
            means.append(mean)
            below.append(mean - low)
            above.append(high - mean)
            ends += [low, high]
        axis.errorbar(
            places,
            means,
            yerr=[below, above],
            fmt=marker,
            ms=5.5,
            color=style.COLOURS[colour],
            elinewidth=1.3,
            capsize=3,
            label=_label(comparison, engine),
        )
    _limits(axis, ends[1:])
    unit = f", {quantity.unit}" if quantity.unit else ""
    one = len(rows) == 1
    title = f"{quantity.label}{unit}"
    axis.set_title(style.literal(title))
    axis.set_xlim(-0.6, len(rows) - 0.4)
    axis.set_xticks(range(len(rows)))
    names = [row.quantity.of if one else _short(row.quantity.of) for row in rows]
    axis.set_xticklabels([style.literal(name) for name in names])
    if not one:
        axis.set_xlabel(rows[0].quantity.of.split()[0])
    else:
        axis.set_xlabel(
            _changes(rows[0], comparison), fontsize=style.points(8.5), color=style.COLOURS["grey"]
        )


def _label(comparison: Comparison, engine: str) -> str:
    """Return the legend entry of an engine; it marks an invalid emulation."""
    valid = texts.about(comparison.answers[engine]).get("valid", True)
    return engine if valid else f"{engine} (INVALID)"


def _ends(found: Interval) -> tuple[float, float, float]:
    if math.isnan(found.low):
        return found.mean, found.mean, found.mean
    return found.low, found.mean, found.high


def _limits(axis: Axes, ends: Sequence[float]) -> None:
    """Set the vertical range of a panel, so that very small differences do not look large."""
    low, high = min(ends), max(ends)
    span = max(high - low, _LEAST_SPAN * max(abs(low), abs(high)))
    if span == 0:
        span = 1.0
    middle = (low + high) / 2
    bottom = middle - 0.62 * span
    # Compared quantities are usually not negative.
    axis.set_ylim(max(bottom, -0.05 * span) if low >= 0 else bottom, middle + 0.62 * span)


def _short(of: str) -> str:
    """Return the index in the name of a flow or group: for ``flow 3 reno``, return ``3``."""
    return of.split()[1].rstrip(":")


def _changes(row: Row, comparison: Comparison) -> str:
    """Return the differences from the base in per cent, one line each."""
    lines = [
        f"{engine} − {comparison.base}: {texts.in_percent(row.differences[engine].difference)}"
        for engine in comparison.others
        if engine in row.differences
    ]
    return "\n".join(map(style.literal, lines))
