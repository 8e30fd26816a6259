"""The items ``loss-response`` and ``transports``: delivered packets of others than the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from airpath_papers.vcp.delivered import Panel, deliveries
from airpath_papers.vcp.scenarios import NAMES

from .checks import DIRECTORY, SWEEPS

__all__ = ["TRANSPORTS"]


def _line(protocol: str) -> tuple[list[str], Mapping[str, Any]]:
    return ["lossy"], {"protocol": protocol}


_ITEMS: Final = {
    "loss-response": {
        "VCP": _line("vcp"),
        "VCP that ignores losses": (["lossy-ignored"], {}),
        "TCP/REM": _line("tcp-rem"),
    },
    "transports": {
        NAMES[name]: _line(name) for name in ("cubic", "sack", "cubic-sack", "dctcp", "vcp")
    },
}

TRANSPORTS: Final = deliveries(
    {key: [Panel("2x2, no FEC", lines, sweeps=SWEEPS)] for key, lines in _ITEMS.items()}, DIRECTORY
)
"""Cells and evaluation of each item."""
