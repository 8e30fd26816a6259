"""What the checks of a paper's statements share: means that are there, and how they are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from airpath.papers.kit.base import Cell, Statement, StatementSpec
from airpath.papers.kit.compare import spread
from airpath.papers.kit.session import Estimate, Session

__all__ = ["Value", "interval", "known", "listed", "means", "spec", "told"]

Value = Callable[[Mapping[str, Any]], float]
"""Takes a number out of a replication."""


def known(session: Session, cell: Cell, value: Value) -> Estimate:
    """Return the mean of a number over the runs of a cell.

    Raises
    ------
    ValueError
        If the cell was not simulated: a statement names every cell that its check asks for.
    """
    estimate = session.estimate(cell, value)
    if estimate is None:
        raise ValueError("a statement is checked only when all its cells were simulated")
    return estimate


def means(session: Session, cells: Sequence[Cell], value: Value) -> list[float]:
    """Return the mean of a number in each of some cells."""
    return [known(session, cell, value).mean for cell in cells]


def spec(key: str, cells: Sequence[Cell], check: Callable[[Session], Statement]) -> StatementSpec:
    """Return a statement that needs `cells`, each of them once."""
    return StatementSpec(key, list(dict.fromkeys(cells)), check)


def interval(estimate: Estimate, decimals: int = 4) -> str:
    """Return a mean with its ±, for people."""
    return spread(estimate.mean, estimate.low, estimate.high, decimals)


def told(estimate: Estimate) -> dict[str, float | None]:
    """Return a mean with the ends of its interval, for programs; None where there is none."""
    one = estimate.replications < 2
    return {
        "mean": estimate.mean,
        "low": None if one else estimate.low,
        "high": None if one else estimate.high,
    }


def listed(entries: Sequence[object]) -> str:
    """Return entries as people list them: ``3, 4 and 13``."""
    *most, last = map(str, entries)
    return f"{', '.join(most)} and {last}" if most else last
