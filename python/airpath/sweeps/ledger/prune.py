"""Removes the rows of a ledger that its plan does not need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from airpath.sweeps.ledger.ledger import Ledger
from airpath.sweeps.series import DIRECTORY, is_series, series_file

__all__ = ["Pruned", "prune"]


@dataclass(frozen=True)
class Pruned:
    """Counts of removed rows and files. After a dry run: counts of rows and files to remove.

    Parameters
    ----------
    other_versions : int
        Replications of versions that are not accepted.
    not_planned : int
        Replications of jobs or seeds that are not in the plan.
    beyond_most : int
        Replications whose index exceeds the largest number of replications of their point.
    failures : int
        Failed replications.
    kept : int
        Replications that are not removed.
    series : int
        Files of time series without a kept replication.
    """

    other_versions: int
    not_planned: int
    beyond_most: int
    failures: int
    kept: int
    series: int = 0

    @property
    def replications(self) -> int:
        """Number of removed replications, for all reasons."""
        return self.other_versions + self.not_planned + self.beyond_most


def prune(path: Path, *, dry_run: bool = False, accept_version: bool = False) -> Pruned:
    """Remove replications that the plan does not need with their series, and all failures.

    The next call of the sweep runs failed replications again. If the ledger has no plan, only
    replications of other versions are removed.

    Parameters
    ----------
    path : Path
        The ledger.
    dry_run : bool
        True to count the rows without removing them. Default False.
    accept_version : bool
        True to keep replications of other versions. Default False.

    Raises
    ------
    BadValueError
        If the file is no ledger, is damaged, is not writable, or is in use by a coordinator.
    """
    Ledger.read(path).close()  # Fails if the ledger is missing; `open` would create it.
    if dry_run:
        with Ledger.read(path) as ledger:
            found = list(_needless(ledger, accept_version))
            return _counted(found, ledger, _series(path, found))
    with Ledger.open(path, accept_version=True) as ledger:
        found = list(_needless(ledger, accept_version))
        series = _series(path, found)
        answer = _counted(found, ledger, series)
        plan = ledger.plan()
        digests = None if plan is None else {point.digest for point in plan.points}
        ledger.remove([each.place for each in found if each.why], digests)
        for file in series:
            file.unlink(missing_ok=True)
        return answer


class _Found(NamedTuple):
    """A stored replication: rowid, reason for removal (empty: keep it), and file of its series."""

    place: int
    why: str
    series: str


def _series(path: Path, found: Iterable[_Found]) -> list[Path]:
    """Return the series files of the replications to remove."""
    kept = {each.series for each in found if not each.why}
    files = sorted((path.parent / DIRECTORY).glob("*.parquet"))
    return [file for file in files if is_series(file.name) and file.name not in kept]


def _needless(ledger: Ledger, accept_version: bool) -> Iterator[_Found]:
    plan = ledger.plan()
    rules = {} if plan is None else plan.rules()
    for digest, seed, replication, build, place in ledger.places():
        rule, why = rules.get((digest, int(seed))), ""
        if not accept_version and build != ledger.own:
            why = "other_versions"
        elif plan is not None and rule is None:
            why = "not_planned"
        elif rule is not None and replication >= rule.most:
            why = "beyond_most"
        yield _Found(place, why, series_file(Path(), digest, int(seed), replication).name)


def _counted(found: Iterable[_Found], ledger: Ledger, series: Sequence[Path]) -> Pruned:
    counts = Counter(each.why for each in found)
    return Pruned(
        other_versions=counts["other_versions"],
        not_planned=counts["not_planned"],
        beyond_most=counts["beyond_most"],
        failures=len(ledger.failures()),
        kept=counts[""],
        series=len(series),
    )
