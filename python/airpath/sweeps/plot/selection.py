"""Selection of the points of a figure, and their division into panels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from airpath.arguments import error_prefix
from airpath.errors import BadValueError, one_line
from airpath.present import style
from airpath.present.drawing import current
from airpath.sweeps.differences import checked_axis, checked_value, text_of
from airpath.sweeps.scales import MetricStyle, Numbers, metric_style, numbers_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airpath.sweeps.plan import Point
    from airpath.sweeps.readings import Readings

__all__ = ["Facets", "Selection", "Where", "gid", "outer_labels", "selected"]

Where = Mapping[str, object]
"""Maps an axis to the plotted values: a label, a value, or a list of labels or values."""

_MOST_PANELS = 24
_MOST_COLUMNS = 5
_ROW_PAD_IN = 0.09
_LEAST_WIDTH_IN = 1.5
"""Least width of a panel in a figure whose size the user sets, inches."""
_LONGEST_LABEL = 48
_TRACES = "traces:"
"""Prefix of the name of a recorded trace."""


def gid(point: Point, engine: str = "simulate") -> str:
    """Return the identifier of a point's marker in an SVG."""
    return f"point-{point.number}-solve" if engine == "solve" else f"point-{point.number}"


@dataclass(frozen=True)
class Selection:
    """The plotted points.

    Parameters
    ----------
    readings : Readings
        The sweep.
    places : sequence of int
        Places of the points in the plan.
    """

    readings: Readings
    places: Sequence[int]

    @cached_property
    def varied(self) -> list[str]:
        """The axes with more than one value, in the plan's order."""
        return [axis for axis in self.readings.plan.axes if len(self.values(axis)) > 1]

    def key(self, place: int, axis: str) -> str:
        """Return the text of the value of an axis at a point."""
        return text_of(self.point(place), axis)

    def point(self, place: int) -> Point:
        """Return a point."""
        return self.readings.plan.points[place]

    def values(self, axis: str) -> dict[str, str]:
        """Return a mapping from the texts of an axis's values to labels; numbers are sorted."""
        found: dict[str, str] = {}
        raw: dict[str, Any] = {}
        for place in self.places:
            point = self.point(place)
            key = self.key(place, axis)
            found.setdefault(key, _label_text(point.labels.get(axis, "")))
            raw.setdefault(key, point.values.get(axis))
        numbers = numbers_of(list(raw.values()))
        if numbers is None:
            return found
        order = sorted(zip(numbers.of, found, strict=True))
        return {key: found[key] for _, key in order}

    def numbers(self, axis: str) -> tuple[dict[str, float], Numbers] | None:
        """Return a mapping from texts of values to numbers, and the numbers; None for text axes."""
        raw = {self.key(place, axis): self.point(place).values.get(axis) for place in self.places}
        numbers = numbers_of(list(raw.values()))
        return None if numbers is None else (dict(zip(raw, numbers.of, strict=True)), numbers)

    def name(self, place: int, axes: Sequence[str]) -> str:
        """Return the labels of a point's values as one text; numbers are preceded by the axis."""
        labels = self.point(place).labels
        texts = []
        for axis in axes:
            text = _label_text(labels.get(axis, "")) or "–"
            is_number = self.numbers(axis) is not None
            texts.append(f"{self.axis_name(axis)} {text}" if is_number else text)
        return " · ".join(texts)

    def axis_name(self, axis: str) -> str:
        """Return the readable name of an axis."""
        return current().called(axis, self.readings.plan.names.get(axis, axis))

    def style_of(self, metric: str, values: Iterable[float]) -> MetricStyle:
        """Return name and unit of a metric, for the plotted values."""
        found = metric_style(metric, values, self.readings.plan.metric_labels)
        return replace(found, name=current().called(metric, found.name))


def _label_text(label: str) -> str:
    """Return the label of a value; the user's label has priority."""
    return current().called(label, _short(label))


def _short(label: str) -> str:
    """Return a label shortened to fit in a figure, on one line."""
    text = one_line(label).removeprefix(_TRACES)
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def selected(readings: Readings, where: Where | None) -> Selection:
    """Return the points that have the selected values.

    Parameters
    ----------
    readings : Readings
        The sweep.
    where : mapping, optional
        A value or a list of values by axis. Default: all points.

    Raises
    ------
    BadValueError
        If there is no such axis or value, or no point has all of these values.
    """
    plan = readings.plan
    if where is not None and not isinstance(where, Mapping):
        raise BadValueError(
            f"{error_prefix('where', where)}: not a mapping. Use the values by axis, for example "
            '{"flows.0.cc": "cubic"}.'
        )
    wanted: dict[str, set[str]] = {}
    for axis, values in (where or {}).items():
        checked_axis(plan, "where", axis)
        several = values if isinstance(values, (list, tuple)) else [values]
        wanted[axis] = {checked_value(plan, f"where.{axis}", axis, value) for value in several}
    places = [
        place
        for place, point in enumerate(plan.points)
        if all(text_of(point, axis) in keys for axis, keys in wanted.items())
    ]
    if not places:
        raise BadValueError(f"{error_prefix('where', where)}: no point has all of these values.")
    return Selection(readings, places)


