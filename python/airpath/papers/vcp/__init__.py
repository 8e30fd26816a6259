"""Yousefi'zadeh, Habibi and Furmanski 2008: VCP and TCP/REM over MIMO fading links.

README.md in this folder lists what is modelled, what is left out, and every parameter that the
paper leaves open with the value chosen; paper.toml has the modes and the items, statements.toml
what the text says.
"""

from __future__ import annotations

from typing import Any, Final

from airpath.papers.kit.base import Cell, Effort
from airpath.papers.kit.declared import paper_of
from airpath.papers.vcp import bursts, life_spans, rates, recorded, said
from airpath.papers.vcp.changed import CHANGED
from airpath.papers.vcp.delivered import DELIVERIES
from airpath.papers.vcp.errors import ERRORS
from airpath.papers.vcp.lte import Recorded, build_recorded, effort_of_recorded
from airpath.papers.vcp.scenarios import Case, build
from airpath.papers.vcp.statements import SAYS
from airpath.papers.vcp.variants import variant_of

__all__ = ["PAPER"]

STATEMENT_RUNS: Final = 20
"""Runs of the cells of the paper's statements, in every mode."""

_STATED: Final = frozenset(
    cell for spec in SAYS.specs() if SAYS.said[spec.key].of_paper for cell in spec.cells
)


def effort_of(cell: Cell, effort: Effort) -> Effort:
    """Return how long and how often a cell is simulated, given the mode's effort."""
    if isinstance(cell, Recorded):
        return effort_of_recorded(effort)
    runs = max(STATEMENT_RUNS, effort.replications) if cell in _STATED else effort.replications
    return Effort(runs, effort.duration_s, effort.warmup_s)


def simulated(cell: Cell, effort: Effort) -> Any:
    """Return the scenario of a cell, which may take as long as `effort` says."""
    if isinstance(cell, Recorded):
        return build_recorded(cell, effort)
    case = Case(*cell)
    return build(case, effort, variant_of(case))


PAPER: Final = paper_of(
    "vcp",
    SAYS,
    {
        **ERRORS,
        **DELIVERIES,
        **CHANGED,
        "statements": said.ITEM,
        "life-spans": life_spans.ITEM,
        "code-rate": rates.ITEM,
        "bursts": bursts.ITEM,
        "trace": recorded.ITEM,
    },
    cell_names=Case._fields,
    simulated_scenario=simulated,
    effort_of=effort_of,
)
"""The paper."""
