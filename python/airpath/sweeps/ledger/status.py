"""What is in a ledger, counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

__all__ = ["Build", "Stored", "counted_rows"]


@dataclass(frozen=True, order=True)
class Build:
    """What made replications.

    Parameters
    ----------
    version, commit : str
        Of airpath.
    """

    version: str
    commit: str

    def __str__(self) -> str:
        return f"airpath {self.version} ({self.commit})"


@dataclass(frozen=True)
class Stored:
    """The finished replications of a ledger, counted.

    Parameters
    ----------
    replications : mapping of (str, int) to int
        How many there are, by the digest of the job and the master seed.
    prefixes : mapping of (str, int) to int
        How many of these there are from 0 on without a gap.
    builds : mapping of Build to int
        How many each version made.
    cpu_s : float
        Processor time that they took, s.
    """

    replications: Mapping[tuple[str, int], int]
    prefixes: Mapping[tuple[str, int], int]
    builds: Mapping[Build, int]
    cpu_s: float


def counted_rows(rows: Iterable[Sequence[Any]], own: Build | None) -> Stored:
    """Count the rows of `runs`, each beginning with digest, seed, replication, version, commit.

    Parameters
    ----------
    rows : iterable of sequences
        Each with the processor time, ns, behind.
    own : Build or None
        What alone counts as finished; None when every version does.
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
