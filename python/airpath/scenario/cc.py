"""TCP congestion control algorithms, one class for each."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from airpath.scenario.base import ABSENT, Component, Context, Maybe, Path, usual
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import PacketCount, Real, Truth, choice

__all__ = [
    "Bbr",
    "Clamp",
    "Congestion",
    "Cubic",
    "CubicLinux",
    "CubicNs3",
    "Dctcp",
    "NewReno",
    "Reno",
    "Vcp",
]

HYSTART = choice("off", "classic", "plus-plus")
SCALING = choice("public-code", "squared", "product", "linear", "off")
FREEZE = choice("public-code", "unconditional")
ON_LOSS = choice("reno", "ignore")


class Congestion(Component):
    """A congestion control algorithm, selected by `kind`; ``cc = "reno"`` sets only the kind."""

    family = "a congestion control"
    engine_family = "congestion"
    recovery: ClassVar[str | None] = None
    """Loss recovery that the algorithm requires; None selects the recovery of the TCP profile."""
    echo: ClassVar[str | None] = None
    """ECN mode of the engine that the algorithm requires; None selects that of the profile."""
    negotiates_ecn: ClassVar[bool] = False
    """True if both endpoints negotiate ECN, as in RFC 3168."""

    obeys_price: ClassVar[bool] = False
    """True if the algorithm requires a queue that writes a price into data packets."""

    def resolved_control(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form of the congestion control, with the engine's `kind`."""
        return self.resolved(context, path)

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form with the engine's `kind`."""
        return self.resolved_control(context, path)

    def in_ns3(self) -> Congestion:
        """Return the algorithm that the `kind` of this class selects with the profile `ns3`."""
        return self

    def in_linux(self) -> Congestion:
        """Return the algorithm that the `kind` of this class selects with the profile `linux`."""
        return self


class Reno(Congestion):
    """Reno: the congestion control of RFC 5681. Loss recovery ends with the first new ACK.

    Parameters
    ----------
    beta_ecn : float
        Factor of the window at an echoed congestion mark, above 0 and below 1. Default 0.5 (RFC
        3168 §6.1.2); RFC 8511 §3 recommends 0.8.
    hystart : {"off", "classic", "plus-plus"}
        Detection of the end of slow start before the queue overflows: none, HyStart (Ha & Rhee
        2011) or HyStart++ (RFC 9406). Default off; ns-3 and Linux have classic.
    """

    recovery = "reno"

    kind: Literal["reno"] = "reno"
    beta_ecn: Real = 0.5
    hystart: Annotated[str, HYSTART] = "off"


