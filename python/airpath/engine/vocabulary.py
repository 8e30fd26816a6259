"""Names and units of the quantities that the engine measures and records."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

from airpath import _airpath

__all__ = ["AT_QUEUES", "DROP_REASONS", "LEVELS", "SERIES_UNITS", "UNITS", "names"]

_FOUND: dict[str, Any] = json.loads(_airpath.vocabulary())

_PARTS = ("given", "flow", "queue", "link", "user", "station")

UNITS = MappingProxyType({name: unit for of in _PARTS for name, unit in _FOUND[of]})
"""Maps measured quantities to their units; ``1`` for counts and shares."""
SERIES_UNITS = MappingProxyType({series["name"]: series["unit"] for series in _FOUND["series"]})
"""Maps series that the engine records to their units."""
LEVELS = tuple(series["name"] for series in _FOUND["series"] if series["level"])
"""Series of levels, which are sampled at `record.interval`. Other series are not sampled."""
AT_QUEUES = tuple(series["name"] for series in _FOUND["series"] if series["at_queues"])
"""Series of events at queues, whose rows have the name of the queue."""
DROP_REASONS: tuple[str, ...] = tuple(_FOUND["drop_reasons"])
"""Reasons for packet drops; values of the series `drop` are indices into this tuple."""


def names(of: str) -> tuple[str, ...]:
    """Return the quantities of a ``flow``, ``queue``, ..., in the order of the table columns."""
    return tuple(name for name, _unit in _FOUND[of])
