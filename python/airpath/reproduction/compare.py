"""Published and computed numbers as a table, for the terminal and for pages.

A paper says once what its rows are named by (`Key`) and how a quantity is written (`ColumnSet`);
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
    """What names a line: an entry of `Row.row`, its heading, and how it is written."""

    name: str
    heading: str
    text: Callable[[Any], str] = str


@dataclass(frozen=True)
class ColumnSet:
    """The columns of a quantity: published number, computed number, difference, verdict.

    Outside its tolerance the difference is marked; without a difference, the computed number.

    Parameters
    ----------
    quantity : str
        Of the rows.
    heading : str
        Heading over its columns.
    published, computed : callable
        Format the numbers. The computed one may be missing.
    difference : callable, optional
        Writes the difference. Default: no such column.
    names : sequence of str
        Of the columns; a fourth says yes or NO.
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
    """Columns of words, in addition to the numbers of rows.

    Parameters
    ----------
    heading : str
        Heading over the columns.
    entries : sequence of str
        Keys of `Row.extra`, the first row that has them decides.
    names : sequence of str
        Of the columns.
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
    """Return the table of some rows, a line for each place that they name.

    Parameters
    ----------
    title : str
        Its heading.
    rows : sequence of Row
        Also those without a computed number (`Row.computed` is None). Of two rows of one place and
        quantity the one with a number counts, and the first one decides the position of the line.
    keys : sequence of Key
        What names a line.
    shown : sequence of ColumnSet or NoteColumns
        Its other columns.
    notes : sequence of str
        Sentences under the table. Default: none.
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


# --- how numbers are written --------------------------------------------------------------------


def printed(decimals: int) -> Text:
    """Return the formatter of the published number and its ±; empty if there is none."""

    def text(row: Row) -> str:
        if row.published is None:
            return ""
        half = "" if row.published_ci is None else f" ± {row.published_ci:.{decimals}f}"
        return f"{row.published:.{decimals}f}{half}"

    return text


def spread(mean: float, low: float | None, high: float | None, decimals: int) -> str:
    """Return a mean with the half-width of its interval, where it has one."""
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
