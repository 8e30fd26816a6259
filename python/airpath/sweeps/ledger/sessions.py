"""Sessions of a ledger: the calls that ran replications, with elapsed time and machines."""

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
        Build of the coordinator.
    command : str
        The command line or call.
    replications : int
        Number of replications that the call ran.
    wall_s : float
        Elapsed time, s.
    machines : sequence of Machine
        Machines of the workers.
    """

    build: Build
    command: str
    replications: int
    wall_s: float
    machines: Sequence[Machine]

    @property
    def execution(self) -> Execution:
        """Execution time and machines; the processor time is stored with the replications."""
        return Execution(self.wall_s, None, self.machines)

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Session:
        """Return the session of a row."""
        _, version, commit, command, replications, wall_ns, machines, _ = row
        found = [Machine(**machine) for machine in json.loads(machines)]
        return cls(Build(version, commit), command, replications, wall_ns / 1e9, found)

    def to_row(self) -> tuple[Any, ...]:
        """Return the columns after the number, without the checksum."""
        machines = json.dumps([asdict(machine) for machine in self.machines], ensure_ascii=False)
        build = (self.build.version, self.build.commit)
        return (*build, self.command, self.replications, round(self.wall_s * 1e9), machines)
