"""Definitions for the study's tables and figures: quantities, labels, names of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from airpath.reproduction.formulas import Point
from airpath.reproduction.quantities import MeasuredQuantity
from airpath_papers.wimax import measures
from airpath_papers.wimax.quantities import NAMING as OF_PAPER
from airpath_papers.wimax.quantities import QUANTITIES as PAPERS

from .scenarios import SWEEPS

__all__ = ["NAMING", "QUANTITIES", "completion_ms", "total_mbps"]


def completion_ms(replication: Mapping[str, Any]) -> float:
    """Mean completion time of the downloads, ms."""
    flows = replication["flows"]
    return 1e3 * sum(measures.time_s(flow, replication) for flow in flows) / len(flows)


def total_mbps(replication: Mapping[str, Any]) -> float:
    """Total goodput of all downloads, Mbit/s; uploads come after them in the list of flows."""
    flows = replication["flows"][: len(replication["stations"])]
    return float(sum(flow["goodput_bps"] for flow in flows)) / 1e6


_QUANTITIES: Final = (
    MeasuredQuantity("completion", "ms", completion_ms, 0),
    MeasuredQuantity("collided_share", "1", measures.collided_share, 4),
    MeasuredQuantity("timeouts", "1", measures.timeouts, 1),
)

QUANTITIES: Final[Mapping[str, Any]] = {
    **PAPERS,
    **{each.name: each for each in _QUANTITIES},
    "total": MeasuredQuantity("goodput", "Mbit/s", total_mbps, 3),
}
"""Quantities that ``paper.toml`` names."""

DEFAULTS: Final = {"stations": 1, "cc": "newreno", "upload": False, "codes": 8, "size_kb": 0}
"""Default arguments of `crowd`."""


def _place_of(point: Point) -> dict[str, Any]:
    """Return the name of the row of a point."""
    axes = {"policy": "", **DEFAULTS, **point.cell.axes}
    return {**axes, "upload": str(axes["upload"]).lower()}


_CHANGES: Final = {
    change: about
    for name in ("sensitivity", "round-robin", "schedulers")
    for change, about in SWEEPS.changes(name).items()
}

_WORDS: Final = {
    "change": {**OF_PAPER.words["change"], **_CHANGES},
    "preset": {"lte": "LTE-like", "nr": "NR-like"},
    "cc": {"newreno": "New Reno", "cubic": "CUBIC"},
    "upload": {True: "with an upload"},
}

NAMING: Final = replace(OF_PAPER, words={**OF_PAPER.words, **_WORDS}, place_of=_place_of)
"""Names of quantities, values and points in tables and legends."""
