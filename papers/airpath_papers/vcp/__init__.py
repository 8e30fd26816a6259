"""Yousefi'zadeh, Habibi and Furmanski 2008: VCP and TCP/REM over MIMO fading links.

README.md in this folder lists what is modelled, what is left out, and every parameter that the
paper leaves open with the value chosen; paper.toml has the modes and the items, claims.toml
what the text says.
"""

from __future__ import annotations

from typing import Any, Final

from airpath.reproduction.base import Cell, Effort
from airpath.reproduction.manifest import paper_of
from airpath_papers.paths import VCP
from airpath_papers.vcp import life_spans, text_claims
from airpath_papers.vcp.claims import CLAIMS
from airpath_papers.vcp.delivered import DELIVERIES
from airpath_papers.vcp.errors import ERRORS
from airpath_papers.vcp.scenarios import Case, build
from airpath_papers.vcp.variants import variant_of

__all__ = ["PAPER"]

CLAIM_RUNS: Final = 20
"""Runs of the cells of the paper's claims, in every mode."""

_STATED: Final = frozenset(
    cell for spec in CLAIMS.checks() if CLAIMS.specs[spec.key].of_paper for cell in spec.cells
)


def effort_of(cell: Cell, effort: Effort) -> Effort:
    """Return how long and how often a cell is simulated, given the mode's effort."""
    runs = max(CLAIM_RUNS, effort.replications) if cell in _STATED else effort.replications
    return Effort(runs, effort.duration_s, effort.warmup_s)


def simulated(cell: Cell, effort: Effort) -> Any:
    """Return the scenario of a cell, which may take as long as `effort` says."""
    case = Case(*cell)
    return build(case, effort, variant_of(case))


PAPER: Final = paper_of(
    VCP,
    CLAIMS,
    {
        **ERRORS,
        **DELIVERIES,
        "claims": text_claims.ITEM,
        "life-spans": life_spans.ITEM,
    },
    cell_names=Case._fields,
    simulated_scenario=simulated,
    effort_of=effort_of,
)
"""The paper."""
