"""What the checks of the claims share."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Final

from airpath.reproduction.claims import Claims
from airpath.reproduction.session import Session
from airpath_papers.paths import VCP
from airpath_papers.vcp.measures import delivered_totals
from airpath_papers.vcp.scenarios import Case

__all__ = ["CLAIMS", "caption", "delivered_means", "lead"]

CLAIMS: Final = Claims(VCP)


def caption(session: Session, item: str) -> str:
    """Return how many claims of an item hold, of those whose cells were simulated."""
    here = session.paper.claims_of(item)
    found = [each.check(session).holds for each in here if session.complete(each.cells)]
    return f"{sum(found)} of {len(found)} statements hold." if found else ""


def delivered_means(session: Session, cases: Sequence[Case]) -> list[float]:
    """Return the mean number of delivered packets of each cell."""
    return [fmean(delivered_totals(session, case)) for case in cases]


def lead(ours: float, theirs: float) -> float:
    """Return by how much of `theirs` the first is larger."""
    return ours / theirs - 1
