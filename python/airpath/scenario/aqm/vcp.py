"""The queue discipline of VCP, which writes load codes into the ECN field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import PlainValidator

from airpath.errors import UnitError
from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.base import Context, Path, fault, usual
from airpath.scenario.units import Duration, Quantity, Rate
from airpath.scenario.values import PacketCount, Real, choice

__all__ = ["Vcp"]


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
    return rate


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    Capacity = Takes[str | Rate, Rate | Literal["link", "measured"]]
else:
    Capacity = Annotated[Rate | Literal["link", "measured"], PlainValidator(_capacity)]


class Vcp(QueueDisc):
    """A VCP router: writes its load (low, high, overload) to the ECN field of departing packets.

    Parameters
    ----------
    limit : int
        Most packets in the queue, from 1. Default 100, as for drop-tail.
    target : float
        γ, the utilisation at which the load factor is 1, above 0 and at most 1. Default 0.98
        (Xia et al. 2005 Table 1).
    interval : Duration
        t_ρ, time between computations of the load factor, above 0, a multiple of `sampling`.
        Default 200 ms (Xia et al. 2005 Table 1).
    queue_weight : float
        κ_q, weight of the persistent queue in the load factor, from 0. Default 0.5 (Xia et al. 2005
        Table 1).
    sampling : Duration
        t_q, time between samples of the queue, above 0. Default 10 ms (Xia et al. 2005 Table 1).
    low : float
        Load factor above which the load is no longer low but high, above 0 and below 1. Default 0.8
        (Xia et al. 2005).
    average : {"ewma", "public-code"}
        Average of the persistent queue. ``"ewma"``: moving average of the means of the intervals,
        with weight 1/4. ``"public-code"``: the last mean divided by 16, as the public code computes
        it. Default ewma, which is the intention of the public code.
    capacity : Rate or {"link", "measured"}
        C, capacity on the air. ``"link"``: the nominal rate of the link. ``"measured"``: the rate
        of the link measured while it is busy. Otherwise a fixed rate. Default link.
    """

    own_keys = ("target", "interval")
    key_labels = {"target": "target utilisation"}

    always_marks: ClassVar[bool] = True
    ends: ClassVar[str | None] = "VCP"
    kind: Literal["vcp"] = "vcp"
    limit: PacketCount = usual(100)
    target: Real = 0.98
    interval: Duration = Duration.parse("200 ms")
    queue_weight: Real = 0.5
    sampling: Duration = Duration.parse("10 ms")
    low: Real = 0.8
    average: Annotated[str, choice("ewma", "public-code")] = "ewma"
    capacity: Capacity = usual("link")

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; a fixed capacity is a table with the key `fixed`."""
        entries = super().resolved(context, path)
        capacity = self.capacity
        if isinstance(capacity, Rate):
            del entries["capacity_bps"]
            entries["capacity"] = {"fixed": int(capacity)}
        return entries
