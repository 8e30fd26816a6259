"""Figures with rows of panels, which show points with error bars and share a legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from airpath.present import style
from airpath.present.axes import label_decades, legend_below
from airpath.present.points import Points, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Band", "Panel", "draw_panels", "legend_of", "same_height"]

_DECADES = 1e4
"""Tick labels are plain numbers if the limits of a logarithmic axis have a smaller ratio."""

_GREY: Mapping[str, Any] = {"color": style.COLOURS["grey"], "linestyle": ":", "linewidth": 1.2}


class Band(NamedTuple):
    """Pale area between two curves over `x`, and its label in the legend."""

    label: str
    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """Content of a panel of a figure.

    Parameters
    ----------
    title : str
        Title above the panel.
    x_name, y_name : str
        Labels of the axes, with units. Linear panels in a row that have the same `y_name` also have
        the same y limits. Of adjacent panels with the same `y_name`, only the first shows it.
    curves : sequence of Points
        Curves. Curves without a label are not in the legend.
    limits : mapping
        Keyword arguments of ``Axes.set`` for limits and scales. The upper limit may be omitted.
        Default: linear scales, y from 0 on.
    marks, levels : mapping of float to str
        Map positions of dotted vertical lines and of dotted horizontal lines to their labels in the
        legend. A line with an empty label is not in the legend.
    bands : sequence of Band
        Pale areas behind the curves. Default: none.
    words : sequence of str
        Tick labels for y = 0, 1, ..., which are then drawn from top to bottom. Default: numeric
        tick labels.
    """

    title: str
    x_name: str
    y_name: str
    curves: Sequence[Points]
    limits: Mapping[str, Any] = field(default_factory=dict)
    marks: Mapping[float, str] = field(default_factory=dict)
    levels: Mapping[float, str] = field(default_factory=dict)
    bands: Sequence[Band] = ()
    words: Sequence[str] = ()


def draw_panels(
    rows: Sequence[Sequence[Panel]],
    size_in: Sequence[float] = (),
    heights: Sequence[float] = (),
    *,
    own_legends: bool = False,
    share_x: bool = False,
) -> Figure:
    """Draw panels in a new figure, without a heading.

    Parameters
    ----------
    rows : sequence of sequence of Panel
        Panels of each row. No row may have more panels than the first row.
    size_in : sequence of float
        Width and height, inches. Default: computed from the number of panels.
    heights : sequence of float
        Relative heights of the rows. Default: equal.
    own_legends : bool
        Whether each panel of the first row has a separate legend. Default: one legend below all
        panels.
    share_x : bool
        Whether the panels of a column share the x-axis, which is labelled below the last panel.
        Default False.
    """
    width = len(rows[0])
    figure = style.new_figure(*(size_in or (max(7.6, 4.4 * width), 1.6 + 3.4 * len(rows))))
    ratios: Any = heights or [1] * len(rows)
    grid: Any = figure.subplots(
        len(rows), width, squeeze=False, height_ratios=ratios, sharex="col" if share_x else False
    )
    for axes, row in zip(grid, rows, strict=True):
        for axis, panel in zip(axes, row, strict=False):
            _draw(axis, panel)
        _share_scales(axes, row)
        for axis in axes[len(row) :]:
            axis.set_visible(False)
    for axis in grid[:-1].flat if share_x else ():
        axis.set_xlabel("")
    if own_legends:
        for axis in grid[0]:
            axis.legend(fontsize=style.points(8))
        return figure
    if handles := legend_of(grid.flat):
        legend_below(figure, handles, "")
    return figure


def legend_of(axes: Iterable[Axes]) -> list[Any]:
    """Return the handles of a legend for several panels: the first artist with each label."""
    handles: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    return list(handles.values())


def _draw(axis: Axes, panel: Panel) -> None:
    for each in panel.curves:
        draw(axis, each)
    pale: Any = {"color": style.COLOURS["green"], "alpha": 0.15, "lw": 0}
    for band in panel.bands:
        axis.fill_between(band.x, band.low, band.high, label=band.label, **pale)
    for at, label in panel.marks.items():
        axis.axvline(at, label=label or None, **_GREY)
    for at, label in panel.levels.items():
        axis.axhline(at, label=label or None, **_GREY)
    axis.set(title=panel.title, xlabel=panel.x_name, ylabel=panel.y_name)
    axis.set(**{k: v if len(v) > 1 else (*v, None) for k, v in panel.limits.items()})
    for scale in (axis.xaxis, axis.yaxis):
        low, high = scale.get_view_interval()
        if scale.get_scale() == "log" and high < _DECADES * low:
            label_decades(scale)
    if panel.words:
        axis.set_yticks(range(len(panel.words)), panel.words)
        axis.set_ylim(len(panel.words) - 0.5, -0.5)
    elif axis.get_yscale() == "linear" and "ylim" not in panel.limits:
        axis.set_ylim(bottom=min(0.0, axis.get_ylim()[0]) if _has_negative(panel) else 0.0)


def _has_negative(panel: Panel) -> bool:
    return any(point.y < 0 for each in panel.curves for point in each.points)


def _share_scales(axes: Sequence[Axes], row: Sequence[Panel]) -> None:
    groups: dict[str, list[Axes]] = {}
    for number, (axis, panel) in enumerate(zip(axes, row, strict=False)):
        if number and panel.y_name == row[number - 1].y_name:
            axis.set_ylabel("")
            axis.tick_params(labelleft=not panel.words)
        if "ylim" not in panel.limits and axis.get_yscale() == "linear" and not panel.words:
            groups.setdefault(panel.y_name, []).append(axis)
    same_height(groups.values())


def same_height(groups: Iterable[Sequence[Axes]]) -> None:
    """Set the upper y limit of all panels in a group to the largest limit in the group."""
    for axes in groups:
        top = max(axis.get_ylim()[1] for axis in axes)
        for axis in axes:
            axis.set_ylim(top=top)
