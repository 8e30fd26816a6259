"""Wired hops of flows and of the backhaul."""

from __future__ import annotations

from typing import Any, cast

from airpath.scenario.base import ABSENT, Context, Maybe, Model, Path
from airpath.scenario.units import Duration, Packets, Rate, Size
from airpath.scenario.values import QueueLimit

__all__ = ["Wire"]


class Wire(Model):
    """A wired hop of one flow, or the backhaul that all flows share.

    Parameters
    ----------
    rate : Rate, optional
        Bit rate, above 0. Without a rate, the wire is infinitely fast.
    delay : Duration
        One-way propagation delay, from 0. Default 0 s.
    limit : Packets or Size, optional
        Longest queue in front of a wire with a `rate`, in packets or in bytes of IP packets, above
        0. An arriving packet that would exceed the limit is dropped. Default: no limit and no
        drops.
    """

    engine_family = "wire"

    rate: Maybe[Rate] = ABSENT
    delay: Duration = Duration(0)
    limit: Maybe[QueueLimit] = ABSENT

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; an infinitely fast wire has a null rate."""
        return self.delayed_by(self.delay)

    def delayed_by(self, delay: int) -> dict[str, Any]:
        """Return the resolved form, with `delay` (ns) instead of the wire's own delay."""
        rate = None if self.rate is None else int(self.rate)
        found = {"rate_bps": rate, "delay_ns": int(delay)}
        if self.limit is None:
            return found
        limit = cast(Packets | Size, self.limit)
        return {
            **found,
            "limit": {"packets" if isinstance(limit, Packets) else "bytes": int(limit)},
        }


NO_WIRE = Wire()
"""A wire that is infinitely fast and has no delay."""
