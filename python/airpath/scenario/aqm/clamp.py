"""Queue disciplines that write a price into the packets that leave."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator
from typing_extensions import Self

from airpath.scenario.aqm.queues import DropTail, QueueDisc
from airpath.scenario.base import (
    ABSENT,
    Context,
    Maybe,
    Path,
    as_missing,
    fault,
    faults_at,
)
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import PositiveDuration, PositiveNumber

__all__ = ["Clamp"]


class Clamp(QueueDisc):
    """CLAMP's router agent around any discipline: it writes a price into each packet that leaves.

    Receivers with a `window.Clamp` obey the price.

    Parameters
    ----------
    a : Size, optional
        What of the averaged queue costs nothing, from 0. k flows settle at a + kτ, τ being theirs.
        Default: `target_delay` moves it.
    target_delay : Duration, optional
        In the place of `a`: the mean time from a packet's arrival to the completion of its service
        that is held whatever the number of flows, above 0. Default: `a` is fixed.
    adaptation_time : Duration, optional
        Time constant with which `target_delay` moves a, above 0. Default: 5 s.
    b : float
        How steeply the price rises with the queue, above 0; stable below π/2. Default 1
        (Andrew, Hanly and Mukhtar 2008 §3.2).
    time_constant : Duration
        Of the queue's average, above 0. Default 500 ms (§4.1).
    rate_time_constant : Duration
        Of the measured output rate, above 0. Default 500 ms, as of the
        queue (the paper does not say).
    inner : QueueDisc, optional
        The discipline inside, any but another `aqm.Clamp`. Default: drop-tail as it is by default.
    """

    own_keys = ("a", "b", "target_delay", "time_constant", "rate_time_constant", "inner")

    kind: Literal["clamp"] = "clamp"
    a: Maybe[Size] = Field(default=ABSENT, examples=['"5500 B"'])
    target_delay: Maybe[PositiveDuration] = ABSENT
    adaptation_time: Maybe[PositiveDuration] = ABSENT
    b: PositiveNumber = 1.0
    time_constant: PositiveDuration = Duration.parse("500 ms")
    rate_time_constant: PositiveDuration = Duration.parse("500 ms")
    inner: Maybe[QueueDisc] = ABSENT

    alternatives = (("a", "target_delay"), ("a", "adaptation_time"))

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.a is None and self.target_delay is None:
            wanted = 'Write a = "5500 B", or target_delay = "50 ms"'
            raise faults_at((("a",), None, as_missing(fault("missing", wanted))))
        if self.a is not None:
            for key in ("target_delay", "adaptation_time"):
                if getattr(self, key) is not None:
                    wrong = fault("a is given too", "Write a, or target_delay")
                    raise faults_at(((key,), str(getattr(self, key)), wrong))
        return self

    @field_validator("inner")
    @classmethod
    def _prices_once(cls, inner: QueueDisc | None) -> QueueDisc | None:
        if inner is not None and inner.prices:
            raise fault("a clamp queue inside a clamp queue", "Write another discipline inside")
        return inner

    @property
    def prices(self) -> bool:
        """Always."""
        return True

    @property
    def puts_acks_ahead(self) -> bool:
        """Whether the discipline inside does."""
        return self.inner is not None and self.inner.puts_acks_ahead

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, with that of the discipline inside."""
        inner = (self.inner or DropTail()).resolved(context, (*path, "inner"))
        found = super().resolved(context, path).items()
        return {key: value for key, value in found if value is not None} | {"inner": inner}
