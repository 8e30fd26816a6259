"""Congestion control algorithms that follow explicit feedback of a queue discipline."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from airpath.scenario.base import ABSENT, Maybe, usual
from airpath.scenario.cc.base import Congestion
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import PacketCount, Real, Truth, choice

__all__ = ["Clamp", "Vcp"]

SCALING = choice("public-code", "squared", "product", "linear", "off")
FREEZE = choice("public-code", "unconditional")
ON_LOSS = choice("reno", "ignore")


class Clamp(Congestion):
    """CLAMP at the sender: the smaller of NewReno's window and a window computed from the price.

    An `aqm.Clamp` in the data direction writes the price, and the receiver echoes it. The receiver
    needs no `window.Clamp`. Loss recovery follows RFC 6582.

    Parameters
    ----------
    tau : Size
        τ, bytes that each flow adds to the queue in equilibrium, above 0. Default 500 B (Andrew,
        Hanly and Mukhtar 2008 §3.2).
    average_packets : int
        α, the largest number of ACKs over which the rate is averaged, from 1. Default 1000 (§4.2).
    beta : float
        β, the weight of a sample in the estimate of the delay, between 0 and 1. Default 0.001
        (§4.2).
    headroom : float, optional
        Upper bound of the window from the price, as a multiple of NewReno's window, 1 to 10⁶. The
        bound takes effect while something other than the price limits the flow. Default: no bound,
        as in the paper.
    """

    recovery = "newreno"
    obeys_price = True

    kind: Literal["clamp"] = "clamp"
    tau: Size = Size(500)
    average_packets: PacketCount = usual(1000)
    beta: Real = 0.001
    headroom: Maybe[Real] = Field(default=ABSENT, examples=["2"])


class Vcp(Congestion):
    """VCP: the window follows the two-bit load code that the queue discipline `vcp` writes.

    The code is in the ECN field and is not negotiated. Loss recovery follows RFC 5681: it ends with
    the first new ACK.

    Parameters
    ----------
    kappa : float
        κ, gain of the multiplicative increase (MI), above 0. The window grows by ξ = κ/4 per
        `interval`. Default 0.25 (Xia et al. 2005, Table 1).
    alpha : float
        α, additive increase (AI) per RTT for an RTT of 100 ms, packets, above 0. Default 1 (Xia et
        al. 2005, Table 1).
    beta : float
        β, factor of the window at overload, above 0 and below 1. Default 0.875 (Xia et al. 2005,
        Table 1).
    interval : Duration
        t_ρ, the interval of the routers, above 0. MI has one step per interval, and the window is
        constant for one interval after a reduction. Default 200 ms (Xia et al. 2005, Table 1).
    scaling : {"public-code", "squared", "product", "linear", "off"}
        Factor by which α is multiplied to get the AI per RTT. ``"public-code"``: (RTT/100 ms)²,
        linear below 20 ms and above 500 ms. ``"squared"``: (RTT/t_ρ)². ``"product"``:
        (RTT/t_ρ)(RTT/100 ms). ``"linear"``: RTT/t_ρ. ``"off"``: 1. Default public-code (the public
        ns-2 package).
    limiters : bool
        Limit ξ and AI per ACK by the size of the window. Default True (the public ns-2 package).
    freeze : {"public-code", "unconditional"}
        Effect of load codes after a reduction. ``"public-code"``: the code overload has no effect
        for t_ρ and then causes AI for one RTT; lower codes take effect immediately.
        ``"unconditional"``: no code has an effect for t_ρ. Default public-code (the public ns-2
        package).
    granularity : Duration
        Granularity of the RTT in `scaling`, and of the two timers; 0 s means exact times. Default
        10 ms (the public ns-2 package).
    on_loss : {"reno", "ignore"}
        Reaction to a loss. ``"reno"``: a fast retransmit halves the window, and a timeout reduces
        it to one packet. ``"ignore"``: the window is reduced only while the code is overload.
        Default reno (the public ns-2 package).
    """

    recovery = "reno"
    echo = "vcp"

    kind: Literal["vcp"] = "vcp"
    kappa: Real = 0.25
    alpha: Real = 1.0
    beta: Real = 0.875
    interval: Duration = Duration.parse("200 ms")
    scaling: Annotated[str, SCALING] = "public-code"
    limiters: Truth = True
    freeze: Annotated[str, FREEZE] = "public-code"
    granularity: Duration = Duration.parse("10 ms")
    on_loss: Annotated[str, ON_LOSS] = "reno"
