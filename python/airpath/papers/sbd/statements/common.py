"""What the checks of the statements share."""

from __future__ import annotations

from typing import Final

from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import Value
from airpath.papers.sbd.clouds import strengths
from airpath.papers.sbd.data import Aqm, DropTail, Red, Sbd, published_table
from airpath.papers.sbd.measures import compared
from airpath.papers.sbd.scenarios import Case, Use

__all__ = [
    "CHECKED",
    "FLAT",
    "SWEPT",
    "T_R_MS",
    "is_less",
    "proposals",
    "red_proposed",
    "sbd_proposed",
    "sweep",
]

SWEPT: Final = (384, 128)
"""The bearers of Figs. 6, 8, 10 and 12."""

FLAT: Final = 0.95
"""Share of the largest goodput that counts as flat, or as near the optimum."""

CHECKED: Final = Use(replications=100)
"""The same number of runs in every mode, so that the statements are checked on the same numbers."""

T_R_MS: Final = strengths("sbd", 4)
"""What T_r is swept over, ms."""


def sbd_proposed(bearer: int) -> Sbd:
    """Return SBD's setting of Table 3."""
    aqm = published_table(3)[bearer].aqm
    assert isinstance(aqm, Sbd)
    return aqm


def red_proposed(bearer: int) -> Red:
    """Return RED's setting of Table 5."""
    aqm = published_table(5)[bearer].aqm
    assert isinstance(aqm, Red)
    return aqm


def proposals(bearer: int) -> dict[str, Aqm]:
    """Return drop-tail and the proposed settings, by name."""
    return {"drop-tail": DropTail(), "SBD": sbd_proposed(bearer), "RED": red_proposed(bearer)}


def sweep(bearer: int, min_th: int) -> list[Case]:
    """Return SBD with one flow over `T_R_MS`."""
    return [Case(bearer, 1, Sbd(int(t_r), min_th), use=CHECKED) for t_r in T_R_MS]


def is_less(session: Session, case: Case, other: Case, value: Value) -> bool:
    """Whether the interval of the differences, run by run, is below 0."""
    difference = compared(session.values(case, value), session.values(other, value), session)
    return difference is not None and difference.high < 0
