"""What the checks of the statements share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import Statements
from airpath.papers.wimax.data import NAMES, POLICIES

__all__ = ["SAYS", "by_policy", "caption", "gain"]

SAYS: Final = Statements("wimax")


def caption(session: Session, item: str) -> str:
    """Return how many of the paper's statements about an item hold, of those that were checked."""
    checked = [
        spec.check(session)
        for spec in SAYS.specs()
        if spec.key in SAYS.of(item) and session.complete(spec.cells)
    ]
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
