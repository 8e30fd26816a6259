"""Counts of the contents of a ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

__all__ = ["Build", "Stored", "counted_rows"]


@dataclass(frozen=True, order=True)
class Build:
    """Build of Airpath that ran replications.

    Parameters
    ----------
    version, commit : str
        Version and commit.
    """

    version: str
    commit: str

    def __str__(self) -> str:
        return f"airpath {self.version} ({self.commit})"


@dataclass(frozen=True)
class Stored:
    """Counts of the finished replications of a ledger.

    Parameters
    ----------
    replications : mapping of (str, int) to int
        Number of replications, by digest of the job and master seed.
    prefixes : mapping of (str, int) to int
        Length of the longest sequence of finished replications 0, 1, 2, … without a gap.
    builds : mapping of Build to int
        Number of replications of each version.
    cpu_s : float
        Processor time of the replications, s.
    """

    replications: Mapping[tuple[str, int], int]
    prefixes: Mapping[tuple[str, int], int]
    builds: Mapping[Build, int]
    cpu_s: float


def counted_rows(rows: Iterable[Sequence[Any]], own: Build | None) -> Stored:
    """Count the rows of `runs`.

    Parameters
    ----------
    rows : iterable of sequences
        Rows with digest, seed, replication, version, commit and processor time in ns as first
        columns.
    own : Build or None
        Build whose replications count as finished; None: all builds.
    """
    numbers: dict[tuple[str, int], set[int]] = {}
    builds: dict[tuple[str, str], int] = {}
    cpu_ns = 0
    for digest, seed, replication, version, commit, spent_ns, *_ in rows:
        build = (version, commit)
        builds[build] = builds.get(build, 0) + 1
        if own is None or build == (own.version, own.commit):
            numbers.setdefault((digest, int(seed)), set()).add(replication)
            cpu_ns += spent_ns
    return Stored(
        {key: len(found) for key, found in numbers.items()},
        {key: _prefix(found) for key, found in numbers.items()},
        {Build(*build): made for build, made in sorted(builds.items())},
        cpu_ns / 1e9,
    )


def _prefix(numbers: set[int]) -> int:
    return next(number for number in count() if number not in numbers)
