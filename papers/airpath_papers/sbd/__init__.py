"""Alcaraz and Cerdán 2006: AQM at the RLC buffer of 3G radio bearers.

README.md lists what is modelled, what is left out, and every parameter that the paper leaves open
with the value chosen; paper.toml has the modes and the items, sweeps.toml the points, claims.toml
what the text says.
"""

from __future__ import annotations

from typing import Final

from airpath.reproduction.manifest import paper_of
from airpath_papers.paths import SBD
from airpath_papers.sbd.claims import CLAIMS, SWEEPS
from airpath_papers.sbd.figures import ITEMS
from airpath_papers.sbd.tables import ITEM, NAMING, QUANTITIES, summarise

__all__ = ["PAPER"]

PAPER: Final = paper_of(
    SBD, CLAIMS, {"table6": ITEM, **ITEMS}, SWEEPS, QUANTITIES, NAMING, summarise=summarise
)
