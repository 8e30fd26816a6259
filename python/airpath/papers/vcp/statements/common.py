"""What the checks of the statements share."""

from __future__ import annotations

from typing import Final

from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import Statements

__all__ = ["SAYS", "caption", "lead"]

SAYS: Final = Statements("vcp")


def caption(session: Session, item: str) -> str:
    """Return how many statements of an item hold, of those whose cells were simulated."""
    here = [spec for spec in SAYS.specs() if spec.key in SAYS.of(item)]
    found = [spec.check(session).holds for spec in here if session.complete(spec.cells)]
    return f"{sum(found)} of {len(found)} statements hold." if found else ""


def lead(ours: float, theirs: float) -> float:
    """Return by how much of `theirs` the first is larger."""
    return ours / theirs - 1
