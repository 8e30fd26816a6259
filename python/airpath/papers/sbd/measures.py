"""What is read off the simulations, under the paper's names and in its units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from airpath import _airpath
from airpath.papers.kit.engine import Series
from airpath.papers.kit.session import Estimate, Session
from airpath.papers.sbd.scenarios import Case

__all__ = [
    "both_timed_out",
    "compared",
    "completion_s",
    "delay",
    "delay_s",
    "goodput",
    "goodput_kbps",
    "jain_in_windows",
    "overflows",
    "rtt_s",
]


def goodput_kbps(replication: Mapping[str, Any]) -> float:
    """Payload bytes delivered in order, all flows together, over the run, kbit/s."""
    return float(sum(flow["goodput_bps"] for flow in replication["flows"])) / 1e3


def delay_s(replication: Mapping[str, Any]) -> float:
    """Mean time from the sending of a segment's copy to its arrival, over all that arrived, s."""
    return _over_packets(replication, "mean_delay_s")


def rtt_s(replication: Mapping[str, Any]) -> float:
    """Mean RTT sample, s, the flows weighted by their packets."""
    return _over_packets(replication, "mean_rtt_s")


def _over_packets(replication: Mapping[str, Any], quantity: str) -> float:
    flows = [flow for flow in replication["flows"] if flow[quantity] is not None]
    packets = sum(flow["delivered_packets"] for flow in flows)
    return float(sum(flow[quantity] * flow["delivered_packets"] for flow in flows) / packets)


def overflows(replication: Mapping[str, Any]) -> float:
    """SDUs that found the RLC buffer full."""
    return float(_bottleneck(replication)["drops"].get("overflow", 0))


def both_timed_out(replication: Mapping[str, Any]) -> float:
    """Return 1 when the retransmission timer of every flow has expired, else 0."""
    return float(all(flow["timeouts"] > 0 for flow in replication["flows"]))


def completion_s(replication: Mapping[str, Any]) -> float:
    """Mean time of the downloads from their start to the last acknowledgement, s.

    A download that is not complete counts until the end of the run.
    """
    end = replication["simulated_s"]
    times = [(flow["completed_at_s"] or end) - flow["start_s"] for flow in replication["flows"]]
    return float(sum(times) / len(times))


def _bottleneck(replication: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(
        queue for queue in replication["queues"] if queue["name"] == "bottleneck"
    )
    return found


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


def goodput(session: Session, case: Case) -> Estimate | None:
    """Return the goodput of a case, kbit/s; None when it was not simulated."""
    return session.estimate(case, goodput_kbps)


def delay(session: Session, case: Case) -> Estimate | None:
    """Return the downlink delay of a case, s; None when it was not simulated."""
    return session.estimate(case, delay_s)


def compared(ours: Sequence[float], others: Sequence[float], session: Session) -> Estimate | None:
    """Return the mean difference of two cases, paired by run: equal runs share their channels.

    None for fewer than two pairs.
    """
    pairs = [a - b for a, b in zip(ours, others, strict=False)]
    return session.interval(pairs) if len(pairs) > 1 else None
