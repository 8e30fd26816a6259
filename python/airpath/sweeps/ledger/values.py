"""Encoding of the values stored in a ledger."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from airpath.sweeps.ledger.schema import checksum, checksum_of_packed

__all__ = ["is_packed", "metrics_text", "storable", "with_checksum"]


def is_packed(packed: Any, of_packed: str) -> bool:
    """Return whether a packed replication matches its checksum."""
    return isinstance(packed, bytes) and checksum_of_packed(packed) == of_packed


def with_checksum(*values: Any) -> tuple[Any, ...]:
    """Return a row: the columns, followed by their checksum."""
    return (*values, checksum(values))


def metrics_text(metrics: Mapping[str, float | None]) -> str:
    """Return metrics as compact JSON; NaN and infinities are null."""
    numbers = {
        name: None if value is None or not math.isfinite(value) else float(value)
        for name, value in metrics.items()
    }
    return storable(json.dumps(numbers, ensure_ascii=False, separators=(",", ":")))


def storable(text: str) -> str:
    """Return a text that UTF-8 can encode; file names may contain invalid bytes."""
    return text.encode("utf-8", "backslashreplace").decode()
