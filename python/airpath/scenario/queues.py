"""Queue disciplines (AQM), one class each."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from airpath.scenario.base import (
    Context,
    PacketCount,
    Part,
    Path,
    PositiveDuration,
    PositivePacketCount,
    PositiveSize,
    Probability,
    QueueLimit,
    Truth,
    fault,
)
from airpath.scenario.units import Duration, Packets, Size

__all__ = ["CoDel", "DropTail", "Gred", "QueueDisc"]


class QueueDisc(Part):
    """A queue discipline; `kind` says which. Lengths count packets that wait, not the one sent."""

    family = "a queue discipline"


class DropTail(QueueDisc):
    """First in, first out; an arrival that would exceed the limit is dropped.

    Parameters
    ----------
    limit : Packets or Size
        Largest queue, in packets or bytes of IP packets, above 0. Default 100 packets,
        the usual drop-tail queue of packet simulators.
    """

    kind: Literal["droptail"] = "droptail"
    limit: QueueLimit = Packets(100)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; the limit says its unit."""
        unit = "packets" if isinstance(self.limit, Packets) else "bytes"
        return {"kind": self.kind, "limit": {unit: int(self.limit)}}


class Gred(QueueDisc):
    """Gentle RED on the instantaneous queue, each arrival drawn on its own (qawla-2015 eq. 1).

    The curve itself limits the queue to ``2 max_th`` packets.

    Parameters
    ----------
    min_th : int
        th_min, packets, from 0. Below it nothing is dropped. Default 30 (qawla-2015 §4).
    max_th : int
        th_max, packets, above `min_th`. Default 90 (qawla-2015 §4).
    max_p : float
        p_max, the drop probability at `max_th`, in [0, 1]. Default 0.1 (qawla-2015 §4).
    ecn : bool
        Mark ECN-capable packets instead of dropping them. Default False.
    """

    kind: Literal["gred"] = "gred"
    min_th: PacketCount = 30
    max_th: PositivePacketCount = 90
    max_p: Probability = 0.1
    ecn: Truth = False

    @field_validator("max_th")
    @classmethod
    def _above_min_th(cls, max_th: int, info: ValidationInfo) -> int:
        min_th = info.data.get("min_th")
        if min_th is not None and max_th <= min_th:
            raise fault(
                f"not above min_th = {min_th}", "Write max_th above min_th", str(3 * min_th or 3)
            )
        return max_th


class CoDel(QueueDisc):
    """Drops at the head while sojourn times have stayed above a target for an interval (RFC 8289).

    Parameters
    ----------
    limit : int
        Most packets that may wait, from 1. Default 1000.
    target : Duration
        Acceptable standing sojourn time, above 0. Default 5 ms (RFC 8289 §4.4).
    interval : Duration
        How long the sojourn time must stay at or above `target` before the first drop, above 0;
        about the largest round-trip time. Default 100 ms (RFC 8289 §4.3).
    mtu : Size
        Nothing is dropped while no more than this is left in the queue, bytes of IP packets,
        above 0. Default 1500 B.
    ecn : bool
        Mark ECN-capable packets instead of dropping them. Default False.
    """

    kind: Literal["codel"] = "codel"
    limit: PositivePacketCount = 1000
    target: PositiveDuration = Duration.parse("5 ms")
    interval: PositiveDuration = Duration.parse("100 ms")
    mtu: PositiveSize = Size(1500)
    ecn: Truth = False
