"""Execution time and machine of a run. They are not part of the provenance."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["Execution", "Machine", "Stopwatch", "this_machine"]

_PROCESSORS = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Machine:
    """A machine, without its name.

    Parameters
    ----------
    processor : str
        Model of the processors.
    cores : int
        Logical processors that the process may use.
    system : str
        Operating system with its release, and architecture.
    """

    processor: str
    cores: int
    system: str

    def __str__(self) -> str:
        cores = "1 core" if self.cores == 1 else f"{self.cores} cores"
        return f"{self.processor}, {cores}, {self.system}"


@dataclass(frozen=True)
class Execution:
    """Time and machines of a run.

    Parameters
    ----------
    wall_s : float
        Elapsed time, s.
    cpu_s : float or None
        Processor time of the replications, s; None if it was not measured.
    machines : sequence of Machine
        Distinct machines.
    """

    wall_s: float
    cpu_s: float | None
    machines: Sequence[Machine]

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Execution:
        """Return the object of a document of `to_dict`."""
        machines = tuple(Machine(**machine) for machine in document["machines"])
        return cls(document["wall_s"], document["cpu_s"], machines)

    def to_dict(self) -> dict[str, Any]:
        """Return the execution as a JSON object."""
        machines = [asdict(machine) for machine in self.machines]
        return {"wall_s": self.wall_s, "cpu_s": self.cpu_s, "machines": machines}

    @classmethod
    def total(cls, parts: Iterable[Execution]) -> Execution | None:
        """Return the sum of several consecutive executions; None if there are none."""
        found = list(parts)
        if not found:
            return None
        measured = [part.cpu_s for part in found if part.cpu_s is not None]
        machines = dict.fromkeys(machine for part in found for machine in part.machines)
        return cls(
            sum(part.wall_s for part in found), sum(measured) if measured else None, [*machines]
        )


class Stopwatch:
    """Measures the elapsed time since its construction."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def execution(self, cpu_s: float | None = None) -> Execution:
        """Return the execution on this machine up to now."""
        return Execution(time.perf_counter() - self._began, cpu_s, (this_machine(),))


@lru_cache(1)
def this_machine() -> Machine:
    """Return the machine of this process."""
    count = getattr(os, "sched_getaffinity", None)
    cores = len(count(0)) if count is not None else os.cpu_count() or 1
    system = f"{platform.system()} {platform.release()} ({platform.machine()})"
    return Machine(_processor(), cores, system)


def _processor() -> str:
    with suppress(OSError):
        for line in _PROCESSORS.read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return " ".join(value.split())
    return platform.processor() or platform.machine() or "unknown processor"
