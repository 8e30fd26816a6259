"""Beyond Park, Hu and Kim 2009: many stations, scheduling requests, sensitivity of the numbers.

``airpath reproduce papers/studies/wimax`` runs the study; README.md describes the items.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from airpath.reproduction.claims import Claims
from airpath.reproduction.formulas import of_replication
from airpath.reproduction.manifest import paper_of
from airpath_papers.wimax import measures

from .quantities import NAMING, QUANTITIES, completion_ms, total_mbps
from .scenarios import DIRECTORY, SWEEPS
from .sensitivity import more

__all__ = ["DIRECTORY", "PAPER"]

CLAIMS: Final = Claims(
    DIRECTORY,
    SWEEPS,
    {
        "delay_ms": of_replication(measures.MAC_DELAY.measure),
        "efficiency": of_replication(measures.EFFICIENCY.measure),
        "total_mbps": of_replication(total_mbps),
        "completion_ms": of_replication(completion_ms),
        "collided": of_replication(measures.collided_share),
        "contention": of_replication(measures.contention_share),
    },
)
"""Hypotheses, written before the first run."""

PAPER: Final = replace(
    paper_of(DIRECTORY, CLAIMS, {"sensitivity": more}, SWEEPS, QUANTITIES, NAMING),
    key="wimax-studies",
)
