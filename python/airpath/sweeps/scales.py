"""Names, units and scales of axes and metrics in figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from airpath.errors import UnitError
from airpath.results.labels import label_of_quantity, short_label
from airpath.scenario.units import (
    NUMBER_AND_UNIT,
    ArrivalRate,
    Duration,
    Frequency,
    Length,
    Quantity,
    Rate,
    Size,
    Speed,
)

__all__ = ["MetricStyle", "Numbers", "metric_style", "numbers_of"]

_QUANTITIES: tuple[type[Quantity], ...] = (
    Duration,
    Rate,
    Size,
    Frequency,
    Length,
    Speed,
    ArrivalRate,
)
_WIDE = 15.0
"""Least ratio of largest to smallest value for a logarithmic axis."""


@dataclass(frozen=True)
class Numbers:
    """The values of an axis as numbers.

    Parameters
    ----------
    of : sequence of float
        Numbers in the order of the values.
    unit : str
        Unit of all numbers; empty if they have no unit.
    """

    of: Sequence[float]
    unit: str

    @property
    def logarithmic(self) -> bool:
        """Whether the axis should be logarithmic."""
        low, high = min(self.of), max(self.of)
        return low > 0 and high / low >= _WIDE


def numbers_of(values: Sequence[Any]) -> Numbers | None:
    """Return numbers or texts of one kind of quantity as `Numbers`; None for other values.

    Parameters
    ----------
    values : sequence of value
        Values as written in the sweep: ``["500 kbit/s", "5 Mbit/s"]`` gives 0.5 and 5 Mbit/s.
    """
    if not values:
        return None
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        plain = [float(value) for value in values]
        return Numbers(plain, "") if all(map(math.isfinite, plain)) else None
    if not all(isinstance(value, str) and len(value) < 200 for value in values):
        return None
    matches = [NUMBER_AND_UNIT.fullmatch(value) for value in values]
    found = [(float(match["number"]), match["unit"] or "") for match in matches if match]
    if len(found) < len(values):
        return None
    # "1 packet" and "1 segment" have no plural s.
    units = {
        unit.removesuffix("s") if unit in ("packets", "segments") else unit: unit
        for _, unit in sorted(found)
    }
    if len(units) == 1:
        return Numbers([number for number, _ in found], next(iter(units.values())))
    return _converted(values, found)


def _converted(values: Sequence[str], found: Sequence[tuple[float, str]]) -> Numbers | None:
    """Return quantities with different units of one kind, in the unit of the largest value."""
    for kind in _QUANTITIES:
        try:
            read = [int(kind.parse(value)) for value in values]
        except UnitError:
            continue
        unit = found[read.index(max(read))][1]
        return Numbers([number / kind.units[unit] for number in read], unit)
    return None


# --- metrics -----------------------------------------------------------------------------------

_PREFIXES = {
    "bps": ((1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "s": ((10.0, "s"), (1e-3, "ms"), (0.0, "µs")),
    "bytes": ((1e6, "MB"), (1e3, "kB"), (0.0, "B")),
    "db": ((0.0, "dB"),),
}
"""Maps the end of a metric's name to units, each with the least value for which it is used."""
_SIZES = {"s": 1.0, "ms": 1e3, "µs": 1e6, "Mbit/s": 1e-6, "kbit/s": 1e-3, "MB": 1e-6, "kB": 1e-3}
_QUEUE_LENGTH = re.compile(r"(mean|max|p\d\d)_packets", re.ASCII)


@dataclass(frozen=True)
class MetricStyle:
    """Name, unit and scale of a metric in figures.

    Parameters
    ----------
    name : str
        Readable name: ``95th percentile of sojourn times``.
    unit : str
        Unit; empty for a dimensionless number.
    scale : float
        Factor that converts a value to this unit.
    """

    name: str
    unit: str
    scale: float

    @property
    def label(self) -> str:
        """Name and unit, for an axis of a figure."""
        return f"{self.name}, {self.unit}" if self.unit else self.name

    @property
    def short_label(self) -> str:
        """Name and unit, for the header of a table column: ``p95 of sojourn times, ms``."""
        return short_label(self.label)


def metric_style(
    metric: str, values: Iterable[float], names: Mapping[str, str] = MappingProxyType({})
) -> MetricStyle:
    """Return the style of a metric in figures, with a unit that fits its values.

    Parameters
    ----------
    metric : str
        Name as in the tables; the end of the name determines the unit.
    values : iterable of float
        Plotted values; NaN is ignored.
    names : mapping of str to str
        Names of metrics that the user chose; the unit is added. Default: none.
    """
    quantity = metric.rpartition(".")[2]
    stem, _, end = quantity.rpartition("_")
    choices = _PREFIXES.get(end) if stem else None
    name = names.get(metric) or label_of_quantity(metric)
    if choices is None:
        return MetricStyle(name, "packets" if _QUEUE_LENGTH.fullmatch(quantity) else "", 1.0)
    largest = max((abs(value) for value in values if math.isfinite(value)), default=1.0)
    unit = next((unit for least, unit in choices if largest >= least), choices[-1][1])
    return MetricStyle(name, unit, _SIZES.get(unit, 1.0))
