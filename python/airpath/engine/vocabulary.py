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
"""Unit of every measured quantity; ``1`` for numbers and shares."""
SERIES_UNITS = MappingProxyType({series["name"]: series["unit"] for series in _FOUND["series"]})
"""Unit of every series that the engine records."""
LEVELS = tuple(series["name"] for series in _FOUND["series"] if series["level"])
"""Series sampled at `record.interval`; every value of the other series is recorded."""
AT_QUEUES = tuple(series["name"] for series in _FOUND["series"] if series["at_queues"])
"""Series of events at queues, whose rows name the queue."""
DROP_REASONS: tuple[str, ...] = tuple(_FOUND["drop_reasons"])
"""Reasons for drops of packets; the drop series contains the index in this tuple."""


def names(of: str) -> tuple[str, ...]:
    """Return the quantities of a ``flow``, ``queue``, ..., in the order of the tables."""
    return tuple(name for name, _unit in _FOUND[of])
