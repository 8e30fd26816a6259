"""Beyond Park, Hu and Kim 2009: many stations, scheduling requests, what the numbers depend on.

``airpath reproduce studies/wimax`` runs it; README.md says what each item is.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from airpath.reproduction.base import Cell, Effort
from airpath.reproduction.manifest import paper_of
from airpath_papers.wimax import effort_of as effort_of_paper
from airpath_papers.wimax import simulated as simulated_of_paper
from airpath_papers.wimax.scenarios import Case, build

from .accesses import Access, build_access, effort_of_access
from .checks import CLAIMS
from .requests import REQUESTS
from .sensitivity import ITEM as SENSITIVITY
from .stations import STATIONS
from .variants import variant_of

__all__ = ["DIRECTORY", "PAPER"]

DIRECTORY: Final = Path(__file__).parent


def effort_of(cell: Cell, effort: Effort) -> Effort:
    """Return how long and how often a cell is simulated, given the mode's effort."""
    if isinstance(cell, Access):
        return effort_of_access(cell, effort)
    return effort_of_paper(cell, effort)


def simulated(cell: Cell, effort: Effort) -> Any:
    """Return the scenario of a cell, which may take as long as `effort` says."""
    match cell:
        case Access():
            return build_access(cell, effort)
        case Case():
            return build(cell, effort, variant_of(cell))
        case _:
            return simulated_of_paper(cell, effort)


PAPER: Final = replace(
    paper_of(
        DIRECTORY,
        CLAIMS,
        {"stations": STATIONS, "requests": REQUESTS, "sensitivity": SENSITIVITY},
        cell_names=Case._fields,
        simulated_scenario=simulated,
        effort_of=effort_of,
    ),
    key="wimax-studies",
)
