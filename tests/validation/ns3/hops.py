"""Paths of several hops that are run in ns-3 and in Airpath: designs and criteria.

Both sides import this module; it requires neither simulator.

The criteria were written before the first run of either simulator:

* Dumbbells with two bottlenecks: the mean goodput of each group of TCP flows is within 2 % of
  ns-3, and the mean queue of each direction of a hop that carries data is within 5 % or 0.5
  packets of ns-3. Ten of the twelve dumbbells must satisfy both.
* Parking lots: the share of the long flow is within 5 % of ns-3. If all losses are random
  (`lot-loss-*`), it is also within 5 % of 1/(1 + √n), n the number of hops.
* Every dumbbell has 20 runs of ns-3 and 60 replications of Airpath. If the half-width of the
  95 % confidence interval of a difference exceeds the bound, the dumbbell gets 20 more runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

GOODPUT_BOUND = 0.02
QUEUE_BOUND, QUEUE_BOUND_PACKETS = 0.05, 0.5
SHARE_BOUND = 0.05
REQUIRED_DUMBBELLS = 10

CLASSIC = "TcpClassicRecovery"
LARGE_WINDOW = 262_144
"""Receive window that never limits, bytes; not with PRR, whose product overflows in ns-3."""


@dataclass(frozen=True)
class Queue:
    """A queue discipline. `kind` is `droptail`, `red` or `codel`; the limit is in packets.

    RED: thresholds in packets, `weight` 1 for the instantaneous queue, gentle.
    CoDel: target 5 ms, interval 100 ms.
    """

    kind: str = "droptail"
    limit: int = 10_000
    min_th: int = 0
    max_th: int = 0
    max_p: float = 0.0
    weight: float = 1.0
    wait: bool = False


@dataclass(frozen=True)
class Hop:
    """A hop: rates in Mbit/s, propagation delay in each direction in ms.

    `loss` is the probability that a downward packet is lost after the transmission. Default of
    `up_mbps`: as downward.
    """

    mbps: float
    delay_ms: float
    queue: Queue
    up_mbps: float | None = None
    up_queue: Queue = Queue()
    loss: float = 0.0


@dataclass(frozen=True)
class Group:
    """Flows over the hops `first` to `last`, one per delay of an access wire, in ms.

    `cc` is a class of ns-3, or `poisson` for 1500-byte datagrams at `mbps` in total per flow.
    """

    name: str
    access_ms: tuple[float, ...]
    first: int = 0
    last: int = 1
    cc: str = "TcpNewReno"
    is_upload: bool = False
    mbps: float = 0.0

    @property
    def is_tcp(self) -> bool:
        return self.cc != "poisson"


@dataclass(frozen=True)
class Path:
    """A scenario. `window` is the receive window in bytes."""

    id: str
    hops: tuple[Hop, ...]
    groups: tuple[Group, ...]
    recovery: str = "TcpPrrRecovery"
    delayed_ack: int = 2
    window: int = 65_535
    duration_s: int = 200
    warmup_s: int = 20

    def data_queues(self) -> list[str]:
        """Return the names of the queues that carry data: `1` or `1_reverse` for the first hop."""
        found = []
        for number in range(len(self.hops)):
            crossing = [group for group in self.groups if group.first <= number <= group.last]
            for is_upload, suffix in [(False, ""), (True, "_reverse")]:
                if any(group.is_upload == is_upload for group in crossing):
                    found.append(f"{number + 1}{suffix}")
        return found


def droptail(limit: int) -> Queue:
    return Queue("droptail", limit)


def through(*access_ms: float, cc: str = "TcpNewReno") -> Group:
    return Group("through", access_ms, cc=cc)


def cross(hop: int, *access_ms: float, cc: str = "TcpNewReno") -> Group:
    """Return a group over one hop, numbered from 1."""
    return Group(f"hop {hop}", access_ms, first=hop - 1, last=hop - 1, cc=cc)


def poisson(hop: int, mbps: float) -> Group:
    return Group(f"datagrams {hop}", (0.5,), hop - 1, hop - 1, "poisson", mbps=mbps)


def dumbbells() -> Iterator[Path]:
    """Yield the twelve dumbbells with two bottlenecks."""
    yield Path(
        "narrow-second",
        (Hop(6, 5, droptail(40)), Hop(4, 10, droptail(25))),
        (through(2.1, 4.7, 7.9, 12.3),),
    )
    yield Path(
        "narrow-first",
        (Hop(3, 10, droptail(20)), Hop(5, 3, droptail(30))),
        (through(1.3, 3.8, 6.1), cross(2, 5.2, 9.4, 14.9)),
    )
    yield Path(
        "cross-first",
        (Hop(5, 4, droptail(30)), Hop(3, 15, droptail(15))),
        (through(2.6, 5.5, 8.2), cross(1, 9.3, 12.8, 17.1, 21.7)),
        CLASSIC,
        delayed_ack=1,
    )
    yield Path(
        "cross-both",
        (Hop(4, 8, droptail(25)), Hop(4.4, 8, droptail(25))),
        (through(1.7, 6.3), cross(1, 7.4, 12.2), cross(2, 8.9, 13.6)),
    )
    yield Path(
        "cubic",
        (Hop(8, 2, droptail(50)), Hop(6, 25, droptail(40))),
        (
            through(2.2, 5.8, 9.1, 13.9, cc="TcpCubic"),
            cross(1, 18.3, 26.7, cc="TcpCubic"),
        ),
        CLASSIC,
        delayed_ack=1,
        window=LARGE_WINDOW,
    )
    yield Path(
        "datagrams",
        (Hop(2, 15, droptail(15)), Hop(2.5, 5, droptail(12))),
        (through(3.4, 8.8), poisson(2, 0.8)),
    )
    yield Path(
        "uploads",
        (Hop(5, 6, droptail(30), 5, droptail(30)), Hop(3.5, 9, droptail(20), 3.5, droptail(20))),
        (
            through(2.9, 6.6, 11.2),
            Group("uploads", (3.7, 7.3, 10.4), is_upload=True),
        ),
    )
    yield Path(
        "slow-acks",
        (Hop(5, 10, droptail(30), 1.5, droptail(20)), Hop(5, 4, droptail(30), 2, droptail(20))),
        (
            through(1.9, 5.1, 8.4, 12.6),
            cross(2, 6.8, 15.3),
            Group("upload 1", (4.4,), first=0, last=0, is_upload=True),
        ),
    )
    instant = Queue("red", 100, 4, 12, 0.1)
    yield Path(
        "red-instant",
        (Hop(4, 6, instant), Hop(5, 10, instant)),
        (through(2.3, 7.1, 11.8), cross(2, 4.6, 9.7, 16.4)),
    )
    yield Path(
        "red-average",
        (Hop(6, 10, Queue("red", 100, 5, 15, 0.1, 0.002, True)), Hop(4, 5, droptail(25))),
        (
            through(1.6, 4.3, 8.7, 13.2),
            cross(1, 6.9, 11.6, 17.8, cc="TcpCubic"),
        ),
    )
    codel = Queue("codel", 1000)
    yield Path(
        "codel",
        (Hop(5, 5, codel), Hop(4, 15, codel)),
        (through(2.7, 6.4, 9.9, 14.1), cross(1, 15.6, 23.2)),
        CLASSIC,
        delayed_ack=1,
    )
    yield Path(
        "mixed",
        (Hop(3, 12, droptail(25)), Hop(3.6, 6, droptail(20), 3.6, droptail(20))),
        (
            through(3.1, 9.2, cc="TcpCubic"),
            cross(1, 5.7, 10.8),
            poisson(2, 0.6),
            Group("upload 2", (7.7,), first=1, last=1, is_upload=True),
        ),
        delayed_ack=1,
    )


def parking_lots() -> Iterator[Path]:
    """Yield parking lots: one long flow, one short flow per hop, all with a base RTT of 80 ms.

    `lot-loss-*`: links that are never full, with random loss at every hop. `lot-red-*`: random
    drops by RED. `lot-droptail-*`: full queues.
    """
    hops = {
        "loss": Hop(50, 5, droptail(1000), loss=0.001),
        "red": Hop(6, 5, Queue("red", 200, 5, 30, 0.02, 0.002)),
        "droptail": Hop(6, 5, droptail(30)),
    }
    for kind, hop in hops.items():
        for count in (2, 3, 4):
            long = Group("long", (40.0 - 5 * count,), 0, count - 1, "TcpLinuxReno")
            short = [Group(f"short {i + 1}", (35.0,), i, i, "TcpLinuxReno") for i in range(count)]
            yield Path(
                f"lot-{kind}-{count}",
                (hop,) * count,
                (long, *short),
                recovery=CLASSIC,
                window=LARGE_WINDOW,
                duration_s=420,
            )


def paths() -> Iterator[Path]:
    yield from dumbbells()
    yield from parking_lots()
