"""What the checks of the claims share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from airpath.reproduction.claims import Check, Claims, ClaimSpec, Finding
from airpath.reproduction.session import Session
from airpath_papers.clamp.tradeoff import OutsideSweepError
from airpath_papers.paths import CLAMP

__all__ = ["CHECKS", "CLAIMS", "Asked", "check"]

CLAIMS: Final = Claims(CLAMP)


class Asked(NamedTuple):
    """A check of a claim, and what gives its cells."""

    check: Callable[[Session, ClaimSpec, Any], Finding]
    cells: Callable[[ClaimSpec], Any]


CHECKS: Final[dict[str, Asked]] = {}
"""The checks by the key of their claim, for the item `sensitivity`."""


def check(key: str, cells: Callable[[ClaimSpec], Any]) -> Callable[[Check], Check]:
    """Return what makes a function the check of a claim, as `CLAIMS.check` does.

    A claim about a delay that the sweep does not reach, as in short runs, does not hold.
    """

    def made(function: Check) -> Check:
        def reached(session: Session, spec: ClaimSpec, found: Any) -> Finding:
            try:
                return function(session, spec, found)
            except OutsideSweepError as error:
                return Finding(False, [f"not evaluated: {error}"], {})

        CHECKS[key] = Asked(function, cells)
        CLAIMS.check(key, cells)(reached)
        return function

    return made
