"""Measures of a simulation of the TDD link, for tables, figures and claims (wimax-2009 §5.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from airpath.reproduction.base import Cell
from airpath.reproduction.engine import Series
from airpath.reproduction.quantities import MeasuredQuantity
from airpath.reproduction.session import Session
from airpath.results.stations import pooled_mac_delays

__all__ = [
    "ALLOCATED",
    "CONTENTION",
    "EFFICIENCY",
    "GOODPUT",
    "GRANTS",
    "MAC_DELAY",
    "QUANTITIES",
    "USED",
    "DelayDistribution",
    "collided_share",
    "contention_share",
    "duplicate_acks",
    "goodput_mbps",
    "mean_rtt_s",
    "time_s",
    "timeouts",
]

Replication = Mapping[str, Any]

UPLINK: Final = "reverse"
"""Name of the link's uplink direction."""


def _uplink(replication: Replication) -> Any:
    return next(link for link in replication["links"] if link["name"] == UPLINK)


def _counter(replication: Replication, name: str) -> float:
    """Return a counter of the link's uplink."""
    return float(_uplink(replication)["counters"][name])


def _counted(name: str, unit: str, key: str, factor: float, decimals: int) -> MeasuredQuantity:
    return MeasuredQuantity(name, unit, lambda run: factor * _counter(run, key), decimals)


def time_s(flow: Mapping[str, Any], replication: Replication) -> float:
    """Time of a download from its start to its completion, s."""
    end = flow["completed_at_s"]
    return float((replication["simulated_s"] if end is None else end) - flow["start_s"])


def goodput_mbps(replication: Replication) -> float:
    """Object size divided by completion time, averaged over the downloads, Mbit/s.

    The paper calls this throughput (wimax-2009 §5.1).
    """
    flows = replication["flows"]
    rates = (8e-6 * flow["delivered_bytes"] / time_s(flow, replication) for flow in flows)
    return float(sum(rates)) / len(flows)


def mean_rtt_s(replication: Replication) -> float:
    """Mean RTT sample of the first flow, s."""
    return float(replication["flows"][0]["mean_rtt_s"])


def timeouts(replication: Replication) -> float:
    """Return the number of expiries of the retransmission timers of all flows."""
    return float(sum(flow["timeouts"] for flow in replication["flows"]))


def contention_share(replication: Replication) -> float:
    """Share of requests by contention; 0 without requests."""
    contention = _counter(replication, "requests_contention")
    return contention / max(contention + _counter(replication, "requests_piggyback"), 1.0)


def collided_share(replication: Replication) -> float:
    """Share of ranging codes that collided; 0 without codes."""
    attempts = _counter(replication, "request_attempts")
    return _counter(replication, "request_collisions") / max(attempts, 1.0)


def _grants_per_ack(replication: Replication) -> float:
    """Return the number of proactive grants, divided by the number of uplink packets."""
    packets = float(_uplink(replication)["delivered_packets"])
    return _counter(replication, "grants_proactive") / max(packets, 1.0)


ALLOCATED: Final = MeasuredQuantity(
    "allocated", "kB", lambda run: _counter(run, "granted_bytes") / 1e3, 1
)
USED: Final = MeasuredQuantity("used", "kB", lambda run: _counter(run, "used_bytes") / 1e3, 1)
EFFICIENCY: Final = _counted("efficiency", "1", "efficiency", 1, 3)
MAC_DELAY: Final = _counted("mac_delay", "ms", "mac_delay_mean_s", 1e3, 1)
P50: Final = _counted("mac_delay_p50", "ms", "mac_delay_p50_s", 1e3, 1)
P90: Final = _counted("mac_delay_p90", "ms", "mac_delay_p90_s", 1e3, 1)
GOODPUT: Final = MeasuredQuantity("goodput", "Mbit/s", goodput_mbps, 3)
CONTENTION: Final = MeasuredQuantity("contention_share", "1", contention_share, 3)
GRANTS: Final = MeasuredQuantity("grants_per_ack", "1", _grants_per_ack, 2)

_OF_DOWNLOAD = (ALLOCATED, USED, EFFICIENCY, MAC_DELAY, P50, P90, GOODPUT)
QUANTITIES: Final = {each.name: each for each in _OF_DOWNLOAD}
"""Quantities of a download, in the order of the rows."""


class DelayDistribution:
    """Distribution of the uplink delays of all runs of a cell, ms."""

    def __init__(self, session: Session, cell: Cell) -> None:
        rows = pooled_mac_delays(session.replications(cell))[UPLINK]
        self.delays_ms: list[float] = [1e3 * row["delay_s"] for row in rows]
        self.counts = [row["packets"] for row in rows]
        self.cdf: list[float] = [row["cdf"] for row in rows]

    def at(self, delay_ms: float) -> float:
        """Return the share of delays up to `delay_ms`."""
        place = int(np.searchsorted(self.delays_ms, delay_ms, "right"))
        return self.cdf[place - 1] if place else 0.0

    def quantile(self, share: float) -> float:
        """Return the smallest delay d, ms, such that at least this share of delays is at most d."""
        place = int(np.searchsorted(self.cdf, share - 1e-12, "left"))
        return self.delays_ms[min(place, len(self.delays_ms) - 1)]

    def near(self, places_ms: Sequence[float], within_ms: float) -> float:
        """Return the share of delays within `within_ms` of a value in `places_ms`."""
        delays = np.asarray(self.delays_ms)[:, None]
        is_near = (np.abs(delays - np.asarray(places_ms)) <= within_ms).any(axis=1)
        return float(np.asarray(self.counts)[is_near].sum() / sum(self.counts))


def duplicate_acks(received: Series, segment: int) -> int:
    """Return the number of segments (`segment`: size, bytes) that arrived out of order or twice.

    A receiver acknowledges each of them immediately. `received` is the series ``seq_received``.
    """
    _times, numbers = received.of(0)
    ahead: set[int] = set()
    following = duplicates = 0
    for number in (round(each / segment) for each in numbers):
        if number == following:
            following += 1
            while following in ahead:
                ahead.remove(following)
                following += 1
        else:
            duplicates += 1
            if number > following:
                ahead.add(number)
    return duplicates
