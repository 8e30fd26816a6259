"""Park, Hu and Kim 2009: a TDD link on which stations request their uplink; grants ahead of ACKs.

README.md lists what is modelled, what is left out, and every parameter that the paper leaves open
with the value chosen; paper.toml has the modes and the items, sweeps.toml the points, claims.toml
what the text says.
"""

from __future__ import annotations

from typing import Final

from airpath.reproduction.manifest import paper_of
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.changes import RADIO_ITEM, SIZING_ITEM
from airpath_papers.wimax.claims import CLAIMS, NAMING, QUANTITIES, SWEEPS
from airpath_papers.wimax.figures import FIG6, FIG7
from airpath_papers.wimax.tables import TABLES, summarise
from airpath_papers.wimax.timelines import TIMELINES

__all__ = ["PAPER"]

PAPER: Final = paper_of(
    WIMAX,
    CLAIMS,
    {
        **TIMELINES,
        **TABLES,
        "sizing": SIZING_ITEM,
        "radio": RADIO_ITEM,
        "fig6": FIG6,
        "fig7": FIG7,
    },
    SWEEPS,
    QUANTITIES,
    NAMING,
    summarise=summarise,
)
"""The paper."""
