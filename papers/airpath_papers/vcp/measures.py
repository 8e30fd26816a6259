"""Measures of a simulation that figures and claims use (vcp-2008 §IV)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from airpath import _airpath
from airpath.reproduction.base import Cell
from airpath.reproduction.session import Session
from airpath_papers.vcp.scenarios import PAYLOAD_BYTES

__all__ = [
    "ErrorRate",
    "Replication",
    "data_failures",
    "delivered_packets",
    "error_rate",
    "first_acks_s",
    "life_span_s",
    "load_factor_deviation",
    "mean_queue",
    "queue_drops",
    "utilisation",
]

Replication = Mapping[str, Any]


def delivered_packets(replication: Replication) -> float:
    """Delivered packets of the paper: in-order payload of both directions, divided by 1000 B."""
    return float(sum(flow["delivered_bytes"] for flow in replication["flows"])) / PAYLOAD_BYTES


def data_failures(replication: Replication) -> float:
    """Return the number of data packets that failed, in both directions of the link."""
    return float(sum(link["counters"]["large_failed"] for link in replication["links"]))


def data_sent(replication: Replication) -> float:
    """Return the number of transmitted data packets, in both directions of the link."""
    return float(sum(link["counters"]["large_packets"] for link in replication["links"]))


def queue_drops(replication: Replication) -> float:
    """Return the number of packets that both queues dropped, including ACKs."""
    return float(sum(sum(queue["drops"].values()) for queue in replication["queues"]))


def mean_queue(replication: Replication) -> float:
    """Mean queue length, averaged over both queues, packets."""
    queues = replication["queues"]
    return float(sum(queue["mean_packets"] for queue in queues)) / len(queues)


def utilisation(replication: Replication) -> float:
    """Utilisation of the link, averaged over both directions."""
    links = replication["links"]
    return float(sum(link["utilisation"] for link in links)) / len(links)


def load_factor_deviation(replication: Replication) -> float:
    """Return the standard deviation of the load factor over its intervals."""
    return float(replication["queues"][0]["measured"]["vcp_load_deviation"])


class ErrorRate(NamedTuple):
    """Packet error rate of data over all runs, with the Wilson interval."""

    simulated: float
    simulated_low: float
    simulated_high: float
    failed: int
    sent: int


def error_rate(session: Session, cell: Cell) -> ErrorRate | None:
    """Return the packet error rate of data; None if no data was sent."""
    failed, sent = (int(sum(session.values(cell, of))) for of in (data_failures, data_sent))
    if not sent:
        return None
    deviations = NormalDist().inv_cdf((1 + session.paper.confidence) / 2)
    low, high = _airpath.wilson_interval(failed, sent, deviations)
    return ErrorRate(failed / sent, low, high, failed, sent)


def first_acks_s(session: Session, cell: Cell) -> list[float]:
    """Return the sorted times from the start of a flow to its first ACK, s, of all runs.

    The times come from the series ``seq_sent``: data follows the first ACK immediately. A flow
    without an ACK counts until the end of its run.
    """

    def of_run(every: Session, run: int) -> list[float]:
        replication = every.replications(cell)[run]
        firsts, end = _first_segments_s(every, cell, run), float(replication["simulated_s"])
        return [
            firsts.get(int(flow["id"]), end) - float(flow["start_s"])
            for flow in replication["flows"]
        ]

    return sorted(chain.from_iterable(session.per_run(cell, "first ACKs", of_run)))


def life_span_s(session: Session, run: int, cell: Cell) -> float:
    """Return the mean life span of the flows of a run, s.

    The life span is the time from the first ACK to the abort or to the end of the run; 0 for a flow
    without an ACK. The first ACK comes from the series ``seq_sent``.
    """
    replication = session.replications(cell)[run]
    firsts, end = _first_segments_s(session, cell, run), float(replication["simulated_s"])
    spans = [
        (flow.get("aborted_at_s") or end) - firsts[int(flow["id"])]
        for flow in replication["flows"]
        if int(flow["id"]) in firsts
    ]
    return sum(spans) / len(replication["flows"])


def _first_segments_s(session: Session, cell: Cell, run: int) -> dict[int, float]:
    sent = session.series(cell, "seq_sent", run)
    numbers, places = np.unique(sent.ids, return_index=True)
    return dict(zip(numbers.tolist(), sent.time_s[places].tolist(), strict=True))