class NewReno(Congestion):
    """NewReno: the congestion control of RFC 5681, with the loss recovery of RFC 6582.

    Parameters
    ----------
    beta_ecn : float
        Factor of the window at an echoed congestion mark, above 0 and below 1. Default 0.5 (RFC
        3168 §6.1.2); RFC 8511 §3 recommends 0.8.
    hystart : {"off", "classic", "plus-plus"}
        Detection of the end of slow start before the queue overflows: none, HyStart (Ha & Rhee
        2011) or HyStart++ (RFC 9406). Default off; ns-3 and Linux have classic.
    """

    recovery = "newreno"

    kind: Literal["newreno"] = "newreno"
    beta_ecn: Real = 0.5
    hystart: Annotated[str, HYSTART] = "off"

    def resolved_control(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form of the congestion control, which is the same as for Reno."""
        return self.resolved(context, path) | {"kind": "reno"}


class Cubic(Congestion):
    """CUBIC: the congestion control of RFC 9438, with the loss recovery of RFC 6582.

    Parameters
    ----------
    c : float
        C, segments/s³: growth rate of the window far from its last maximum, above 0. Default 0.4
        (RFC 9438 §5).
    beta : float
        β, factor of the window at a loss, above 0 and below 1. Default 0.7 (RFC 9438 §4.6).
    beta_ecn : float, optional
        Factor of the window at an echoed congestion mark, above 0 and below 1. Default: `beta` (RFC
        9438 §4.6); RFC 8511 §3 recommends 0.85.
    fast_convergence : bool
        Release capacity for new flows after a second loss. Default True (RFC 9438 §4.7).
    reno_friendly : bool
        Never send less than Reno would. Default True (RFC 9438 §4.3).
    hystart : {"off", "classic", "plus-plus"}
        Detection of the end of slow start before the queue overflows: none, HyStart (Ha & Rhee
        2011) or HyStart++ (RFC 9406). Default off; ns-3 and Linux have classic.
    """

    recovery = "newreno"

    kind: Literal["cubic"] = "cubic"
    c: Real = 0.4
    beta: Real = 0.7
    beta_ecn: Real | None = None
    fast_convergence: Truth = True
    reno_friendly: Truth = True
    hystart: Annotated[str, HYSTART] = "off"

    def in_ns3(self) -> Congestion:
        """Return `CubicNs3` with the parameters that both classes have."""
        return CubicNs3(
            c=self.c,
            beta=self.beta,
            fast_convergence=self.fast_convergence,
            reno_friendly=self.reno_friendly,
        )

    def in_linux(self) -> Congestion:
        """Return `CubicLinux` if C, β and `beta_ecn` have their defaults, otherwise this object."""
        if (self.c, self.beta, self.beta_ecn) != (0.4, 0.7, None):
            return self
        return CubicLinux(
            fast_convergence=self.fast_convergence,
            reno_friendly=self.reno_friendly,
            hystart="classic" if self.hystart == "off" else self.hystart,
        )


class CubicNs3(Congestion):
    """CUBIC as computed by ns-3's class TcpCubic.

    The window counts complete segments, and HyStart ends slow start. `cc = "cubic"` selects this
    class if `stack = "ns3"` and SACK is on, as in the profile `ns3`.

    Parameters
    ----------
    c : float
        C, segments/s³: growth rate of the window far from its last maximum, above 0. Default 0.4
        (ns-3, attribute `C`).
    beta : float
        β, factor of the window at a loss, above 0 and below 1. Default 0.7 (ns-3, attribute
        `Beta`).
    fast_convergence : bool
        Release capacity for new flows after a second loss. Default True (ns-3, attribute
        `FastConvergence`).
    reno_friendly : bool
        Never grow slower than Reno would. Default True (ns-3, attribute `TcpFriendliness`).
    """

    kind: Literal["cubic-ns3"] = "cubic-ns3"
    c: Real = 0.4
    beta: Real = 0.7
    fast_convergence: Truth = True
    reno_friendly: Truth = True


class CubicLinux(Congestion):
    """CUBIC as computed by Linux's module tcp_cubic.

    The window counts complete segments, with C = 0.4 and β = 717/1024. `cc = "cubic"` selects this
    class if `stack = "linux"`, as in the profile `linux`.

    Parameters
    ----------
    fast_convergence : bool
        Release capacity for new flows after a second loss. Default True (tcp_cubic).
    reno_friendly : bool
        Never grow slower than Reno would. Default True (tcp_cubic, `tcp_friendliness`).
    hystart : {"off", "classic", "plus-plus"}
        Detection of the end of slow start before the queue overflows. Default classic (tcp_cubic).
    """

    kind: Literal["cubic-linux"] = "cubic-linux"
    fast_convergence: Truth = True
    reno_friendly: Truth = True
    hystart: Annotated[str, HYSTART] = "classic"


class Dctcp(Congestion):
    """DCTCP: reduces the window by the share of marked bytes (RFC 8257); loss recovery of RFC 6582.

    DCTCP turns `ecn` on and requires a queue that marks packets.

    Parameters
    ----------
    g : float
        Weight of the latest window's share of marked bytes in the average α, above 0 and at most 1.
        Default 0.0625 (RFC 8257 §4.2).
    initial_alpha : float
        Initial value of α, in [0, 1]. Default 1 (RFC 8257 §3.3).
    hystart : {"off", "classic", "plus-plus"}
        Detection of the end of slow start before the queue overflows: none, HyStart (Ha & Rhee
        2011) or HyStart++ (RFC 9406). Default off; ns-3 and Linux have classic.
    """

    recovery = "newreno"
    echo = "dctcp"
    negotiates_ecn = True

    kind: Literal["dctcp"] = "dctcp"
    g: Real = 0.0625
    initial_alpha: Real = 1.0
    hystart: Annotated[str, HYSTART] = "off"


class Bbr(Congestion):
    """BBR in the version of the running kernel. It can only be emulated, not simulated."""

    only_emulated = True

    kind: Literal["bbr"] = "bbr"


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
