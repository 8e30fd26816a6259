"""The queue discipline of CLAMP, which writes a price into departing packets."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from airpath.scenario.aqm.queues import DropTail, QueueDisc
from airpath.scenario.base import ABSENT, Context, Maybe, Path
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import Real

__all__ = ["Clamp"]


class Clamp(QueueDisc):
    """CLAMP's router agent: writes a price into each packet that leaves an inner discipline.

    Receivers with a `window.Clamp` compute their window limit from the price.

    Parameters
    ----------
    a : Size, optional
        Average queue length below which the price falls, from 0. In equilibrium, k flows with
        parameter τ have a queue of a + kτ. Default: adapted to `target_delay`.
    target_delay : Duration, optional
        Target for the mean time from the arrival of a packet to the end of its service, above 0. If
        it is set instead of `a`, the discipline adapts a to reach it for any number of flows.
        Default: `a` is constant.
    adaptation_time : Duration, optional
        Time constant of the adaptation of a to `target_delay`, above 0. Default: 5 s.
    b : float
        Gain from queue length to price, above 0. The control loop is stable for b below π/2.
        Default 1 (Andrew, Hanly and Mukhtar 2008 §3.2).
    time_constant : Duration
        Time constant of the average queue length, above 0. Default 500 ms (§4.1).
    rate_time_constant : Duration
        Time constant of the measured output rate, above 0. Default 500 ms, as for the queue; the
        paper gives no value.
    inner : QueueDisc, optional
        The inner queue discipline, any except `aqm.Clamp`. Default: drop-tail with its defaults.
    """

    own_keys = ("a", "b", "target_delay", "time_constant", "rate_time_constant", "inner")

    kind: Literal["clamp"] = "clamp"
    a: Maybe[Size] = Field(default=ABSENT, examples=['"5500 B"'])
    target_delay: Maybe[Duration] = ABSENT
    adaptation_time: Maybe[Duration] = ABSENT
    b: Real = 1.0
    time_constant: Duration = Duration.parse("500 ms")
    rate_time_constant: Duration = Duration.parse("500 ms")
    inner: Maybe[QueueDisc] = ABSENT

    alternatives = (("a", "target_delay"), ("a", "adaptation_time"))

    @property
    def prices(self) -> bool:
        """True for this discipline."""
        return True

    @property
    def puts_acks_ahead(self) -> bool:
        """True if the inner discipline sends ACKs before other packets."""
        return self.inner is not None and self.inner.puts_acks_ahead

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, with the resolved form of the inner discipline."""
        inner = (self.inner or DropTail()).resolved(context, (*path, "inner"))
        found = super().resolved(context, path).items()
        return {key: value for key, value in found if value is not None} | {"inner": inner}
