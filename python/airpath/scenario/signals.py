"""Queue disciplines that compare what arrives with what the link carries, and ACKs ahead of any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import PlainValidator, field_validator, model_validator
from typing_extensions import Self

from airpath.errors import UnitError
from airpath.scenario.base import ABSENT, Context, Maybe, Path, fault, faults_at, usual
from airpath.scenario.queues import DropTail, QueueDisc
from airpath.scenario.units import Duration, Packets, Quantity, Rate, Size
from airpath.scenario.values import (
    LARGEST_GAIN,
    Gain,
    PacketCount,
    PositiveDuration,
    PositiveFraction,
    PositiveNumber,
    PositivePacketCount,
    PositiveSize,
    ProperFraction,
    Truth,
    choice,
    counted_or_bytes,
    packet_count,
)

__all__ = ["AckPriority", "Rem", "VcpQueue"]


def _above_one(value: Any) -> float:
    accepted = "Write a number above 1"
    if isinstance(value, (bool, Quantity)) or not isinstance(value, (int, float)):
        raise fault("not a number", accepted, "1.001")
    if not (value == value and abs(value) <= LARGEST_GAIN):
        raise fault("not a number that can be used", accepted, "1.001")
    if value <= 1:
        raise fault("not above 1", accepted, "1.001")
    return float(value)


def _capacity(value: Any) -> str | Rate:
    accepted = f'{Rate.accepted()}, "link" or "measured"'
    if isinstance(value, str) and value in ("link", "measured"):
        return value
    is_number = isinstance(value, (int, float)) and not isinstance(value, (bool, Quantity))
    if not isinstance(value, (str, Rate)) or is_number:
        raise fault("not a capacity", accepted, '"10 Mbit/s"')
    try:
        rate = value if isinstance(value, Rate) else Rate.parse(value)
    except UnitError:
        raise fault("not a capacity", accepted, '"10 Mbit/s"') from None
    if rate == 0:
        raise fault("not above 0", accepted, '"10 Mbit/s"')
    return rate


def _limit(value: Any) -> int | Size:
    if isinstance(value, Size) or (isinstance(value, str) and value.strip().endswith("B")):
        limit = counted_or_bytes(value, Packets, "limit")
        if limit == 0:
            raise fault("not above 0", "Write a size above 0", '"104 kB"')
        return Size(limit)
    return packet_count(1, 30)(value)


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    Limit = Takes[int | str | Size, int | Size]
    Capacity = Takes[str | Rate, Rate | Literal["link", "measured"]]
    Base = float
else:
    Limit = Annotated[int | Size, PlainValidator(_limit)]
    Capacity = Annotated[Rate | Literal["link", "measured"], PlainValidator(_capacity)]
    Base = Annotated[float, PlainValidator(_above_one)]


class Rem(QueueDisc):
    """Marks or drops by a price that rises with the backlog and with the excess load (REM).

    Parameters
    ----------
    limit : int or Size
        Longest queue, packets from 1 or bytes of IP packets above 0. Default 100, as drop-tail.
        ns-2, where it counts bytes, has so many mean packets in bytes: "104 kB".
    target : int
        b*, the backlog to hold, mean packets, from 0. Default 20 (ns-2).
    gamma : float
        γ, how fast the price moves, above 0. Default 0.001 (ns-2).
    alpha : float
        α, what a packet of backlog weighs beside one of excess load, from 0. Default 0.1 (ns-2).
    phi : float
        φ, above 1: a packet is marked or dropped with probability 1 - φ^-p at a price of p.
        Default 1.001 (ns-2).
    update : Duration
        T, time between updates of the price, above 0. Default 2 ms (ns-2).
    mean_packet : Size
        IP packet size, above 0, by which bytes and rates are turned into packets. Default 1040 B,
        1000 B and a header of 40 B.
    mode : {"bytes", "packets"}
        Whether arrivals and backlog count in bytes on the air, with probabilities in proportion to
        a packet's size, or each packet as one. Default bytes: by packets an ACK counts as much as
        data.
    ecn : bool
        Mark ECN-capable packets as they leave, and drop none before the queue is full; else drop
        arrivals. Default False.
    """

    own_keys = ("target", "gamma", "alpha", "phi", "update", "mean_packet")

    kind: Literal["rem"] = "rem"
    limit: Limit = usual(100)
    target: PacketCount = usual(20)
    gamma: PositiveNumber = 0.001
    alpha: Gain = 0.1
    phi: Base = 1.001
    update: PositiveDuration = Duration.parse("2 ms")
    mean_packet: PositiveSize = Size(1040)
    mode: Annotated[str, choice("bytes", "packets")] = "bytes"
    ecn: Truth = False

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; the limit says its unit."""
        entries = super().resolved(context, path)
        unit = "bytes" if isinstance(self.limit, Size) else "packets"
        entries.pop("limit", None)
        entries.pop("limit_bytes", None)
        return {"kind": self.kind, "limit": {unit: int(self.limit)}, **entries}


