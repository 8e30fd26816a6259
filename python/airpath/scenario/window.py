"""Policies for the receive window of a TCP receiver, one class for each."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from airpath.scenario.base import ABSENT, Component, Context, Key, Maybe, Path, usual
from airpath.scenario.units import Duration, Rate, Size
from airpath.scenario.values import PacketCount, Real

__all__ = ["Clamp", "Drain", "Fixed", "ReceiveWindow"]


class ReceiveWindow(Component):
    """A receive-window policy, selected by `kind`. `receive_window` of `tcp` sets the size."""

    family = "a receive-window policy"
    engine_family = "window"
    obeys_price: ClassVar[bool] = False
    """True if the policy requires a queue that writes a price into data packets."""


class Fixed(ReceiveWindow):
    """A receive window of constant size: the application reads all data immediately.

    This policy is the default if `window` is not set.
    """

    kind: Literal["fixed"] = "fixed"


class Drain(ReceiveWindow):
    """A slow reader: a buffer of `receive_window` that the application reads at a limited rate.

    Parameters
    ----------
    rate : Rate
        Rate at which the application reads payload, from 0. At 0 bit/s, the application never
        reads.
    start : Duration
        Time at which the application begins to read, since the start of the run. Default 0 s.
    """

    kind: Literal["drain"] = "drain"
    rate: Rate = Field(examples=['"1 Mbit/s"'])
    start: Duration = Duration(0)


class Clamp(ReceiveWindow):
    """CLAMP's client agent: limits the window of an inner policy by the price in arriving packets.

    An `aqm.Clamp` in the data direction writes the price.

    Parameters
    ----------
    tau : Size
        τ, bytes that each flow adds to the queue in equilibrium, above 0. Default 500 B (Andrew,
        Hanly and Mukhtar 2008 §3.2).
    average_packets : int
        α, the largest number of packets over which the received rate is averaged, from 1. Default
        1000 (§4.2).
    beta : float
        β, the weight of a sample in the estimate of the delay, between 0 and 1. Default 0.001
        (§4.2).
    ssthresh : Size, optional
        Window size at which the receiver's slow start ends if no congestion is detected earlier, at
        least one segment. Default: none (§4.3).
    inner : ReceiveWindow, optional
        Inner policy, any except `window.Clamp`. The advertised window never exceeds the window of
        the inner policy. Default: fixed.
    """

    obeys_price = True

    kind: Literal["clamp"] = "clamp"
    tau: Size = Size(500)
    average_packets: PacketCount = usual(1000)
    beta: Real = 0.001
    ssthresh: Annotated[Maybe[Size], Key("ssthresh_bytes")] = ABSENT
    inner: Maybe[ReceiveWindow] = ABSENT

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, with the resolved form of the inner policy."""
        inner = (self.inner or Fixed()).resolved(context, (*path, "inner"))
        return super().resolved(context, path) | {"inner": inner}
