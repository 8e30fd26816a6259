"""How congestion controls share a bottleneck: with each discipline, and over the depth of a buffer.

``airpath reproduce papers/studies/fairness`` runs the study; README.md describes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from airpath.reproduction.claims import Claims
from airpath.reproduction.formulas import of_replication
from airpath.reproduction.manifest import paper_of

from .quantities import NAMING, QUANTITIES, delay_ms, first_mbps, jain, loss, share
from .scenarios import DIRECTORY, SWEEPS

__all__ = ["DIRECTORY", "PAPER"]

CLAIMS: Final = Claims(
    DIRECTORY,
    SWEEPS,
    {
        "delay_ms": of_replication(delay_ms),
        "first_mbps": of_replication(first_mbps),
        "goodput_share": of_replication(share),
        "jain": of_replication(jain),
        "loss": of_replication(loss),
    },
)
"""Expectations, written before the first run, and statements of README.md."""

PAPER: Final = replace(
    paper_of(DIRECTORY, CLAIMS, {}, SWEEPS, QUANTITIES, NAMING), key="fairness-study"
)
