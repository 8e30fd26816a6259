"""What the checks of the statements share."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Final

from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import Statements
from airpath.papers.vcp.measures import delivered_totals
from airpath.papers.vcp.scenarios import Case

__all__ = ["SAYS", "caption", "delivered_means", "lead"]

SAYS: Final = Statements("vcp")


def caption(session: Session, item: str) -> str:
    """Return how many statements of an item hold, of those whose cells were simulated."""
    here = [spec for spec in SAYS.specs() if spec.key in SAYS.of(item)]
    found = [spec.check(session).holds for spec in here if session.complete(spec.cells)]
    return f"{sum(found)} of {len(found)} statements hold." if found else ""


def delivered_means(session: Session, cases: Sequence[Case]) -> list[float]:
    """Return the mean number of delivered packets of each cell."""
    return [fmean(delivered_totals(session, case)) for case in cases]


def lead(ours: float, theirs: float) -> float:
    """Return by how much of `theirs` the first is larger."""
    return ours / theirs - 1
