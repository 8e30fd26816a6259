"""The queue discipline REM (Random Exponential Marking)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import PlainValidator

from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.base import Context, Path, usual
from airpath.scenario.units import Duration, Packets, Size
from airpath.scenario.values import PacketCount, Real, Truth, choice, counted_or_bytes, packet_count

__all__ = ["Rem"]


def _limit(value: Any) -> int | Size:
    if isinstance(value, Size) or (isinstance(value, str) and value.strip().endswith("B")):
        return Size(counted_or_bytes(value, Packets, "limit"))
    return packet_count(0, 30)(value)


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    Limit = Takes[int | str | Size, int | Size]
else:
    Limit = Annotated[int | Size, PlainValidator(_limit)]


class Rem(QueueDisc):
    """REM: marks or drops according to a price, which rises with backlog and excess load.

    Parameters
    ----------
    limit : int or Size
        Longest queue: a number of packets from 1, or a size of IP packets above 0. Default 100
        packets, as for drop-tail. The limit of ns-2 in bytes is 100 mean packets: "104 kB".
    target : int
        b*, the target backlog, in mean packets, from 0. Default 20 (ns-2).
    gamma : float
        γ, step size of the price, above 0. Default 0.001 (ns-2).
    alpha : float
        α, weight of the backlog relative to the excess load, from 0. Default 0.1 (ns-2).
    phi : float
        φ, above 1. At a price of p, a packet is marked or dropped with probability 1 - φ^-p.
        Default 1.001 (ns-2).
    update : Duration
        T, time between updates of the price, above 0. Default 2 ms (ns-2).
    mean_packet : Size
        Size of an IP packet that converts bytes and rates into packets, above 0. Default 1040 B:
        1000 B of data and 40 B of headers.
    mode : {"bytes", "packets"}
        Unit of arrivals and backlog. ``"bytes"``: bytes on the air, with probabilities in
        proportion to the packet size. ``"packets"``: each packet counts as one, so that an ACK
        counts as much as a data packet. Default bytes.
    ecn : bool
        True: mark departing ECN-capable packets, and drop packets only if the queue is full. False:
        drop arriving packets. Default False.
    """

    own_keys = ("target", "gamma", "alpha", "phi", "update", "mean_packet")
    key_labels = {"target": "target queue length"}

    kind: Literal["rem"] = "rem"
    limit: Limit = usual(100)
    target: PacketCount = usual(20)
    gamma: Real = 0.001
    alpha: Real = 0.1
    phi: Real = 1.001
    update: Duration = Duration.parse("2 ms")
    mean_packet: Size = Size(1040)
    mode: Annotated[str, choice("bytes", "packets")] = "bytes"
    ecn: Truth = False

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; the limit is a table with its unit as the key."""
        entries = super().resolved(context, path)
        unit = "bytes" if isinstance(self.limit, Size) else "packets"
        entries.pop("limit", None)
        entries.pop("limit_bytes", None)
        return {"kind": self.kind, "limit": {unit: int(self.limit)}, **entries}
