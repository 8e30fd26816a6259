"""The names of what the engine measures and records, with their units, as the engine has them."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

from airpath import _airpath

__all__ = ["AT_QUEUES", "DROP_REASONS", "LEVELS", "SERIES_UNITS", "UNITS", "names"]

_FOUND: dict[str, Any] = json.loads(_airpath.vocabulary())

_PARTS = ("given", "flow", "queue", "link", "user", "station")

UNITS = MappingProxyType({name: unit for of in _PARTS for name, unit in _FOUND[of]})
"""Unit of every measured quantity; ``1`` of what is a number or a share."""
SERIES_UNITS = MappingProxyType({series["name"]: series["unit"] for series in _FOUND["series"]})
"""Unit of every series that the engine records."""
LEVELS = tuple(series["name"] for series in _FOUND["series"] if series["level"])
"""Series of which `record.interval` keeps a value now and then; of others every one is kept."""
AT_QUEUES = tuple(series["name"] for series in _FOUND["series"] if series["at_queues"])
"""Series of what happens at queues: their rows name the queue."""
DROP_REASONS: tuple[str, ...] = tuple(_FOUND["drop_reasons"])
"""Why packets are dropped; a drop's value in its series is the place here."""


def names(of: str) -> tuple[str, ...]:
    """Return the quantities of each ``flow``, ``queue``, ..., in the order of the tables."""
    return tuple(name for name, _unit in _FOUND[of])
