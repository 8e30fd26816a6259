"""What is read off the simulations and solutions, under the paper's names and in its units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airpath.papers.kit.base import Cell
from airpath.papers.kit.engine import Solved
from airpath.papers.kit.session import Estimate, Session

__all__ = [
    "DOMAIN_NAMES",
    "Pmf",
    "aggregate_throughput_mbps",
    "domain",
    "pmf",
    "probability_near",
    "queue_pmf",
    "throughput",
]

DOMAIN_NAMES = {"B1": "B", "empty": "R1"}
"""The paper has one boundary, and counts an empty queue (x* = 0) as R1."""


def aggregate_throughput_mbps(replication: Mapping[str, Any]) -> float:
    """T, Mbit/s: IP packets that reach the receivers, all flows together (README.md)."""
    return float(sum(flow["ip_throughput_bps"] for flow in replication["flows"])) / 1e6


def throughput(session: Session, cell: Cell) -> Estimate | None:
    """Return the simulated T of a cell, Mbit/s; None when it was not simulated."""
    return session.estimate(cell, aggregate_throughput_mbps)


def domain(solved: Solved) -> str:
    """Return where a solution lies, in the paper's names: R1, B or R2."""
    return DOMAIN_NAMES.get(solved.domain, solved.domain)


def queue_pmf(replication: Mapping[str, Any]) -> Sequence[float]:
    """u_k, k = 0, 1, ...: fraction of time with k packets waiting at the bottleneck."""
    found: Sequence[float] = next(
        queue["pmf"] for queue in replication["queues"] if queue["name"] == "bottleneck"
    )
    return found


def probability_near(replication: Mapping[str, Any], centre: int, reach: int) -> float:
    """Return the fraction of time with at most `reach` packets more or less than `centre`."""
    return float(sum(queue_pmf(replication)[max(centre - reach, 0) : centre + reach + 1]))


@dataclass(frozen=True)
class Pmf:
    """u_k with its confidence interval: one entry for k = 0, 1, ... in each list."""

    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    replications: int


def pmf(session: Session, cell: Cell) -> Pmf | None:
    """Return the queue-length distribution of a cell; None when it was not simulated."""
    found = session.values(cell, lambda replication: len(queue_pmf(replication)))
    if not found:
        return None
    estimates = [session.estimate(cell, _probability_of(k)) for k in range(int(max(found)))]
    known = [estimate for estimate in estimates if estimate is not None]
    return Pmf(
        [estimate.mean for estimate in known],
        [estimate.low for estimate in known],
        [estimate.high for estimate in known],
        len(found),
    )


def _probability_of(k: int) -> Callable[[Mapping[str, Any]], float]:
    def probability(replication: Mapping[str, Any]) -> float:
        found = queue_pmf(replication)
        return float(found[k]) if k < len(found) else 0.0

    return probability
