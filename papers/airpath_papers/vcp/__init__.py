"""Yousefi'zadeh, Habibi and Furmanski 2008: VCP and TCP/REM over MIMO fading links.

README.md lists the modelled parts, the omitted parts, and every parameter that the paper does not
specify, with the chosen value. paper.toml has the modes and the items, sweeps.toml the points,
claims.toml the claims of the text.
"""

from __future__ import annotations

from typing import Final

from airpath.reproduction.manifest import paper_of
from airpath_papers.paths import VCP
from airpath_papers.vcp.claims import CLAIMS, SWEEPS
from airpath_papers.vcp.quantities import NAMING, QUANTITIES

__all__ = ["PAPER"]

PAPER: Final = paper_of(VCP, CLAIMS, {}, SWEEPS, QUANTITIES, NAMING)
"""The paper."""
