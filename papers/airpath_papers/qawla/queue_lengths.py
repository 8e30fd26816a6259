"""The queue length over time of qawla's bottleneck, and its throughput (§5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airpath.reproduction.base import Cell
from airpath.reproduction.quantities import bottleneck
from airpath.reproduction.session import Session

__all__ = [
    "Distribution",
    "ip_throughput_mbps",
    "queue_distribution",
    "queue_pmf",
    "queue_probability",
]

Replication = Mapping[str, Any]
"""The statistics of one run."""


def ip_throughput_mbps(replication: Replication) -> float:
    """IP packets that reach the receivers, duplicates included, all flows together, Mbit/s."""
    return float(sum(flow["ip_throughput_bps"] for flow in replication["flows"])) / 1e6


def queue_pmf(replication: Replication) -> Sequence[float]:
    """u_k, k = 0, 1, ...: fraction of time with k packets waiting at the bottleneck."""
    found: Sequence[float] = bottleneck(replication)["pmf"]
    return found


def queue_probability(centre: int, reach: int = 0) -> Callable[[Replication], float]:
    """Return what measures the fraction of time with about `centre` packets waiting.

    Parameters
    ----------
    centre : int
        Packets, from 0.
    reach : int
        Packets to either side that count as well, from 0. Default 0.
    """
    low, high = max(centre - reach, 0), centre + reach
    return lambda replication: float(sum(queue_pmf(replication)[low : high + 1]))


@dataclass(frozen=True)
class Distribution:
    """u_k with its confidence interval: one entry for k = 0, 1, ... in each list."""

    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    replications: int

    @property
    def average(self) -> float:
        """The mean of k."""
        return sum(k * share for k, share in enumerate(self.mean))

    @property
    def mode(self) -> int:
        """The most likely k; of several the smallest."""
        return max(range(len(self.mean)), key=self.mean.__getitem__)


def queue_distribution(session: Session, cell: Cell) -> Distribution | None:
    """Return the distribution of the queue length of a cell; None when it was not simulated."""
    lengths = session.values(cell, lambda replication: len(queue_pmf(replication)))
    if not lengths:
        return None
    estimates = [session.estimate(cell, queue_probability(k)) for k in range(int(max(lengths)))]
    known = [estimate for estimate in estimates if estimate is not None]
    return Distribution(
        [estimate.mean for estimate in known],
        [estimate.low for estimate in known],
        [estimate.high for estimate in known],
        len(lengths),
    )
