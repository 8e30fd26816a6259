"""CoDel of RFC 8289 and drop-tail, in the engine's integer arithmetic."""

from __future__ import annotations

import math

import airpath as ap
from airpath.parts import Arrival, Departure
from airpath.units import Duration

LIMIT = "1000000 packets"
"""A limit that these scenarios do not reach, for disciplines that count packets themselves."""


@ap.queue_discipline("codel-in-python")
class CoDelInPython:
    """Names as in RFC 8289 §5."""

    target: Duration = Duration.parse("5 ms")
    interval: Duration = Duration.parse("100 ms")
    mtu: int = 1500
    ecn: bool = False

    first_above_time: int | None = None
    drop_next = 0
    count = 0
    lastcount = 0
    dropping = False
    entered = False

    def on_departure(self, head: Departure) -> str | None:
        ok_to_drop = self.is_ok_to_drop(head)
        if head.drops and self.entered:
            self.entered = False
            return None  # The drop that starts the dropping state is the only one of its dequeue.
        if self.dropping:
            return self.continue_dropping(ok_to_drop, head)
        if not ok_to_drop:
            return None
        self.start_dropping(head.now_ns)
        is_marked = self.ecn and head.ecn_capable
        self.entered = not is_marked
        return "mark" if is_marked else "drop"

    def is_ok_to_drop(self, head: Departure) -> bool:
        """Return ``ok_to_drop`` of ``dodequeue``; `backlog` includes the packet itself."""
        if head.sojourn_ns < self.target or head.backlog <= self.mtu + head.size:
            self.first_above_time = None
            return False
        if self.first_above_time is None:
            self.first_above_time = head.now_ns + self.interval
            return False
        return head.now_ns >= self.first_above_time

    def continue_dropping(self, ok_to_drop: bool, head: Departure) -> str | None:
        self.dropping = ok_to_drop
        if not ok_to_drop:
            return None
        if head.drops:
            self.drop_next += self.spacing()
        if head.now_ns < self.drop_next:
            return None
        self.count += 1
        if self.ecn and head.ecn_capable:
            self.drop_next += self.spacing()
            return "mark"
        return "drop"

    def start_dropping(self, now: int) -> None:
        delta = self.count - self.lastcount
        was_dropping_recently = max(now - self.drop_next, 0) < 16 * self.interval
        self.count = delta if delta > 1 and was_dropping_recently else 1
        self.lastcount = self.count
        self.drop_next = now + self.spacing()
        self.dropping = True

    def spacing(self) -> int:
        return math.floor(self.interval / math.sqrt(self.count) + 0.5)


@ap.queue_discipline("droptail-in-python")
class DropTailInPython:
    """A limit in packets or bytes that counts the packets held by the link."""

    most_packets: int | None = None
    most_bytes: int | None = None

    def on_arrival(self, arrival: Arrival) -> str | None:
        if self.most_packets is not None:
            is_full = arrival.packets + arrival.held_packets >= self.most_packets
        else:
            assert self.most_bytes is not None
            occupied = arrival.backlog + arrival.held_bytes
            is_full = occupied + arrival.size > self.most_bytes
        return "overflow" if is_full else None
