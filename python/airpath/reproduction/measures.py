"""What papers read off a simulation: a number of a replication, and what is computed of several.

A measure takes a replication's statistics as the engine reports them. The unit is in its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from airpath import _airpath
from airpath.reproduction.base import Cell
from airpath.reproduction.engine import Series
from airpath.reproduction.session import Session

__all__ = [
    "Distribution",
    "all_timed_out",
    "bottleneck",
    "completion_s",
    "delay_s",
    "goodput_kbps",
    "ip_throughput_mbps",
    "jain_by_run",
    "jain_in_windows",
    "overflows",
    "queue_distribution",
    "queue_pmf",
    "queue_probability",
    "rtt_s",
]

Replication = Mapping[str, Any]
"""The statistics of one run."""


# --- flows -------------------------------------------------------------------------------------


def goodput_kbps(replication: Replication) -> float:
    """Payload bytes delivered in order, all flows together, over the run, kbit/s."""
    return float(sum(flow["goodput_bps"] for flow in replication["flows"])) / 1e3


def ip_throughput_mbps(replication: Replication) -> float:
    """IP packets that reach the receivers, duplicates included, all flows together, Mbit/s."""
    return float(sum(flow["ip_throughput_bps"] for flow in replication["flows"])) / 1e6


def delay_s(replication: Replication) -> float:
    """Mean time from the sending of a segment's copy to its arrival, over all that arrived, s."""
    return _over_packets(replication, "mean_delay_s")


def rtt_s(replication: Replication) -> float:
    """Mean RTT sample, s, the flows weighted by their packets."""
    return _over_packets(replication, "mean_rtt_s")


def _over_packets(replication: Replication, quantity: str) -> float:
    flows = [flow for flow in replication["flows"] if flow[quantity] is not None]
    packets = sum(flow["delivered_packets"] for flow in flows)
    return float(sum(flow[quantity] * flow["delivered_packets"] for flow in flows) / packets)


def all_timed_out(replication: Replication) -> float:
    """Return 1 when the retransmission timer of every flow has expired, else 0."""
    return float(all(flow["timeouts"] > 0 for flow in replication["flows"]))


def completion_s(replication: Replication) -> float:
    """Mean time of the downloads from their start to the last acknowledgement, s.

    A download that is not complete counts until the end of the run.
    """
    end = replication["simulated_s"]
    times = [(flow["completed_at_s"] or end) - flow["start_s"] for flow in replication["flows"]]
    return float(sum(times) / len(times))


# --- the bottleneck's queue --------------------------------------------------------------------


def bottleneck(replication: Replication) -> Mapping[str, Any]:
    """Return what is known of the bottleneck's queue."""
    found: Mapping[str, Any] = next(
        queue for queue in replication["queues"] if queue["name"] == "bottleneck"
    )
    return found


def overflows(replication: Replication) -> float:
    """Packets that found the bottleneck's buffer full."""
    return float(bottleneck(replication)["drops"].get("overflow", 0))


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


# --- sharing -----------------------------------------------------------------------------------


def jain_in_windows(
    delivered: Series, flows: int, window_s: float, times_s: tuple[float, float]
) -> float:
    """Return Jain's index of what the flows got in windows of some seconds, averaged.

    Parameters
    ----------
    delivered : Series
        Payload delivered, bytes, by flow.
    flows : int
        How many flows.
    window_s : float
        Length of a window, s. Windows in which nothing arrived are left out.
    times_s : tuple of float
        From when to when, s.
    """
    edges = np.arange(*times_s, window_s)
    edges = np.append(edges, edges[-1] + window_s)
    shares = [
        np.histogram(times, bins=edges, weights=values)[0]
        for times, values in map(delivered.of, range(flows))
    ]
    indices = [_airpath.jain_index(list(each)) for each in zip(*shares, strict=True) if sum(each)]
    return sum(indices) / len(indices)


def jain_by_run(
    session: Session, cell: Cell, flows: int, window_s: float, times_s: tuple[float, float]
) -> list[float]:
    """Return `jain_in_windows` of each run of a cell that records ``delivered``."""

    def of_run(runs: Session, run: int) -> float:
        return jain_in_windows(runs.series(cell, "delivered", run), flows, window_s, times_s)

    return session.per_run(cell, f"Jain's index, {flows}, {window_s}, {times_s}", of_run)
