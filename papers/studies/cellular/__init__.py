"""Congestion controls and queue disciplines over two recorded LTE links, with published points.

``airpath reproduce papers/studies/cellular`` runs the study; README.md describes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from airpath.reproduction.claims import Claims
from airpath.reproduction.formulas import of_replication
from airpath.reproduction.manifest import paper_of

from .scenarios import DIRECTORY, NAMING, QUANTITIES, SWEEPS, delay_ms, utilisation

__all__ = ["DIRECTORY", "PAPER"]

CLAIMS: Final = Claims(
    DIRECTORY,
    SWEEPS,
    {"delay_ms": of_replication(delay_ms), "utilisation": of_replication(utilisation)},
)
"""Expectations, written before the first run, and statements of README.md."""

PAPER: Final = replace(
    paper_of(DIRECTORY, CLAIMS, {}, SWEEPS, QUANTITIES, NAMING), key="cellular-study"
)
