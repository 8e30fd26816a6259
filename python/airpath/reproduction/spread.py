"""Tables of points. Some axes determine the line of a point, another axis determines its column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from airpath.errors import show
from airpath.reproduction.base import Table
from airpath.reproduction.entries import refuse_value
from airpath.reproduction.files import refuse_unknown
from airpath.reproduction.formulas import Point
from airpath.reproduction.session import Session

__all__ = ["Naming", "at_axis", "lines_of", "spread_table", "values_of"]


@dataclass(frozen=True)
class Naming:
    """Display names of axis values and points in a paper.

    Parameters
    ----------
    words : mapping
        Maps an axis to the display names of its values: a mapping from value to name, a format such
        as ``"{} ms"``, or a function. Also maps the name of a quantity to its display name.
        Default: the values are displayed unchanged. For points that are not simulated, a mapping
        must contain all values.
    place_of : callable
        Returns the entries that identify the rows of a point. Default: the point's place without
        empty values.
    """

    words: Mapping[str, Any] = field(default_factory=dict)
    place_of: Callable[[Point], Mapping[str, Any]] = lambda point: {
        axis: value for axis, value in point.place.items() if value != ""
    }

    def word(self, axis: str, value: Any) -> str:
        """Return the display name of an axis value."""
        words = self.words.get(axis, "{}")
        if isinstance(words, str):
            return words.format(f"{value:g}" if isinstance(value, float) else value)
        return str(words(value) if callable(words) else words[value])

    def refuse_values(self, place: str, points: Sequence[Point], axes: Iterable[str]) -> None:
        """Reject axis values without display name; checks only points that are not simulated."""
        at = [values_of(point) for point in points if not point.cell.scenario]
        for axis in axes:
            words = self.words.get(axis)
            if isinstance(words, Mapping):
                values = [str(each[axis]) for each in at if axis in each]
                refuse_unknown(f"{place}.{axis}", values, [*map(str, words)], "no value of it")

    def label(self, point: Point, axes: Sequence[str]) -> str:
        """Return the display names of a point's values of these axes, separated by commas."""
        words = (self.word(*at_axis(point, axis)) for axis in axes)
        return ", ".join(filter(None, words))


def values_of(point: Point) -> dict[str, Any]:
    """Return the axis values in a point's scenario and in its place."""
    return {**point.cell.axes, **point.place}


def at_axis(point: Point, axis: str) -> tuple[str, Any]:
    """Return the name and the value of the first axis in ``a|b`` that a point has."""
    values = values_of(point)
    return next((name, values[name]) for name in axis.split("|") if name in values)


def spread_table(
    session: Session,
    title: str,
    points: Sequence[Point],
    spec: Mapping[str, Any],
    quantities: Mapping[str, Any],
    naming: Naming,
) -> Table:
    """Return the table of the points.

    Parameters
    ----------
    session : Session
        Session with the simulations.
    title : str
        Heading of the table.
    points : sequence of Point
        Points in the order of the lines.
    spec : mapping
        Entries `lines`, `across`, `columns` and `notes`, see `figures`.
    quantities : mapping
        Quantities by name.
    naming : Naming
        Display names of axis values.
    """
    across = spec.get("across")
    lines = lines_of("", points, spec, naming)
    labels = list(dict.fromkeys(label for line in lines.values() for label in line))
    shown = [_column(each, quantities, spread=across is not None) for each in spec["columns"]]
    columns = list(_spread(shown, labels))
    texts = [
        [
            *place[: len(spec["lines"])],
            *(
                _text(session, quantities[column[0]], column, line, label)
                for column, label in columns
            ),
        ]
        for place, line in lines.items()
    ]
    headings = [("", name) for name in spec["lines"].values()]
    first = labels[0] if labels else ""
    headings += [
        (group.format(label, first=first), text.format(label, first=first))
        for (_, group, text), label in columns
    ]
    return Table(title, headings, texts, spec.get("notes", []))


def _text(
    session: Session, quantity: Any, column: Sequence[str], line: Mapping[str, Point], label: str
) -> str:
    """Return the text of a table cell; columns without a value of `across` use the first point."""
    of_value = any(field in text for text in column[1:] for field in ("{}", "{first}"))
    point = line.get(label) if of_value else next(iter(line.values()))
    found: str = "" if point is None else quantity.text(session, point.cell)
    return found


def lines_of(
    place: str, points: Sequence[Point], spec: Mapping[str, Any], naming: Naming
) -> dict[Any, dict[str, Point]]:
    """Return, for each line, a mapping from the display name of the `across` value to the point.

    Parameters
    ----------
    place : str
        File and table, for messages.
    points : sequence of Point
        Points in the order of the lines.
    spec : mapping
        Entries `lines` and `across`.
    naming : Naming
        Display names of axis values.

    Raises
    ------
    BadValueError
        If two different points have the same line and the same column.
    """
    across = spec.get("across")
    lines: dict[Any, dict[str, Point]] = {}
    for number, point in enumerate(points):
        named = tuple(naming.word(*at_axis(point, axis)) for axis in spec["lines"])
        label = "" if across is None else naming.label(point, [across])
        line = lines.setdefault(named if across else (*named, number), {})
        other = line.setdefault(label, point)
        if other.cell != point.cell:
            both = " and ".join(_described(each) for each in (other, point))
            what = f"two points have one line and one column: {both}"
            refuse_value(place, "across", across, what, "Name more axes in lines, or choose points")
        line[label] = point
    return lines


def _described(point: Point) -> str:
    return show({"scenario": point.cell.scenario, **point.cell.axes, **point.place})


def _column(
    column: str | Sequence[str], quantities: Mapping[str, Any], *, spread: bool
) -> Sequence[str]:
    """Return the quantity of a column, the heading of its group, and its own heading."""
    if not isinstance(column, str):
        return column
    quantity = quantities[column]
    if spread:
        return column, "{}", quantity.name
    return column, "", f"{quantity.name}, {quantity.unit}"


def _spread(
    columns: Sequence[Sequence[str]], labels: Sequence[str]
) -> Iterator[tuple[Sequence[str], str]]:
    """Yield each column with the display name of its `across` value.

    Adjacent columns that are repeated for each value are sorted by value.
    """
    for is_spread, group in groupby(columns, lambda column: "{}" in column[1] + column[2]):
        together = list(group)
        for label in labels if is_spread else labels[:1]:
            yield from ((column, label) for column in together)
