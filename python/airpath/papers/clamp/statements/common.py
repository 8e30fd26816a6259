"""What the checks of the statements share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import Check, Finding, Said, Statements

__all__ = ["CHECKS", "SAYS", "Asked", "check"]

SAYS: Final = Statements("clamp")


class Asked(NamedTuple):
    """A check of a statement, and what gives its cells."""

    check: Callable[[Session, Said, Any], Finding]
    cells: Callable[[Said], Any]


CHECKS: Final[dict[str, Asked]] = {}
"""The checks by the key of their statement, for the item `sensitivity`."""


def check(key: str, cells: Callable[[Said], Any]) -> Callable[[Check], Check]:
    """Return what makes a function the check of a statement, as `SAYS.check` does."""

    def made(function: Check) -> Check:
        CHECKS[key] = Asked(function, cells)
        return SAYS.check(key, cells)(function)

    return made
