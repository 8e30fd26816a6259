"""What figures and claims read off a simulation (vcp-2008 §IV)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from airpath import _airpath
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath_papers.vcp.scenarios import PAYLOAD_BYTES, Case

__all__ = [
    "CORRUPTED",
    "DELIVERED",
    "QUEUE_DROPS",
    "QUEUE_PACKETS",
    "Replication",
    "aborted_flows",
    "ack_failures",
    "counted",
    "data_failures",
    "delivered_packets",
    "delivered_totals",
    "first_acks_s",
    "life_spans_s",
    "load_factor_deviation",
    "mean_queue",
    "queue_drops",
    "queue_measure",
    "share_interval",
    "simulated_per",
    "utilisation",
]

Replication = Mapping[str, Any]


def delivered_packets(replication: Replication) -> float:
    """In-order payload of both directions over 1000 B: the paper's delivered packets."""
    return float(sum(flow["delivered_bytes"] for flow in replication["flows"])) / PAYLOAD_BYTES


def delivered_totals(session: Session, case: Case) -> list[float]:
    """Return the delivered packets of each run: counted once, however often runs are resampled."""
    return session.per_run(
        case, "delivered", lambda every, run: delivered_packets(every.replications(case)[run])
    )


def counted(name: str) -> Callable[[Replication], float]:
    """Return what both directions of the link counted under a name."""
    return lambda replication: float(sum(link["counters"][name] for link in replication["links"]))


data_failures: Final = counted("large_failed")
data_sent: Final = counted("large_packets")
ack_failures: Final = counted("small_failed")


def queue_drops(replication: Replication) -> float:
    """Packets that both queues dropped, ACKs among them."""
    return float(sum(sum(queue["drops"].values()) for queue in replication["queues"]))


def mean_queue(replication: Replication) -> float:
    """Mean length of both queues, packets."""
    queues = replication["queues"]
    return float(sum(queue["mean_packets"] for queue in queues)) / len(queues)


def utilisation(replication: Replication) -> float:
    """Share of time that both directions of the link transmit."""
    links = replication["links"]
    return float(sum(link["utilisation"] for link in links)) / len(links)


def queue_measure(name: str) -> Callable[[Replication], float]:
    """Return what the bottleneck's queue measured under a name of its own."""
    return lambda replication: float(replication["queues"][0]["measured"][name])


load_factor_deviation: Final = queue_measure("vcp_load_deviation")
"""Standard deviation of the load factor over the intervals."""

DELIVERED: Final = Measured("delivered_packets", "1", delivered_packets, 0)
CORRUPTED: Final = Measured("corrupted_packets", "1", data_failures, 0)
QUEUE_DROPS: Final = Measured("queue_drops", "1", queue_drops, 0)
QUEUE_PACKETS: Final = Measured("queue", "1", mean_queue, 1)


def simulated_per(session: Session, case: Case) -> tuple[float, int, int] | None:
    """Return the packet error rate of data over all runs, the failures and the packets sent.

    None when none was sent.
    """
    failed = int(sum(session.values(case, data_failures)))
    sent = int(sum(session.values(case, data_sent)))
    return (failed / sent, failed, sent) if sent else None


def share_interval(failed: int, sent: int, confidence: float) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    return _airpath.wilson_interval(failed, sent, NormalDist().inv_cdf((1 + confidence) / 2))


def first_acks_s(session: Session, case: Case) -> list[float]:
    """Return the times from the starts of flows to their first ACKs, s, of all runs, in order.

    The case records ``seq_sent``: data follows the first ACK at once. A flow that has none counts
    until the end of its run.
    """

    def of_run(every: Session, run: int) -> list[float]:
        replication = every.replications(case)[run]
        firsts, end = _first_segments_s(every, case, run), float(replication["simulated_s"])
        return [
            firsts.get(int(flow["id"]), end) - float(flow["start_s"])
            for flow in replication["flows"]
        ]

    return sorted(chain.from_iterable(session.per_run(case, "first ACKs", of_run)))


def life_spans_s(session: Session, case: Case) -> list[float]:
    """Return the mean life span of the flows of each run, s.

    From the first ACK to the abort, or to the end of the run; 0 of a flow without an ACK. The case
    records ``seq_sent``.
    """

    def of_run(every: Session, run: int) -> float:
        replication = every.replications(case)[run]
        firsts, end = _first_segments_s(every, case, run), float(replication["simulated_s"])
        spans = [
            (flow.get("aborted_at_s") or end) - firsts[int(flow["id"])]
            for flow in replication["flows"]
            if int(flow["id"]) in firsts
        ]
        return sum(spans) / len(replication["flows"])

    return session.per_run(case, "life spans", of_run)


def aborted_flows(replication: Replication) -> float:
    """Flows that were aborted."""
    return float(sum(flow.get("aborted_at_s") is not None for flow in replication["flows"]))


def _first_segments_s(session: Session, case: Case, run: int) -> dict[int, float]:
    sent = session.series(case, "seq_sent", run)
    numbers, places = np.unique(sent.ids, return_index=True)
    return dict(zip(numbers.tolist(), sent.time_s[places].tolist(), strict=True))
