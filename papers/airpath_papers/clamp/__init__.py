"""Andrew, Hanly and Mukhtar 2008: CLAMP in a fading cell with a proportional-fair scheduler.

README.md lists the modelled parts, the omitted parts, and every parameter that the paper does not
specify, with the chosen value. paper.toml has the modes and the items, sweeps.toml the points,
claims.toml the claims of the text.
"""

from __future__ import annotations

from typing import Final

from airpath.reproduction.manifest import paper_of
from airpath_papers.clamp.claims import CLAIMS
from airpath_papers.clamp.measures import NAMING, QUANTITIES
from airpath_papers.clamp.sweeps import SWEEPS
from airpath_papers.paths import CLAMP

__all__ = ["PAPER"]

PAPER: Final = paper_of(CLAMP, CLAIMS, {}, SWEEPS, QUANTITIES, NAMING)
