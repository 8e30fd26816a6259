"""Published numbers: lines of a CSV file with units and half-widths.

The half-width of a number's interval is in a column of the same name with ``half_width`` before the
unit: ``delay_half_width_s`` belongs to ``delay_s``. An empty entry means that the paper prints no
number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["PublishedMean", "line_of", "parsed", "published_mean"]


class PublishedMean(NamedTuple):
    """Printed number with the half-width of its interval."""

    mean: float
    half_width: float
    """Half-width; NaN if the paper prints none."""

    @property
    def ci(self) -> float | None:
        """The half-width of the interval; None if the paper prints none."""
        return None if math.isnan(self.half_width) else self.half_width


def published_mean(line: Mapping[str, str], column: str) -> PublishedMean:
    """Return a number of a line of a CSV file, with its half-width."""
    stem, _, unit = column.rpartition("_")
    half_width = line.get(f"{stem}_half_width_{unit}") or math.nan
    return PublishedMean(float(line[column]), float(half_width))


def line_of(lines: Sequence[Mapping[str, str]], place: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the line whose columns match the values of a place; empty if there is none."""
    for line in lines:
        shared = [axis for axis in place if axis in line]
        if shared and all(parsed(line[axis]) == place[axis] for axis in shared):
            return line
    return {}


def parsed(entry: str) -> int | float | str:
    """Return an entry of a CSV file as an integer or a number if possible, else as text."""
    for kind in (int, float):
        try:
            return kind(entry)
        except ValueError:
            continue
    return entry
