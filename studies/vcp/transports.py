"""The items ``loss-response`` and ``transports``: delivered packets of others than the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from airpath_papers.vcp.delivered import NAMES, Line, Panel, deliveries
from airpath_papers.vcp.grids import LOSSY_DB

__all__ = ["TRANSPORTS"]


def _compared() -> Panel:
    names = ("cubic", "sack", "cubic-sack", "dctcp", "vcp")
    lines = [Line(NAMES[name], name, "2x2", 1.0) for name in names]
    return Panel("2x2, no FEC", lines, LOSSY_DB)


def _ignoring() -> Panel:
    lines = [
        Line("VCP", "vcp", "2x2", 1.0),
        Line("VCP that ignores losses", "vcp", "2x2", 1.0, "ignore-loss"),
        Line("TCP/REM", "tcp-rem", "2x2", 1.0),
    ]
    return Panel("2x2, no FEC", lines, LOSSY_DB)


TRANSPORTS: Final = deliveries(
    {"loss-response": [_ignoring()], "transports": [_compared()]}, Path(__file__).parent
)
"""Cells and evaluation of each item."""
