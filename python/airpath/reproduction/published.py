"""Published numbers as rows: from a CSV file with keys, units and ±, to be filled with ours.

The half-width of a number's interval stands in a column of the same name with ``half_width`` before
the unit: ``delay_half_width_s`` belongs to ``delay_s``. An empty entry is a number that the paper
does not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from airpath.reproduction.base import Row
from airpath.reproduction.files import read_table
from airpath.reproduction.tolerance import Tolerance

__all__ = [
    "PublishedMean",
    "PublishedQuantity",
    "line_of",
    "parsed",
    "published_mean",
    "published_rows",
]


class PublishedMean(NamedTuple):
    """A printed number with its ±."""

    mean: float
    half_width: float


def published_mean(line: Mapping[str, str], column: str) -> PublishedMean:
    """Return a number of a line of a CSV file with its ±; 0 where the paper has none."""
    return PublishedMean(float(line[column]), float(line.get(_half_width_of(column)) or 0.0))


def line_of(lines: Sequence[Mapping[str, str]], place: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the line with the values of a place in the same columns; empty if there is none."""
    for line in lines:
        shared = [axis for axis in place if axis in line]
        if shared and all(parsed(line[axis]) == place[axis] for axis in shared):
            return line
    return {}


def _half_width_of(column: str) -> str:
    """Return where the half-widths of a column's intervals stand, if they have any."""
    stem, _, unit = column.rpartition("_")
    return f"{stem}_half_width_{unit}"


@dataclass(frozen=True)
class PublishedQuantity:
    """A column of published numbers.

    Parameters
    ----------
    name : str
        What they are: `Row.quantity`.
    unit : str
        Of the entries: `Row.unit`.
    column : str
        Where they stand.
    tolerance : Tolerance, optional
        How far ours may be. Default: not judged.
    """

    name: str
    unit: str
    column: str
    tolerance: Tolerance | None = None


def published_rows(
    directory: Path,
    name: str,
    keys: Sequence[str],
    quantities: Sequence[PublishedQuantity],
    words: Mapping[str, str] | None = None,
) -> list[Row]:
    """Return a published table as rows without numbers of ours.

    Parameters
    ----------
    directory : Path
        Of the paper.
    name : str
        File name: ``table3.csv``.
    keys : sequence of str
        Columns that name a row; integers and other numbers are parsed.
    quantities : sequence of PublishedQuantity
        Columns of numbers, one row for each entry.
    words : mapping of str to str, optional
        Other columns that go into `Row.extra`, and under which name. Default: none.
    """
    rows = []
    for line in read_table(directory, name):
        for quantity in quantities:
            half_width = line.get(_half_width_of(quantity.column))
            rows.append(
                Row(
                    {key: parsed(line[key]) for key in keys},
                    quantity.name,
                    quantity.unit,
                    float(line[quantity.column]) if line[quantity.column] else None,
                    None,
                    published_ci=float(half_width) if half_width else None,
                    tolerance=quantity.tolerance,
                    extra={name: line[column] for column, name in (words or {}).items()},
                )
            )
    return rows


def parsed(entry: str) -> int | float | str:
    """Return an entry of a CSV file as the integer or number that it is, else as text."""
    for kind in (int, float):
        try:
            return kind(entry)
        except ValueError:
            continue
    return entry
