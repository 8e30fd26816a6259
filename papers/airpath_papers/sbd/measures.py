"""What the tables, figures and claims read off a simulation of the bearer (sbd-2006 §2, §5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from airpath import _airpath
from airpath.reproduction.engine import Series
from airpath.reproduction.quantities import bottleneck

__all__ = [
    "all_timed_out",
    "completion_s",
    "delay_s",
    "goodput_kbps",
    "jain_in_windows",
    "overflows",
    "rtt_s",
]

Replication = Mapping[str, Any]
"""The statistics of one run."""


def goodput_kbps(replication: Replication) -> float:
    """Payload bytes delivered in order, all flows together, over the run, kbit/s."""
    return float(sum(flow["goodput_bps"] for flow in replication["flows"])) / 1e3


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


def overflows(replication: Replication) -> float:
    """Packets that found the bottleneck's buffer full."""
    return float(bottleneck(replication)["drops"].get("overflow", 0))


def jain_in_windows(
    delivered: Series, flows: int, window_s: float, times_s: Sequence[float]
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
    times_s : sequence of float
        From when to when, s.
    """
    edges = np.arange(times_s[0], times_s[1], window_s)
    edges = np.append(edges, edges[-1] + window_s)
    shares = [delivered.sums(flow, edges) for flow in range(flows)]
    indices = [_airpath.jain_index(list(each)) for each in zip(*shares, strict=True) if sum(each)]
    return sum(indices) / len(indices)
