"""Queue disciplines (AQM), one class each."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from airpath.scenario.base import (
    Context,
    PacketCount,
    Part,
    Path,
    PositivePacketCount,
    Probability,
    QueueLimit,
    Truth,
    fault,
)
from airpath.scenario.units import Packets

__all__ = ["DropTail", "Gred", "QueueDisc"]


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
