"""What the checks of the statements share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from airpath.papers.kit.along import OutsideSweepError
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
    """Return what makes a function the check of a statement, as `SAYS.check` does.

    A statement about a delay that the sweep does not reach, as in short runs, does not hold.
    """

    def made(function: Check) -> Check:
        def reached(session: Session, said: Said, found: Any) -> Finding:
            try:
                return function(session, said, found)
            except OutsideSweepError as error:
                return Finding(False, [f"not evaluated: {error}"], {})

        CHECKS[key] = Asked(function, cells)
        SAYS.check(key, cells)(reached)
        return function

    return made
