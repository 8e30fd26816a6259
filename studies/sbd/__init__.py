"""Beyond Alcaraz and Cerdán 2006: what its numbers depend on, measures of ours, the joint fit.

``airpath reproduce studies/sbd`` runs the first two, ``python -m studies.sbd.fit`` the last. The
paper's README.md says what was concluded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from airpath.reproduction.base import Item
from airpath_papers.sbd import PAPER as OF_PAPER

from .sensitivity import SENSITIVITY_CELLS, evaluate_sensitivity
from .variants import effort_of, simulated
from .weaker import CLAIMS, evaluate_weaker

__all__ = ["PAPER"]

PAPER: Final = replace(
    OF_PAPER,
    key="sbd-studies",
    title="Beyond the paper: what the numbers of AQM in rate-varying 3G links depend on",
    items=(
        Item(
            "sensitivity",
            "what the numbers depend on",
            SENSITIVITY_CELLS,
            evaluate_sensitivity,
        ),
        Item(
            "weaker",
            "what holds beside the paper's claims",
            (),
            evaluate_weaker,
            CLAIMS.of("weaker"),
        ),
    ),
    simulated_scenario=simulated,
    effort_of=effort_of,
    claims=CLAIMS.checks(),
    summarise=lambda _results: (),
)