class Facets:
    """The panels of a figure, one for each combination of values of some axes.

    Parameters
    ----------
    chosen : Selection
        The plotted points.
    axes : sequence of str
        Axes whose combinations are panels; two axes become rows and columns.
    what : str
        Name of the figure, for messages.

    Raises
    ------
    BadValueError
        If there are too many panels to read.
    """

    def __init__(self, chosen: Selection, axes: Sequence[str], what: str) -> None:
        self.chosen = chosen
        self.axes = list(axes)
        found: dict[tuple[str, ...], list[int]] = {}
        order = [{key: n for n, key in enumerate(chosen.values(axis))} for axis in self.axes]
        for place in chosen.places:
            key = tuple(chosen.key(place, axis) for axis in self.axes)
            found.setdefault(key, []).append(place)
        self.places = {
            key: found[key]
            for key in sorted(
                found, key=lambda key: [of[k] for of, k in zip(order, key, strict=True)]
            )
        }
        if len(self.places) > _MOST_PANELS:
            names = ", ".join(self.axes)
            raise BadValueError(
                f"{what}: {len(self.places)} panels, one for each setting of {names}, are more "
                f"than the {_MOST_PANELS} that can be read. Fix some, for example where = "
                f"{{{self._example()}}}."
            )

    def _example(self) -> str:
        first = self.axes[-1]
        label = next(iter(self.chosen.values(first).values()))
        return f'"{first}": "{label}"'

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        if current().axes:
            return 1, len(self.places)
        most = style.columns_within(_LEAST_WIDTH_IN, _MOST_COLUMNS)
        if len(self.axes) == 2:
            rows, columns = (len(self.chosen.values(axis)) for axis in self.axes)
            if rows > columns:
                rows, columns = columns, rows
            if columns <= most and rows * columns == len(self.places):
                return rows, columns
        return style.grid_of(len(self.places), most)

    def draw(
        self, size: tuple[float, float], **options: Any
    ) -> tuple[Figure, list[tuple[Axes, list[int]]]]:
        """Return a figure and its panels, each with its points.

        Parameters
        ----------
        size : pair of float
            Width and height of a panel, inches. If there are few panels, they are larger.
        **options
            Keyword arguments of matplotlib's ``subplots``.
        """
        rows, columns = self.shape
        width = max(columns * size[0], 8.5)
        height = max(rows * size[1], 3.0) + 1.3
        figure = style.new_figure(width, height)
        if rows > 1:
            # Separates titles from the numbers above them.
            figure.set_layout_engine("constrained", h_pad=_ROW_PAD_IN)
        grid: Any = figure.subplots(rows, columns, squeeze=False, **options)
        settings = list(self.places.items())
        if len(self.axes) == 2 and len(self.chosen.values(self.axes[0])) != rows:
            # The axis with fewer values becomes the rows.
            by_row: dict[str, list[Any]] = {}
            for setting in settings:
                by_row.setdefault(setting[0][1], []).append(setting)
            settings = [each for row in by_row.values() for each in row]
        panels = []
        for axis, (_, places) in zip(grid.flat, settings, strict=False):
            if self.axes:
                axis.set_title(style.literal(self.chosen.name(places[0], self.axes)))
            panels.append((axis, places))
        for axis in list(grid.flat)[len(settings) :]:
            axis.set_visible(False)
        return figure, panels


def outer_labels(panels: Sequence[tuple[Axes, list[int]]], x: str, y: str) -> None:
    """Set the axis labels of the panels at the lower and left edge of a figure."""
    for axis, _ in panels:
        if current().axes:
            axis.set(xlabel=x, ylabel=y)
            continue
        spec: Any = axis.get_subplotspec()
        if spec.is_first_col():
            axis.set_ylabel(y)
        below = any(_is_below(axis, other) for other, _ in panels)
        if not below:
            axis.set_xlabel(x)
            axis.tick_params(labelbottom=True)


def _is_below(axis: Axes, other: Axes) -> bool:
    here: Any = axis.get_subplotspec()
    there: Any = other.get_subplotspec()
    return bool(
        there.colspan.start == here.colspan.start and there.rowspan.start > here.rowspan.start
    )
