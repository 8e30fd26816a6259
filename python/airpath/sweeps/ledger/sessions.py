"""Sessions of a ledger: each call that ran replications, how long it took and where."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from airpath.execution import Execution, Machine
from airpath.sweeps.ledger.status import Build

__all__ = ["Session"]


@dataclass(frozen=True)
class Session:
    """A call of ``airpath sweep``, `airpath.sweep` or ``airpath reproduce`` that ran replications.

    Parameters
    ----------
    build : Build
        Of the coordinator.
    command : str
        The command line or call.
    replications : int
        How many it has run.
    wall_s : float
        Elapsed time, s.
    machines : sequence of Machine
        Those of its workers.
    """

    build: Build
    command: str
    replications: int
    wall_s: float
    machines: Sequence[Machine]

    @property
    def execution(self) -> Execution:
        """What it took; the processor time is that of the replications."""
        return Execution(self.wall_s, None, self.machines)

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Session:
        """Return the session of a row."""
        _, version, commit, command, replications, wall_ns, machines, _ = row
        found = [Machine(**machine) for machine in json.loads(machines)]
        return cls(Build(version, commit), command, replications, wall_ns / 1e9, found)

    def to_row(self) -> tuple[Any, ...]:
        """Return the columns behind its number, without the checksum."""
        machines = json.dumps([asdict(machine) for machine in self.machines], ensure_ascii=False)
        build = (self.build.version, self.build.commit)
        return (*build, self.command, self.replications, round(self.wall_s * 1e9), machines)
