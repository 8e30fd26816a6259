"""What the checks of the statements share."""

from __future__ import annotations

from typing import Final

from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import Statements

__all__ = ["SAYS", "caption", "lead"]

SAYS: Final = Statements("vcp")


def caption(session: Session, item: str) -> str:
    """Return what figures say of the statements of their item, those whose cells were simulated."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for spec in SAYS.specs():
        if spec.key in SAYS.of(item) and session.complete(spec.cells):
            found[spec.check(session).holds].append(spec.key)
    said = {True: "Statements that hold here", False: "Statements that do not"}
    return "; ".join(f"{said[holds]}: {', '.join(keys)}" for holds, keys in found.items() if keys)


def lead(ours: float, theirs: float) -> float:
    """Return by how much of `theirs` the first is larger."""
    return ours / theirs - 1
