"""The queue discipline L4Span, which marks by predicted drain time."""

from __future__ import annotations

from typing import ClassVar, Literal

from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.base import usual
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import Number, PacketCount, Real

__all__ = ["L4Span"]


class L4Span(QueueDisc):
    """L4Span: marks by the predicted time in which the backlog drains (Wan & Jamieson 2025).

    Departing packets with ECT(1) or ECT(0) are marked, with separate probabilities. Packets without
    ECN are dropped only at the limit.

    Parameters
    ----------
    limit : int
        Most packets that wait or that the link holds, from 1. Default 16384, the long RLC queue of
        the testbed.
    target : Duration
        Time in which the backlog must drain, above 0. Default 10 ms (prototype).
    report : Duration
        Shortest time between two reports of the egress rate, above 0. Default 1 ms (prototype).
    packets : int
        Number of packets in the predicted rate, 1 to 1000. Default 50 (prototype).
    classic_threshold : Size
        Backlog above which packets with ECT(0) are marked, from 0. Default 225 kB: 150 packets of
        1500 B (prototype, one UE).
    classic_constant : float
        K in the mark probability of packets with ECT(0), above 0. Default 7 (prototype).
    mss : Size
        Segment size in that probability, above 0. Default 1460 B (prototype).
    """

    own_keys = ("report", "packets", "classic_threshold", "classic_constant", "mss")
    key_labels = {"target": "drain time"}

    always_marks: ClassVar[bool] = True
    kind: Literal["l4span"] = "l4span"
    limit: PacketCount = usual(16_384)
    target: Duration = Duration.parse("10 ms")
    report: Duration = Duration.parse("1 ms")
    packets: Number = 50
    classic_threshold: Size = Size(225_000)
    classic_constant: Real = 7.0
    mss: Size = Size(1460)
