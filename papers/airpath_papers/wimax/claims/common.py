"""What the checks of the claims share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from airpath.reproduction.claims import Claims
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.data import NAMES, POLICIES

__all__ = ["CLAIMS", "by_policy", "caption", "gain"]

CLAIMS: Final = Claims(WIMAX)


def caption(session: Session, item: str) -> str:
    """Return how many of the paper's claims about an item hold, of those that were checked."""
    here = session.paper.claims_of(item)
    checked = [each.check(session) for each in here if session.complete(each.cells)]
    found = [each.holds for each in checked if each.of_paper]
    if not found:
        return ""
    return f"Of the paper's {len(found)} statements about it {sum(found)} hold."


def gain(ours: float, theirs: float) -> float:
    """Return by how much of `theirs` the first is larger."""
    return ours / theirs - 1


def by_policy(found: Mapping[str, float], spec: str, unit: str = "") -> str:
    """Return a number of each policy as one text."""
    shown = (f"{NAMES[policy]} {format(found[policy], spec)}" for policy in POLICIES)
    return f"{', '.join(shown)}{f' {unit}' if unit else ''}"
