"""Beyond Alcaraz and Cerdán 2006: sensitivity of its numbers, further measures, the joint fit.

``airpath reproduce papers/studies/sbd`` runs the first two; ``python -m studies.sbd.fit`` runs the
joint fit. The paper's README.md has the conclusions.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from airpath.reproduction.base import Item, ItemResult
from airpath.reproduction.claims import Claims
from airpath_papers.sbd import PAPER as OF_PAPER
from airpath_papers.sbd.claims import MEASURES

from .sensitivity import CELLS, SWEEPS, evaluate_sensitivity

__all__ = ["CLAIMS", "PAPER"]

CLAIMS: Final = Claims(Path(__file__).parent, SWEEPS, MEASURES)
"""Measures that are weaker than the paper's claims; the only content of the item `weaker`."""

_WEAKER: Final = "claims weaker than those of the paper"

PAPER: Final = replace(
    OF_PAPER,
    key="sbd-studies",
    title="Beyond the paper: what the numbers of AQM in rate-varying 3G links depend on",
    items=(
        Item("sensitivity", "what the numbers depend on", CELLS, evaluate_sensitivity),
        Item(
            "weaker",
            _WEAKER,
            (),
            lambda _session, _out: ItemResult("weaker", _WEAKER, []),
            CLAIMS.of("weaker"),
        ),
    ),
    sweeps=SWEEPS,
    claims=CLAIMS.checks(),
    summarise=lambda _results: (),
)
