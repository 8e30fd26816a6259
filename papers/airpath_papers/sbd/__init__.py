"""Alcaraz and Cerdán 2006: AQM at the RLC buffer of 3G radio bearers.

README.md lists the modelled parts, the omitted parts, and every parameter that the paper does not
specify, with the chosen value. paper.toml has the modes and the items, sweeps.toml the points,
claims.toml the claims of the text.
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
