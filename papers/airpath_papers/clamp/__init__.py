"""Andrew, Hanly and Mukhtar 2008: CLAMP in a fading cell with a proportional-fair scheduler.

README.md in this folder lists what is modelled, what is left out, and every parameter that the
paper leaves open with the value chosen; paper.toml has the modes and the items, claims.toml
what the text says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from airpath.reproduction.base import Cell, Effort
from airpath.reproduction.manifest import Cells, Evaluate, paper_of
from airpath_papers.clamp.claims import CLAIMS
from airpath_papers.clamp.dynamics import Dynamics, build_dynamics, effort_of_dynamics
from airpath_papers.clamp.figures import FIGURES
from airpath_papers.clamp.link import LinkCase, build_link, effort_of_link
from airpath_papers.clamp.scenarios import (
    Case,
    Saturated,
    build,
    build_saturated,
    half,
    variant_of,
)
from airpath_papers.clamp.traces import SHOWN_S, TRACES
from airpath_papers.paths import CLAMP

__all__ = ["PAPER"]


def effort_of(cell: Cell, effort: Effort) -> Effort:
    """Return how long and how often a cell is simulated, given the mode's effort."""
    match cell:
        case LinkCase():
            return effort_of_link(cell)
        case Dynamics():
            return effort_of_dynamics(cell)
        case Case() if cell.record:
            return replace(effort, replications=1, duration_s=SHOWN_S[1])
        case Case() if cell.variant:
            return half(effort)
        case _:
            return effort


def simulated(cell: Cell, effort: Effort) -> Any:
    """Return the scenario of a cell, which may take as long as `effort` says."""
    match cell:
        case LinkCase():
            return build_link(cell, effort)
        case Dynamics():
            return build_dynamics(cell, effort)
        case Saturated():
            return build_saturated(cell, effort)
        case _:
            case = Case(*cell)
            return build(case, effort, variant_of(case))


_FIGURES: Final[dict[str, tuple[Cells, Evaluate]]] = {**FIGURES, **TRACES}

PAPER: Final = paper_of(
    CLAMP,
    CLAIMS,
    {key: _FIGURES[key] for key in sorted(_FIGURES, key=lambda key: int(key[3:]))},
    cell_names=Case._fields,
    simulated_scenario=simulated,
    effort_of=effort_of,
)
