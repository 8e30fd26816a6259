"""What the figures and claims read off a simulation of the cell (clamp-2008 §5.4 to §5.7).

Flows are named by their delays, ms; of a replication they stand in the order of `FLOWS_MS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from airpath import _airpath

__all__ = [
    "DELAYS",
    "FAIR",
    "FLOWS_MS",
    "QUEUES",
    "Replication",
    "control_lost",
    "download_s",
    "empty_share",
    "fairness",
    "margin",
    "mean_rtt_s",
    "own_delay_s",
    "queue_mbps",
    "queueing_delay_s",
    "rate_mbps",
    "rtt_spread_s",
    "sojourn_time_s",
    "timeouts_per_s",
    "total_mbps",
    "waiting_bytes",
]

Replication = Mapping[str, Any]

FLOWS_MS: Final = (30, 130, 10, 180)
"""Delays of the four flows, ms (Table 2)."""

QUEUES: Final = {"30": (30,), "130": (130,), "10+180": (10, 180)}
"""The queues, by the flows in them (§5.4)."""

FAIR: Final = (1 / 3, 1 / 3, 1 / 6, 1 / 6)
"""What a scheduler that is fair to queues leaves each flow, as shares."""

MBYTE_BITS: Final = 8e6


def queueing_delay_s(replication: Replication) -> float:
    """Mean time from arrival to the end of the slot that completes a packet, over the queues, s."""
    delays = [queue["measured"]["mean_delay_s"] for queue in replication["queues"]]
    return float(sum(delays) / len(delays))


def sojourn_time_s(replication: Replication) -> float:
    """Mean time from arrival to the first slot that takes part of a packet, over the queues, s."""
    times = [queue["mean_sojourn_s"] for queue in replication["queues"]]
    return float(sum(times) / len(times))


DELAYS: Final[Mapping[str, Callable[[Replication], float]]] = {
    "end": queueing_delay_s,
    "wait": sojourn_time_s,
}
"""Definitions of the queueing delay: to the end of service (README.md), or to its start."""


def own_delay_s(queue: str) -> Callable[[Replication], float]:
    """Return what measures the mean queueing delay of one queue, to the end of service, s."""
    place = list(QUEUES).index(queue)
    return lambda run: float(run["queues"][place]["measured"]["mean_delay_s"])


def waiting_bytes(replication: Replication) -> float:
    """Mean backlog, bytes, averaged over the queues."""
    found = [queue["mean_bytes"] for queue in replication["queues"]]
    return float(sum(found) / len(found))


def rtt_spread_s(flow_ms: int) -> Callable[[Replication], float]:
    """Return what measures the 95th percentile minus the median of a flow's RTT, s.

    ACKs take a constant time, so the one-way delay of the data has the same spread.
    """
    place = FLOWS_MS.index(flow_ms)

    def spread(replication: Replication) -> float:
        flow = replication["flows"][place]
        return float(flow["p95_delay_s"] - flow["p50_delay_s"])

    return spread


def mean_rtt_s(flow_ms: int) -> Callable[[Replication], float]:
    """Return what measures the mean RTT of a flow, s."""
    place = FLOWS_MS.index(flow_ms)
    return lambda run: float(run["flows"][place]["mean_rtt_s"])


def rate_mbps(flow_ms: int) -> Callable[[Replication], float]:
    """Return what measures the IP throughput of a flow, Mbit/s."""
    place = FLOWS_MS.index(flow_ms)
    return lambda replication: float(replication["flows"][place]["ip_throughput_bps"]) / 1e6


def queue_mbps(queue: str) -> Callable[[Replication], float]:
    """Return what measures the IP throughput of a queue's flows, Mbit/s."""
    flows = [rate_mbps(flow) for flow in QUEUES[queue]]
    return lambda replication: sum(rate(replication) for rate in flows)


def total_mbps(replication: Replication) -> float:
    """IP throughput of all flows, Mbit/s."""
    return float(sum(flow["ip_throughput_bps"] for flow in replication["flows"])) / 1e6


def fairness(replication: Replication) -> float:
    """Jain's index of the flows' rates, each over its fair share."""
    rates = (flow["ip_throughput_bps"] for flow in replication["flows"])
    found: float = _airpath.jain_index([r / share for r, share in zip(rates, FAIR, strict=True)])
    return found


def timeouts_per_s(flow_ms: int) -> Callable[[Replication], float]:
    """Return what measures how often a flow's retransmission timer expires, 1/s."""
    place = FLOWS_MS.index(flow_ms)
    return lambda run: float(run["flows"][place]["timeouts"]) / float(run["measured_s"])


def control_lost(flow_ms: int) -> Callable[[Replication], float]:
    """Return what measures the share of time in which CWND is below AWND."""
    place = FLOWS_MS.index(flow_ms)
    return lambda run: float(run["flows"][place]["cwnd_limited_share"])


def download_s(replication: Replication) -> float:
    """Mean over the flows of the time that 1 Mbyte takes at the flow's mean rate, s (§5.6).

    Infinite where a flow delivers nothing.
    """
    rates = [flow["ip_throughput_bps"] for flow in replication["flows"]]
    times = [MBYTE_BITS / rate if rate else math.inf for rate in rates]
    return float(sum(times) / len(times))


def empty_share(queue: str) -> Callable[[Replication], float]:
    """Return what measures the share of time in which nothing waits or is held for a user."""
    place = list(QUEUES).index(queue)
    return lambda run: float(run["queues"][place]["measured"]["empty_share"])


def margin(replication: Replication) -> float:
    """Return the margin m of Eq. 18, averaged over the slots that were given away."""
    return float(replication["users"][0]["margin"])
