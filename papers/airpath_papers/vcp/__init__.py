"""Yousefi'zadeh, Habibi and Furmanski 2008: VCP and TCP/REM over MIMO fading links.

README.md lists what is modelled, what is left out, and every parameter that the paper leaves open
with the value chosen; paper.toml has the modes and the items, sweeps.toml the points, claims.toml
what the text says.
"""

from __future__ import annotations

from typing import Final

from airpath.reproduction.manifest import paper_of
from airpath_papers.paths import VCP
from airpath_papers.vcp import life_spans, text_claims
from airpath_papers.vcp.claims import CLAIMS, SWEEPS
from airpath_papers.vcp.delivered import DELIVERIES
from airpath_papers.vcp.errors import ERRORS

__all__ = ["PAPER"]

PAPER: Final = paper_of(
    VCP,
    CLAIMS,
    {**ERRORS, **DELIVERIES, "claims": text_claims.ITEM, "life-spans": life_spans.ITEM},
    SWEEPS,
)
"""The paper."""
