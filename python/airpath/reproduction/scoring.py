"""Functions that summarise how well many rows of a paper agree with the published numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from airpath.reproduction.base import Row

__all__ = ["by_place", "largest_difference", "others", "within_by_batch"]


def by_place(rows: Iterable[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Group rows by the entries `names` of `Row.row`."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row.row[name] for name in names), []).append(row)
    return found


def largest_difference(rows: Iterable[Row], quantity: str) -> float:
    """Return the relative difference (with sign) of a quantity that has the largest magnitude."""
    found = [row.relative_difference or 0.0 for row in rows if row.quantity == quantity]
    return max(found, key=abs, default=0.0)


def within_by_batch(places: Iterable[Sequence[Row]], batches: str) -> list[int]:
    """Return, for each batch of runs, the number of points whose rows are all within tolerance.

    Parameters
    ----------
    places : iterable of sequence of Row
        The rows of each point.
    batches : str
        Name of the entry of `Row.extra` that has a value for each batch.
    """
    near = [
        [all(of_one) for of_one in zip(*(_within(row, batches) for row in rows), strict=True)]
        for rows in places
    ]
    return [sum(of_batch) for of_batch in zip(*near, strict=True)]


def _within(row: Row, batches: str) -> list[bool]:
    return [bool(replace(row, computed=value).within) for value in row.extra[batches]]


def others(names: Sequence[str], about: str = "others") -> str:
    """Return ``; others: a; b``, the end of a line that lists exceptions; empty without names."""
    return f"; {about}: {'; '.join(names)}" if names else ""
