"""Removes from a ledger what its plan does not need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airpath.sweep.ledger.ledger import Ledger

__all__ = ["Pruned", "prune"]


@dataclass(frozen=True)
class Pruned:
    """What was removed, or would be.

    Parameters
    ----------
    other_versions, not_planned, beyond_most : int
        Replications: of versions that are not accepted; of jobs or seeds that the plan does not
        have; with numbers from the most on that a point may have.
    failures : int
        Failed replications.
    kept : int
        Replications that stay.
    """

    other_versions: int
    not_planned: int
    beyond_most: int
    failures: int
    kept: int

    @property
    def replications(self) -> int:
        """How many replications, for whatever reason."""
        return self.other_versions + self.not_planned + self.beyond_most


def prune(path: Path, *, dry_run: bool = False, accept_version: bool = False) -> Pruned:
    """Remove the replications that the plan does not need, and failures, so that they run again.

    Without a plan, as in the ledger of `reproduce`, only what other versions made is removed.

    Parameters
    ----------
    path : Path
        The ledger.
    dry_run : bool
        Remove nothing. Default False.
    accept_version : bool
        Keep what other versions made. Default False.

    Raises
    ------
    BadValueError
        If it is no ledger, damaged, cannot be written, or a coordinator writes it now.
    """
    Ledger.read(path).close()  # One that is missing is not made.
    if dry_run:
        with Ledger.read(path) as ledger:
            return _counted(dict(_needless(ledger, accept_version)), ledger)
    with Ledger.open(path, accept_version=True) as ledger:
        found = dict(_needless(ledger, accept_version))
        answer = _counted(found, ledger)
        plan = ledger.plan()
        digests = None if plan is None else {point.digest for point in plan.points}
        ledger.remove([place for place, why in found.items() if why], digests)
        return answer


def _needless(ledger: Ledger, accept_version: bool) -> Iterator[tuple[int, str]]:
    """Give the place of each replication and why it is not needed; "" when it is."""
    plan = ledger.plan()
    most = 0 if plan is None else plan.rule.most
    keys = set() if plan is None else {(p.digest, str(plan.seed_of(p))) for p in plan.points}
    for digest, seed, replication, build, place in ledger.places():
        why = ""
        if not accept_version and build != ledger.own:
            why = "other_versions"
        elif plan is not None and (digest, seed) not in keys:
            why = "not_planned"
        elif plan is not None and replication >= most:
            why = "beyond_most"
        yield place, why


def _counted(found: Mapping[int, str], ledger: Ledger) -> Pruned:
    counts: Counter[Any] = Counter(found.values())
    return Pruned(
        other_versions=counts["other_versions"],
        not_planned=counts["not_planned"],
        beyond_most=counts["beyond_most"],
        failures=len(ledger.failures()),
        kept=counts[""],
    )
