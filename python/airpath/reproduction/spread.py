"""Tables of points: a line for each setting of some axes, a column for each value of another."""

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
    """Names of values and points in a paper.

    Parameters
    ----------
    words : mapping
        Words for the values of each axis: a mapping, a format such as ``"{} ms"``, or a function.
        Also the word for a quantity, by its name. Default: the values themselves. For points that
        are not simulated, a mapping must contain all values.
    place_of : callable
        Returns the entries that name the rows of a point. Default: the place without empty values.
    """

    words: Mapping[str, Any] = field(default_factory=dict)
    place_of: Callable[[Point], Mapping[str, Any]] = lambda point: {
        axis: value for axis, value in point.place.items() if value != ""
    }

    def word(self, axis: str, value: Any) -> str:
        """Return the word for the value of an axis."""
        words = self.words.get(axis, "{}")
        if isinstance(words, str):
            return words.format(f"{value:g}" if isinstance(value, float) else value)
        return str(words(value) if callable(words) else words[value])

    def refuse_values(self, place: str, points: Sequence[Point], axes: Iterable[str]) -> None:
        """Reject values of points that are not simulated if a mapping has no word for them."""
        at = [values_of(point) for point in points if not point.cell.scenario]
        for axis in axes:
            words = self.words.get(axis)
            if isinstance(words, Mapping):
                values = [str(each[axis]) for each in at if axis in each]
                refuse_unknown(f"{place}.{axis}", values, [*map(str, words)], "no value of it")

    def label(self, point: Point, axes: Sequence[str]) -> str:
        """Return the words for the values of axes of a point, separated by commas."""
        words = (self.word(*at_axis(point, axis)) for axis in axes)
        return ", ".join(filter(None, words))


def values_of(point: Point) -> dict[str, Any]:
    """Return the axes of a point's scenario and of its place."""
    return {**point.cell.axes, **point.place}


def at_axis(point: Point, axis: str) -> tuple[str, Any]:
    """Return the first axis of ``a|b`` that a point has, and its value."""
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
        Names of values in the paper.
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
    """Return an entry of a line; columns without a value of `across` use the first point."""
    of_value = any(field in text for text in column[1:] for field in ("{}", "{first}"))
    point = line.get(label) if of_value else next(iter(line.values()))
    found: str = "" if point is None else quantity.text(session, point.cell)
    return found


def lines_of(
    place: str, points: Sequence[Point], spec: Mapping[str, Any], naming: Naming
) -> dict[Any, dict[str, Point]]:
    """Return the points of each line, by the words for the value of `across`.

    Parameters
    ----------
    place : str
        File and table, for messages.
    points : sequence of Point
        Points in the order of the lines.
    spec : mapping
        Entries `lines` and `across`.
    naming : Naming
        Names of values in the paper.

    Raises
    ------
    BadValueError
        If two different points have the same line and the same words.
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
    """Return the quantity of a column, its group and its name."""
    if not isinstance(column, str):
        return column
    quantity = quantities[column]
    if spread:
        return column, "{}", quantity.name
    return column, "", f"{quantity.name}, {quantity.unit}"


def _spread(
    columns: Sequence[Sequence[str]], labels: Sequence[str]
) -> Iterator[tuple[Sequence[str], str]]:
    """Yield the columns, each with its value of `across`.

    Adjacent columns that are repeated for each value are grouped by value.
    """
    for is_spread, group in groupby(columns, lambda column: "{}" in column[1] + column[2]):
        together = list(group)
        for label in labels if is_spread else labels[:1]:
            yield from ((column, label) for column in together)
