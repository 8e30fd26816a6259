"""Beyond Yousefi'zadeh, Habibi and Furmanski 2008: transports, codes, bursts, a recorded link.

``airpath reproduce studies/vcp`` runs it; README.md says what each item is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from airpath.reproduction.base import Effort
from airpath.reproduction.manifest import paper_of
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.vcp.quantities import NAMING, QUANTITIES

from . import bursts, rates, recorded
from .checks import CLAIMS, DIRECTORY, SWEEPS
from .sensitivity import CHANGED

__all__ = ["DIRECTORY", "PAPER"]


def _effort_of(point: SweepPoint, effort: Effort) -> Effort:
    """Return how long and how often a point is simulated: the recorded link at most 10 times."""
    if point.scenario == "recorded":
        effort = replace(effort, replications=min(10, effort.replications))
    return SWEEPS.effort_of(point, effort)


PAPER: Final = replace(
    paper_of(
        DIRECTORY,
        CLAIMS,
        {
            **CHANGED,
            "code-rate": rates.ITEM,
            "bursts": bursts.ITEM,
            "trace": recorded.ITEM,
        },
        SWEEPS,
        QUANTITIES,
        NAMING,
        effort_of=_effort_of,
    ),
    key="vcp-studies",
)
