"""Measures of a simulation of the cell, for figures and claims (clamp-2008 §5.4 to §5.7).

Flows are named by their delays, ms. A replication lists the flows in the order of `FLOWS_MS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from airpath.reproduction.formulas import Point
from airpath.reproduction.quantities import ComputedQuantity, MeasuredQuantity, ip_throughput_mbps
from airpath.reproduction.spread import Naming
from airpath.results.fairness import jain_of

__all__ = [
    "FAIR",
    "FLOWS_MS",
    "NAMING",
    "QUANTITIES",
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
    "waiting_bytes",
]

Replication = Mapping[str, Any]

FLOWS_MS: Final = (30, 130, 10, 180)
"""Delays of the four flows, ms (Table 2)."""

QUEUES: Final = {"30": (30,), "130": (130,), "10+180": (10, 180)}
"""Names of the queues, with their flows (§5.4)."""

FAIR: Final = (1 / 3, 1 / 3, 1 / 6, 1 / 6)
"""Share of each flow under a scheduler that is fair to queues."""

MBYTE_BITS: Final = 8e6


def queueing_delay_s(replication: Replication) -> float:
    """Mean time from arrival to the end of the slot that completes a packet, over the queues, s."""
    delays = [queue["measured"]["mean_delay_s"] for queue in replication["queues"]]
    return float(sum(delays) / len(delays))


def sojourn_time_s(replication: Replication) -> float:
    """Mean time from arrival to the first slot that takes part of a packet, over the queues, s."""
    times = [queue["mean_sojourn_s"] for queue in replication["queues"]]
    return float(sum(times) / len(times))


def own_delay_s(queue: str) -> Callable[[Replication], float]:
    """Return the measure of one queue's mean queueing delay, to the end of service, s."""
    place = list(QUEUES).index(queue)
    return lambda run: float(run["queues"][place]["measured"]["mean_delay_s"])


def waiting_bytes(replication: Replication) -> float:
    """Mean backlog, bytes, averaged over the queues."""
    found = [queue["mean_bytes"] for queue in replication["queues"]]
    return float(sum(found) / len(found))


def rtt_spread_s(flow_ms: int) -> Callable[[Replication], float]:
    """Return the measure of a flow's RTT, 95th percentile minus median, s.

    ACKs take a constant time, so the one-way delay of the data has the same spread.
    """
    place = FLOWS_MS.index(flow_ms)

    def spread(replication: Replication) -> float:
        flow = replication["flows"][place]
        return float(flow["p95_delay_s"] - flow["p50_delay_s"])

    return spread


def mean_rtt_s(flow_ms: int) -> Callable[[Replication], float]:
    """Return the measure of a flow's mean RTT, s."""
    place = FLOWS_MS.index(flow_ms)
    return lambda run: float(run["flows"][place]["mean_rtt_s"])


def rate_mbps(flow_ms: int) -> Callable[[Replication], float]:
    """Return the measure of a flow's IP throughput, Mbit/s."""
    place = FLOWS_MS.index(flow_ms)
    return lambda replication: float(replication["flows"][place]["ip_throughput_bps"]) / 1e6


def queue_mbps(queue: str) -> Callable[[Replication], float]:
    """Return the measure of the IP throughput of a queue's flows, Mbit/s."""
    flows = [rate_mbps(flow) for flow in QUEUES[queue]]
    return lambda replication: sum(rate(replication) for rate in flows)


def fairness(replication: Replication) -> float:
    """Jain's index of the flows' rates, each over its fair share."""
    rates = (flow["ip_throughput_bps"] for flow in replication["flows"])
    return jain_of(rate / share for rate, share in zip(rates, FAIR, strict=True))


def timeouts_per_s(flow_ms: int) -> Callable[[Replication], float]:
    """Return the measure of a flow's rate of retransmission timeouts, 1/s."""
    place = FLOWS_MS.index(flow_ms)
    return lambda run: float(run["flows"][place]["timeouts"]) / float(run["measured_s"])


def control_lost(flow_ms: int) -> Callable[[Replication], float]:
    """Return the measure of the share of time in which CWND is below AWND."""
    place = FLOWS_MS.index(flow_ms)
    return lambda run: float(run["flows"][place]["cwnd_limited_share"])


def download_s(replication: Replication) -> float:
    """Mean over the flows of the time that 1 Mbyte takes at the flow's mean rate, s (§5.6).

    Infinite if a flow delivers nothing.
    """
    rates = [flow["ip_throughput_bps"] for flow in replication["flows"]]
    times = [MBYTE_BITS / rate if rate else math.inf for rate in rates]
    return float(sum(times) / len(times))


def empty_share(queue: str) -> Callable[[Replication], float]:
    """Return the measure of the share of time in which a queue has no waiting or held packet."""
    place = list(QUEUES).index(queue)
    return lambda run: float(run["queues"][place]["measured"]["empty_share"])


def margin(replication: Replication) -> float:
    """Return the margin m of Eq. 18, averaged over the allocated slots."""
    return float(replication["users"][0]["margin"])


# --- quantities of figures ---------------------------------------------------------------------


def _milliseconds(measure: Callable[[Replication], float]) -> Callable[[Replication], float]:
    return lambda replication: 1e3 * measure(replication)


_QUANTITIES: Final[Sequence[MeasuredQuantity | ComputedQuantity]] = (
    MeasuredQuantity("queueing_delay", "s", queueing_delay_s, 4),
    MeasuredQuantity("mean_sojourn", "s", sojourn_time_s, 4),
    MeasuredQuantity("delay_ms", "ms", _milliseconds(queueing_delay_s), 1),
    MeasuredQuantity("wait_ms", "ms", _milliseconds(sojourn_time_s), 1),
    *(MeasuredQuantity(f"throughput_{ms}", "Mbit/s", rate_mbps(ms), 3) for ms in FLOWS_MS),
    *(MeasuredQuantity(f"timeouts_{ms}", "1/s", timeouts_per_s(ms), 4) for ms in FLOWS_MS),
    MeasuredQuantity("total_throughput", "Mbit/s", ip_throughput_mbps, 3),
    MeasuredQuantity("download_time", "s", download_s, 2),
    MeasuredQuantity("empty_130", "1", empty_share("130"), 2),
    ComputedQuantity("knob", "kB", lambda axes: axes["knob_bytes"] / 1e3, "g"),
)

QUANTITIES: Final = {each.name: each for each in _QUANTITIES}
"""Quantities that `paper.toml` names."""


def _place_of(point: Point) -> dict[str, Any]:
    """Return the name of a row in a sweep of CLAMP's a or of New Reno's buffer."""
    axes = point.cell.axes
    return {
        "speed": axes["speed"],
        "cap": "1.44 Mbit/s" if axes["low_rate"] else "10 Mbit/s",
        "scheme": {"CLAMP": "clamp", "New Reno": "newreno"}[axes["protocol"]],
        "knob_bytes": axes["knob_bytes"],
    }


_WORDS: Final = {
    "speed": {"slow": "0.1 m/s", "fast": "10 m/s"},
    "knob_bytes": lambda size: f"{size / 1e3:g}",
    **{f"{name}_{ms}": f"{ms} ms" for name in ("throughput", "timeouts") for ms in FLOWS_MS},
}

NAMING: Final = Naming(_WORDS, _place_of)
"""Names of the values and points of the sweeps in figures."""
