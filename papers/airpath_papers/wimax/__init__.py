"""Park, Hu and Kim 2009: a TDD link on which stations request their uplink; grants ahead of ACKs.

README.md lists what is modelled, what is left out, and every parameter that the paper leaves open
with the value chosen; paper.toml has the modes and the items, sweeps.toml the points, claims.toml
what the text says.
"""

from __future__ import annotations

from typing import Final

from airpath.reproduction.manifest import paper_of
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.claims import CLAIMS, SWEEPS
from airpath_papers.wimax.figures import FIG6
from airpath_papers.wimax.quantities import NAMING, QUANTITIES
from airpath_papers.wimax.summary import summarise
from airpath_papers.wimax.timelines import TIMELINES

__all__ = ["PAPER"]

PAPER: Final = paper_of(
    WIMAX,
    CLAIMS,
    {**TIMELINES, "fig6": FIG6},
    SWEEPS,
    QUANTITIES,
    NAMING,
    summarise=summarise,
)
"""The paper."""
