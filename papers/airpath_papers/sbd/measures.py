"""Measures of a simulation of the bearer, for tables, figures and claims (sbd-2006 §2, §5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from airpath.reproduction.engine import Series
from airpath.reproduction.quantities import bottleneck
from airpath.results.fairness import jain_of

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
"""Statistics of one run."""


def goodput_kbps(replication: Replication) -> float:
    """Total payload rate of all flows, delivered in order, averaged over the run, kbit/s."""
    return float(sum(flow["goodput_bps"] for flow in replication["flows"])) / 1e3


def delay_s(replication: Replication) -> float:
    """Mean time from transmission to arrival, over all segments that arrived, s."""
    return _over_packets(replication, "mean_delay_s")


def rtt_s(replication: Replication) -> float:
    """Mean RTT sample, s, with flows weighted by their delivered packets."""
    return _over_packets(replication, "mean_rtt_s")


def _over_packets(replication: Replication, quantity: str) -> float:
    flows = [flow for flow in replication["flows"] if flow[quantity] is not None]
    packets = sum(flow["delivered_packets"] for flow in flows)
    return float(sum(flow[quantity] * flow["delivered_packets"] for flow in flows) / packets)


def all_timed_out(replication: Replication) -> float:
    """Return 1 if the retransmission timer of every flow has expired, else 0."""
    return float(all(flow["timeouts"] > 0 for flow in replication["flows"]))


def completion_s(replication: Replication) -> float:
    """Mean time of the downloads from start to last acknowledgement, s.

    An incomplete download counts until the end of the run.
    """
    end = replication["simulated_s"]
    times = [(flow["completed_at_s"] or end) - flow["start_s"] for flow in replication["flows"]]
    return float(sum(times) / len(times))


def overflows(replication: Replication) -> float:
    """Return the number of packets that arrived at a full buffer of the bottleneck."""
    return float(bottleneck(replication)["drops"].get("overflow", 0))


def jain_in_windows(
    delivered: Series, flows: int, window_s: float, times_s: Sequence[float]
) -> float:
    """Return Jain's index of the flows' delivered bytes in time windows, averaged over the windows.

    Parameters
    ----------
    delivered : Series
        Delivered payload, bytes, by flow.
    flows : int
        Number of flows.
    window_s : float
        Length of a window, s. Windows without arrivals are skipped.
    times_s : sequence of float
        Begin and end of the windows, s.
    """
    edges = np.arange(times_s[0], times_s[1], window_s)
    edges = np.append(edges, edges[-1] + window_s)
    shares = [delivered.sums(flow, edges) for flow in range(flows)]
    indices = [jain_of(each) for each in zip(*shares, strict=True) if sum(each)]
    return sum(indices) / len(indices)
