"""Published and computed numbers as a table, for the terminal and for pages.

A paper defines once how rows are named (`Key`) and how a quantity is formatted (`ColumnSet`).
`comparison` makes the table, `render` prints it, `page` writes it as Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from airpath.reproduction.base import Row, Table
from airpath.reproduction.tolerance import marked

__all__ = [
    "NOT_SIMULATED",
    "ColumnSet",
    "Key",
    "NoteColumns",
    "absolute",
    "comparison",
    "number",
    "percent",
    "printed",
    "spread",
    "unknown",
]

NOT_SIMULATED: Final = "not simulated"

Text = Callable[[Row], str]
"""Text of a row in a table."""


@dataclass(frozen=True)
class Key:
    """Column that names a line: an entry of `Row.row`, its heading, and its format."""

    name: str
    heading: str
    text: Callable[[Any], str] = str


@dataclass(frozen=True)
class ColumnSet:
    """The columns of a quantity: published number, computed number, difference, verdict.

    If the number is outside its tolerance, the difference is marked; without a difference, the
    computed number is marked.

    Parameters
    ----------
    quantity : str
        Quantity of the rows.
    heading : str
        Heading over its columns.
    published, computed : callable
        Format the numbers. The computed number may be missing.
    difference : callable, optional
        Formats the difference. Default: no such column.
    names : sequence of str
        Names of the columns; a fourth column shows yes or NO.
    """

    quantity: str
    heading: str
    published: Text
    computed: Text
    difference: Text | None = None
    names: Sequence[str] = ("paper", "Airpath")

    def cells(self, found: Mapping[str, Row]) -> list[str]:
        """Return the entries of a line, given its rows by quantity."""
        row = found.get(self.quantity)
        if row is None:
            return [""] * len(self.names)
        computed = self.computed(row)
        difference = "" if self.difference is None or row.computed is None else self.difference(row)
        if difference:
            difference = marked(difference, row.within)
        else:
            computed = marked(computed, row.within)
        near = "" if row.within is None else "yes" if row.within else "NO"
        return [self.published(row), computed, difference, near][: len(self.names)]


@dataclass(frozen=True)
class NoteColumns:
    """Columns of text, in addition to the numbers of rows.

    Parameters
    ----------
    heading : str
        Heading over the columns.
    entries : sequence of str
        Keys of `Row.extra`; the first row that has them is used.
    names : sequence of str
        Names of the columns.
    """

    heading: str
    entries: Sequence[str]
    names: Sequence[str] = ("paper", "Airpath")

    def cells(self, found: Mapping[str, Row]) -> list[str]:
        """Return the entries of a line, given its rows by quantity."""
        extra: Mapping[str, Any] = next(
            (row.extra for row in found.values() if self.entries[0] in row.extra), {}
        )
        return [str(extra.get(entry, "")) for entry in self.entries]


def comparison(
    title: str,
    rows: Sequence[Row],
    keys: Sequence[Key],
    shown: Sequence[ColumnSet | NoteColumns],
    notes: Sequence[str] = (),
) -> Table:
    """Return the table of rows, with one line for each distinct set of keys.

    Parameters
    ----------
    title : str
        Heading of the table.
    rows : sequence of Row
        Rows, including rows without a computed number (`Row.computed` is None). If two rows have
        equal keys and quantity, the row with a number is used; the first row determines the
        position of the line.
    keys : sequence of Key
        Columns that name a line.
    shown : sequence of ColumnSet or NoteColumns
        Other columns.
    notes : sequence of str
        Sentences below the table. Default: none.
    """
    lines: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        line = lines.setdefault(tuple(row.row.get(key.name, "") for key in keys), {})
        if row.quantity not in line or row.computed is not None:
            line[row.quantity] = row
    columns = [("", key.heading) for key in keys]
    columns += [(group.heading, name) for group in shown for name in group.names]
    return Table(
        title,
        columns,
        [
            [
                *(key.text(value) for key, value in zip(keys, place, strict=True)),
                *(cell for group in shown for cell in group.cells(found)),
            ]
            for place, found in lines.items()
        ],
        notes,
    )


# --- number formats -----------------------------------------------------------------------------


def printed(decimals: int) -> Text:
    """Return the formatter of the published number and its ±; empty if there is none."""

    def text(row: Row) -> str:
        if row.published is None:
            return ""
        half = "" if row.published_ci is None else f" ± {row.published_ci:.{decimals}f}"
        return f"{row.published:.{decimals}f}{half}"

    return text


def spread(mean: float, low: float | None, high: float | None, decimals: int) -> str:
    """Return a mean, with the half-width of its interval if it has one."""
    if low is None or high is None or not isfinite(high - low):
        return f"{mean:.{decimals}f}"
    return f"{mean:.{decimals}f} ± {(high - low) / 2:.{decimals}f}"


def number(decimals: int) -> Text:
    """Return the formatter of the computed number and its ±."""
    return unknown(lambda row: spread(row.computed or 0.0, row.low, row.high, decimals))


def unknown(text: Text, missing: str = NOT_SIMULATED) -> Text:
    """Return a formatter of the computed number: `text`, or `missing` without a number."""
    return lambda row: missing if row.computed is None else text(row)


def percent(decimals: int, unit: str = "") -> Text:
    """Return the formatter of the relative difference in per cent; empty without one."""

    def text(row: Row) -> str:
        difference = row.relative_difference
        return "" if difference is None else f"{100 * difference:+.{decimals}f}{unit}"

    return text


def absolute(decimals: int, unit: str = "") -> Text:
    """Return the formatter of the difference in the unit of the row."""
    return lambda row: f"{(row.computed or 0.0) - (row.published or 0.0):+.{decimals}f}{unit}"
