"""Park, Hu and Kim 2009: a TDD link on which stations ask for their uplink; grants ahead of ACKs.

README.md in this folder lists what is modelled, what is left out, and every parameter that the
paper leaves open with the value chosen; paper.toml has the modes and the items, claims.toml
what the text says.
"""

from __future__ import annotations

from typing import Any, Final

from airpath.reproduction.base import Cell, Effort
from airpath.reproduction.manifest import paper_of
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.claims import CLAIMS
from airpath_papers.wimax.crowds import Crowd, build_crowd, effort_of_crowd
from airpath_papers.wimax.curves import CURVES
from airpath_papers.wimax.delays import FIG6
from airpath_papers.wimax.losses import FIG7
from airpath_papers.wimax.scenarios import TABLE_RUNS, Case, build
from airpath_papers.wimax.tables import TABLES, summarise
from airpath_papers.wimax.timelines import (
    TIMELINES,
    Ranged,
    build_ranged,
    effort_of_ranged,
)
from airpath_papers.wimax.validation import Validation, build_validation
from airpath_papers.wimax.variant_items import RADIO_ITEM, SIZING_ITEM
from airpath_papers.wimax.variants import variant_of

__all__ = ["PAPER"]


def effort_of(cell: Cell, effort: Effort) -> Effort:
    """Return how long and how often a cell is simulated, given the mode's effort."""
    match cell:
        case Crowd():
            return effort_of_crowd(cell, effort)
        case Ranged():
            return effort_of_ranged(cell)
        case Validation():
            runs = 1 if cell.record else max(TABLE_RUNS, effort.replications)
            return Effort(runs, effort.duration_s, effort.warmup_s)
        case Case() if not cell.variant:
            return Effort(TABLE_RUNS, effort.duration_s, effort.warmup_s)
        case _:
            return effort


def simulated(cell: Cell, effort: Effort) -> Any:
    """Return the scenario of a cell, which may take as long as `effort` says."""
    match cell:
        case Crowd():
            return build_crowd(cell, effort)
        case Ranged():
            return build_ranged(cell, effort)
        case Validation():
            return build_validation(cell, effort)
        case _:
            case = Case(*cell)
            return build(case, effort, variant_of(case))


PAPER: Final = paper_of(
    WIMAX,
    CLAIMS,
    {
        **TIMELINES,
        **CURVES,
        **TABLES,
        "sizing": SIZING_ITEM,
        "radio": RADIO_ITEM,
        "fig6": FIG6,
        "fig7": FIG7,
    },
    cell_names=Case._fields,
    simulated_scenario=simulated,
    effort_of=effort_of,
    summarise=summarise,
)
"""The paper."""
