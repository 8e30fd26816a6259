"""Yousefi'zadeh, Habibi and Furmanski 2008: VCP and TCP/REM over MIMO fading links.

README.md lists what is modelled, what is left out, and every parameter that the paper leaves open
with the value chosen; paper.toml has the modes and the items, sweeps.toml the points, claims.toml
what the text says.
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
