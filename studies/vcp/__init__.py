"""Beyond Yousefi'zadeh, Habibi and Furmanski 2008: transports, codes, bursts, a recorded link.

``airpath reproduce studies/vcp`` runs it; README.md says what each item is.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from airpath.reproduction.base import Cell, Effort
from airpath.reproduction.manifest import paper_of
from airpath_papers.vcp import effort_of as effort_of_paper
from airpath_papers.vcp.scenarios import Case, build

from . import bursts, rates, recorded
from .checks import CLAIMS
from .lte import Recorded, build_recorded, effort_of_recorded
from .sensitivity import CHANGED
from .transports import TRANSPORTS
from .variants import variant_of

__all__ = ["DIRECTORY", "PAPER"]

DIRECTORY: Final = Path(__file__).parent


def effort_of(cell: Cell, effort: Effort) -> Effort:
    """Return how long and how often a cell is simulated, given the mode's effort."""
    if isinstance(cell, Recorded):
        return effort_of_recorded(effort)
    return effort_of_paper(cell, effort)


def simulated(cell: Cell, effort: Effort) -> Any:
    """Return the scenario of a cell, which may take as long as `effort` says."""
    if isinstance(cell, Recorded):
        return build_recorded(cell, effort)
    case = Case(*cell)
    return build(case, effort, variant_of(case))


PAPER: Final = replace(
    paper_of(
        DIRECTORY,
        CLAIMS,
        {
            **CHANGED,
            **TRANSPORTS,
            "code-rate": rates.ITEM,
            "bursts": bursts.ITEM,
            "trace": recorded.ITEM,
        },
        cell_names=Case._fields,
        simulated_scenario=simulated,
        effort_of=effort_of,
    ),
    key="vcp-studies",
)
