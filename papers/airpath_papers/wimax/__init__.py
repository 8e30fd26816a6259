"""Park, Hu and Kim 2009: a TDD link with uplink bandwidth requests, and proactive grants for ACKs.

README.md lists the modelled parts, the omitted parts, and every parameter that the paper does not
specify, with the chosen value. paper.toml has the modes and the items, sweeps.toml the points,
claims.toml the claims of the text.
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