class VcpQueue(QueueDisc):
    """A VCP router: its load, low, high or overload, in the ECN field of data that leave.

    Parameters
    ----------
    limit : int
        Most packets that may wait, from 1. Default 100, as drop-tail.
    target : float
        γ, the utilisation at which the load factor is 1, above 0 and at most 1. Default 0.98
        (Xia et al. 2005 Table 1).
    interval : Duration
        t_ρ, time between load factors, above 0, a multiple of `sampling`. Default 200 ms (Xia et
        al. 2005 Table 1).
    queue_weight : float
        κ_q, what of the persistent queue counts as load, from 0. Default 0.5 (Xia et al. 2005
        Table 1).
    sampling : Duration
        t_q, time between samples of the queue, above 0. Default 10 ms (Xia et al. 2005 Table 1).
    low : float
        Load factor, above 0 and below 1, from which on the load is high. Default 0.8 (Xia et al.
        2005).
    average : {"ewma", "public-code"}
        Whether the persistent queue is an average of the intervals' means with weight 1/4, or the
        last mean over 16, as the public code computes it. Default ewma, which that code intends.
    capacity : Rate or {"link", "measured"}
        C, of what is on the air: the link's nominal rate; what the link is measured to send while
        it has something to send; or the rate that the router believes in. Default link.
    """

    own_keys = ("target", "interval")

    kind: Literal["vcp"] = "vcp"
    limit: PositivePacketCount = usual(100)
    target: PositiveFraction = 0.98
    interval: PositiveDuration = Duration.parse("200 ms")
    queue_weight: Gain = 0.5
    sampling: PositiveDuration = Duration.parse("10 ms")
    low: ProperFraction = 0.8
    average: Annotated[str, choice("ewma", "public-code")] = "ewma"
    capacity: Capacity = usual("link")

    @model_validator(mode="after")
    def _whole_samples(self) -> Self:
        if self.interval % self.sampling:
            given = f"not a multiple of sampling = {self.sampling}"
            example = Duration(self.sampling * max(1, round(self.interval / self.sampling)))
            wrong = fault(given, "Write one", f'"{example}"')
            raise faults_at((("interval",), str(self.interval), wrong))
        return self

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; a capacity that is a rate says so."""
        entries = super().resolved(context, path)
        capacity = self.capacity
        if isinstance(capacity, Rate):
            del entries["capacity_bps"]
            entries["capacity"] = {"fixed": int(capacity)}
        return entries


class AckPriority(QueueDisc):
    """ACKs ahead of whatever discipline the other packets wait in, under its limit.

    An ACK counts in the arrivals and the backlog of the discipline, and is dropped where that has
    no room; no early drop and no mark meets it.

    Parameters
    ----------
    aqm : QueueDisc, optional
        The discipline of all other packets, any but another `AckPriority`. Default: drop-tail as it
        is by default.
    """

    kind: Literal["ack-priority"] = "ack-priority"
    aqm: Maybe[QueueDisc] = ABSENT

    @field_validator("aqm")
    @classmethod
    def _ahead_once(cls, aqm: QueueDisc | None) -> QueueDisc | None:
        if aqm is not None and aqm.puts_acks_ahead:
            given = "an ack-priority queue inside an ack-priority queue"
            raise fault(given, "Write another discipline inside")
        return aqm

    @property
    def prices(self) -> bool:
        """Whether the discipline inside writes a price."""
        return self.aqm is not None and self.aqm.prices

    @property
    def puts_acks_ahead(self) -> bool:
        """Always."""
        return True

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, with that of the discipline inside."""
        inside = (self.aqm or DropTail()).resolved(context, (*path, "aqm"))
        return {"kind": self.kind, "aqm": inside}
