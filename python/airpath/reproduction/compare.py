"""Tables of published and computed numbers, for the terminal and for pages.

A paper defines the columns that identify a row (`Key`) and the columns of each quantity
(`ColumnSet`). `comparison` makes the table, `render` prints it, `page` writes it as Markdown.
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
"""Function that formats a row for a table."""


@dataclass(frozen=True)
class Key:
    """Column that identifies a line: an entry of `Row.row`, its heading, and its format."""

    name: str
    heading: str
    text: Callable[[Any], str] = str


@dataclass(frozen=True)
class ColumnSet:
    """The columns of a quantity: published number, computed number, difference, within tolerance.

    If the computed number is outside its tolerance, the difference is marked. Without a column for
    the difference, the computed number is marked.

    Parameters
    ----------
    quantity : str
        Quantity of the rows.
    heading : str
        Common heading above the columns.
    published, computed : callable
        Functions that format the published and the computed number of a row. The computed number
        may be missing.
    difference : callable, optional
        Function that formats the difference. Default: no column for the difference.
    names : sequence of str
        Headings of the columns. An optional fourth column shows whether the number is within its
        tolerance: yes or NO.
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
    """Columns with further entries of the rows (`Row.extra`).

    Parameters
    ----------
    heading : str
        Common heading above the columns.
    entries : sequence of str
        Keys of `Row.extra`. If several rows of a line have these keys, the first row is used.
    names : sequence of str
        Headings of the columns.
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
    """Return a table with one line for each distinct combination of values of `keys`.

    Parameters
    ----------
    title : str
        Heading of the table.
    rows : sequence of Row
        Rows. `Row.computed` may be None. If two rows have the same keys and the same quantity, the
        row with a computed number is used. Lines are in the order of the first row of each line.
    keys : sequence of Key
        Columns that identify a line.
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
    """Return a formatter: the published number and its ±; empty without a published number."""

    def text(row: Row) -> str:
        if row.published is None:
            return ""
        half = "" if row.published_ci is None else f" ± {row.published_ci:.{decimals}f}"
        return f"{row.published:.{decimals}f}{half}"

    return text


def spread(mean: float, low: float | None, high: float | None, decimals: int) -> str:
    """Format a mean, followed by ± and the half-width of its interval if it has an interval.

    If the parts of the interval differ by half a unit of the last decimal or more, both ends are
    shown instead: the interval was cut at a bound.
    """
    if low is None or high is None or not isfinite(high - low):
        return f"{mean:.{decimals}f}"
    if abs((high - mean) - (mean - low)) >= 0.5 * 10**-decimals:
        return f"{mean:.{decimals}f} ({low:.{decimals}f} … {high:.{decimals}f})"
    return f"{mean:.{decimals}f} ± {(high - low) / 2:.{decimals}f}"


def number(decimals: int) -> Text:
    """Return a formatter: the computed number and its ±."""
    return unknown(lambda row: spread(row.computed or 0.0, row.low, row.high, decimals))


def unknown(text: Text, missing: str = NOT_SIMULATED) -> Text:
    """Return a formatter: the result of `text`, or `missing` if the row has no computed number."""
    return lambda row: missing if row.computed is None else text(row)


def percent(decimals: int, unit: str = "") -> Text:
    """Return a formatter: the relative difference in per cent; empty without a difference."""

    def text(row: Row) -> str:
        difference = row.relative_difference
        return "" if difference is None else f"{100 * difference:+.{decimals}f}{unit}"

    return text


def absolute(decimals: int, unit: str = "") -> Text:
    """Return a formatter: the difference in the unit of the row."""
    return lambda row: f"{(row.computed or 0.0) - (row.published or 0.0):+.{decimals}f}{unit}"
