"""Names, bounds and resolutions of the quantities measured for flows, queues and links."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from airpath.engine.vocabulary import names
from airpath.results.intervals import POSITIVE, SHARE, UNBOUNDED

__all__ = [
    "DELAY_QUANTILES",
    "DRAWN",
    "FLOW_QUANTITIES",
    "LINK_QUANTITIES",
    "QUEUE_QUANTITIES",
    "bounds",
    "resolution",
    "together",
]

DELAY_QUANTILES = (
    *("p50_delay_s", "p95_delay_s", "p99_delay_s"),
    *("p50_ack_delay_s", "p95_ack_delay_s", "p99_ack_delay_s"),
)
"""Delay quantiles of a flow's packets and ACKs. The engine merges those of several flows."""

FLOW_QUANTITIES = names("flow")
"""Quantities measured for each flow, in the order of the table columns."""
QUEUE_QUANTITIES = names("queue")
"""Quantities measured for each queue."""
LINK_QUANTITIES = names("link")
"""Quantities measured for each link."""
DRAWN = ("trace_offset_s",)
"""Link-specific values that are set or sampled before the run. A mean over the replications would
be meaningless."""

_BUCKET = 1 / 64
"""Relative width of the widest bucket of the engine's delay histogram
(`airpath_core::Histogram`)."""
_OF_HISTOGRAMS = (
    *DELAY_QUANTILES,
    *("p50_sojourn_s", "p95_sojourn_s", "p99_sojourn_s"),
    *("mac_delay_p50_s", "mac_delay_p90_s"),
)
"""Names of the quantiles that are computed from histograms."""

_OF_DATAGRAMS = ("lost_datagrams", "loss_ratio")
"""Quantities that only datagram flows have."""
_ADD_UP = tuple(
    name
    for name in FLOW_QUANTITIES
    if not name.endswith(("_s", "_share"))
    and not name.startswith("mean")
    and name not in _OF_DATAGRAMS
)


def bounds(name: str) -> tuple[float, float]:
    """Return the smallest and largest possible value of a quantity."""
    if name in ("margin", "mean_snr_db", "rating"):
        return UNBOUNDED
    if name == "mos":
        return (1.0, 4.5)
    shares = (
        "jain",
        "utilisation",
        "slot_error_rate",
        "efficiency",
        "loss_ratio",
        "late_ratio",
        "stall_ratio",
    )
    is_share = name in shares or name.endswith("_share")
    return SHARE if is_share else POSITIVE


def resolution(name: str) -> float:
    """Return the relative resolution of the values of a quantity or metric.

    For quantiles from a histogram, the resolution is half the width of a bucket; otherwise 0.
    """
    return _BUCKET / 2 if name.rpartition(".")[2] in _OF_HISTOGRAMS else 0.0


def together(
    flows: Sequence[Mapping[str, Any]], name: str, merged: Mapping[str, Any]
) -> float | None:
    """Aggregate one quantity over several flows of a replication: a sum, or a mean over packets.

    `merged` contains the quantities that cannot be computed from the values of the flows.
    """
    if name in merged:
        return float(merged[name]) if merged[name] is not None else None
    if name in _OF_DATAGRAMS:
        return _datagram_losses(flows, name)
    if name in _ADD_UP:
        values = [flow[name] for flow in flows]
        # If the value of one flow is unknown, the sum is unknown.
        return None if None in values else float(sum(values))
    known = [flow for flow in flows if flow[name] is not None]
    if name == "completed_at_s":
        # The completion time of all transfers is the completion time of the last transfer.
        all_done = len(known) == len(flows)
        return max((float(flow[name]) for flow in flows), default=None) if all_done else None
    known = [flow for flow in known if flow["delivered_packets"] is not None]
    packets = sum(flow["delivered_packets"] for flow in known)
    if not packets:
        return None
    return math.fsum(flow[name] * flow["delivered_packets"] for flow in known) / float(packets)


def _datagram_losses(flows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return lost datagrams or loss ratio of the datagram flows; None without such flows."""
    of_them = [flow for flow in flows if flow.get("lost_datagrams") is not None]
    lost = sum(flow["lost_datagrams"] for flow in of_them)
    if name == "lost_datagrams":
        return float(lost) if of_them else None
    decided = lost + sum(flow["delivered_packets"] for flow in of_them)
    return lost / decided if decided else None
