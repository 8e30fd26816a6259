"""Reads published numbers and their half-widths from the lines of a CSV file.

The name of a column ends with the unit. The column of half-widths has the same name, with
``half_width`` before the unit: ``delay_half_width_s`` belongs to ``delay_s``. An empty entry means
that the paper prints no number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["PublishedMean", "line_of", "parsed", "published_mean"]


class PublishedMean(NamedTuple):
    """Number printed in the paper, with the half-width of its confidence interval."""

    mean: float
    half_width: float
    """Half-width; NaN if the paper prints none."""

    @property
    def ci(self) -> float | None:
        """The half-width of the interval; None if the paper prints none."""
        return None if math.isnan(self.half_width) else self.half_width


def published_mean(line: Mapping[str, str], column: str) -> PublishedMean:
    """Return the number in a column of a CSV line, with its half-width."""
    stem, _, unit = column.rpartition("_")
    half_width = line.get(f"{stem}_half_width_{unit}") or math.nan
    return PublishedMean(float(line[column]), float(half_width))


def line_of(lines: Sequence[Mapping[str, str]], place: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the line whose columns have the values in `place`; empty if there is no such line."""
    for line in lines:
        shared = [axis for axis in place if axis in line]
        if shared and all(parsed(line[axis]) == place[axis] for axis in shared):
            return line
    return {}


def parsed(entry: str) -> int | float | str:
    """Parse an entry of a CSV file as an integer or a float if possible; else return the text."""
    for kind in (int, float):
        try:
            return kind(entry)
        except ValueError:
            continue
    return entry
