"""The only place where the papers touch the simulator and the analytic models."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from airpath.reproduction.base import Progress
    from airpath.sweeps.ledger import Build

__all__ = ["Compiled", "Engine", "Series", "Simulated", "Solved", "Wanted"]


class Wanted(NamedTuple):
    """Replications of a scenario, numbered from 0."""

    scenario: Any
    replications: int


@dataclass(frozen=True)
class Series:
    """What was recorded over time.

    Parameters
    ----------
    time_s, value : ndarray
        The values and their instants, s.
    ids : ndarray
        Which flow or queue each belongs to.
    """

    time_s: NDArray[np.float64]
    ids: NDArray[np.uint32]
    value: NDArray[np.float64]

    def of(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the instants and the values of one flow or queue."""
        chosen = self.ids == number
        return self.time_s[chosen], self.value[chosen]


def _nothing_recorded(name: str, replication: int) -> Series:
    raise LookupError(f"{name} of replication {replication} was not recorded")


@dataclass(frozen=True)
class Simulated:
    """The replications of one scenario: the statistics of each, as the engine reports them.

    Parameters
    ----------
    replications : sequence of mapping
        The finished ones.
    interrupted : bool
        Whether there should have been more.
    series : callable
        Gives a recorded series by its name and the number of a finished replication.
    """

    replications: Sequence[Mapping[str, Any]]
    interrupted: bool
    series: Callable[[str, int], Series] = _nothing_recorded

    def chosen(self, numbers: Sequence[int]) -> Simulated:
        """Return some of the replications, by their numbers, in this order."""
        return Simulated(
            [self.replications[number] for number in numbers],
            self.interrupted,
            lambda name, place: self.series(name, numbers[place]),
        )


@dataclass(frozen=True)
class Solved:
    """The analytic solution of one scenario.

    Parameters
    ----------
    domain : str
        Where it lies: ``R1``, ``B``, ``R2``, ... or ``empty``.
    throughput_bps : float
        Bits of IP packets that reach the receivers, bit/s.
    queue_packets : float
        Queue length, packets.
    alpha : float or None
        Weight of the upper regime at a boundary, in [0, 1]; None elsewhere.
    average_throughput_bps : float or None
        `throughput_bps` averaged over the swings of the flows' windows, bit/s.
    """

    domain: str
    throughput_bps: float
    queue_packets: float
    alpha: float | None
    average_throughput_bps: float | None = None


class Engine(Protocol):
    """What the papers need from below."""

    def simulate(
        self,
        wanted: Sequence[Wanted],
        *,
        seed: int,
        threads: int | None,
        progress: Progress | None,
    ) -> Iterable[Simulated]:
        """Give the finished replications of each scenario, in order; fewer after Ctrl-C."""
        ...

    def solve(self, scenario: Any) -> Solved:
        """Solve the analytic model that matches a scenario."""
        ...

    def describe(self, scenario: Any) -> Mapping[str, Any]:
        """Return the resolved scenario as plain values, for the provenance."""
        ...

    def build(self) -> Mapping[str, str]:
        """Return ``version`` and ``commit`` of what computes."""
        ...


class Compiled:
    """The real engine. Imports it when it is first used, so that listing papers stays quick.

    Parameters
    ----------
    folder : Path, optional
        Where finished replications are kept. Default: nothing is kept.
    accept_version : bool
        Use replications that other versions kept there. Default False.
    """

    def __init__(self, folder: Path | None = None, accept_version: bool = False) -> None:
        self._folder, self._accept_version = folder, accept_version
        self._others: Counter[Build] = Counter()

    def simulate(
        self,
        wanted: Sequence[Wanted],
        *,
        seed: int,
        threads: int | None,
        progress: Progress | None,
    ) -> Iterable[Simulated]:
        """Return the finished replications of each scenario, in order; fewer after Ctrl-C."""
        from airpath.reproduction.simulations import Simulations

        run = Simulations(wanted, seed, threads, progress)
        found = run.kept(self._folder, accept_version=self._accept_version)
        self._others.update(run.other_builds)
        return found

    def others_used(self) -> dict[str, Any]:
        """Return what to say of results by other versions: nothing when there are none."""
        if not self._others:
            return {}
        counts = sorted(self._others.items())
        return {"other_versions": [{**vars(build), "replications": n} for build, n in counts]}

    def solve(self, scenario: Any) -> Solved:
        """Solve the analytic model that matches a scenario."""
        from airpath import api
        from airpath.errors import ModelWarning
        from airpath.solutions import FixedPoint

        with warnings.catch_warnings():
            # The tables have the average beside the fixed point.
            warnings.simplefilter("ignore", ModelWarning)
            solution = api.solve(scenario, model="fixed-point")
        assert isinstance(solution, FixedPoint)
        return Solved(
            solution.domain,
            solution.throughput_bps,
            solution.queue_packets,
            solution.alpha,
            solution.average_throughput_bps,
        )

    def describe(self, scenario: Any) -> Mapping[str, Any]:
        """Return the resolved scenario as plain values, for the provenance."""
        text, _traces = scenario.resolve()
        resolved: Mapping[str, Any] = json.loads(text)
        return resolved

    def build(self) -> Mapping[str, str]:
        """Return ``version`` and ``commit`` of what computes."""
        from airpath import _airpath

        return {"version": _airpath.version(), "commit": _airpath.commit()}
