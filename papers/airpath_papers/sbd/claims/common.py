"""What the checks of the claims share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from airpath.reproduction.claims import Claims
from airpath_papers.paths import SBD
from airpath_papers.sbd.data import DropTail, Sbd, published_table
from airpath_papers.sbd.scenarios import Case, Use

__all__ = [
    "CHECKED",
    "CLAIMS",
    "SWEPT",
    "Cases",
    "proposals",
    "proposed",
    "rises",
    "share",
    "sweep",
]

CLAIMS: Final = Claims(SBD)

SWEPT: Final = (384, 128)
"""The bearers of Figs. 6, 8, 10 and 12."""

CHECKED: Final = Use(replications=100)
"""The same number of runs in every mode, so that the claims are checked on the same numbers."""

Cases = Mapping[str, Case]
"""By what manages the buffer."""


def proposed(table: int, bearer: int) -> Any:
    """Return the setting of a table: SBD's of Table 2 or 3, RED's of Table 4 or 5.

    Those of Tables 3 and 5 are the proposals.
    """
    return published_table(table)[bearer].aqm


def proposals(bearer: int, flows: int, use: Use | None = None) -> dict[str, Case]:
    """Return drop-tail and the proposed settings, by name."""
    aqms = {"drop-tail": DropTail(), "SBD": proposed(3, bearer), "RED": proposed(5, bearer)}
    return {name: Case(bearer, flows, aqm, use=use or Use()) for name, aqm in aqms.items()}


def sweep(bearer: int, t_r_ms: Sequence[float], min_th: int, alpha: int = 5) -> list[Case]:
    """Return SBD with one flow over T_r, ms."""
    return [Case(bearer, 1, Sbd(int(t_r), min_th, alpha), use=CHECKED) for t_r in t_r_ms]


def rises(values: Sequence[float]) -> bool:
    """Whether each is above the one before."""
    return all(after > before for before, after in pairwise(values))


def share(found: Sequence[bool]) -> float:
    """Return the share of true entries."""
    return sum(found) / len(found)
