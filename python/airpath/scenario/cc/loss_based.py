"""Congestion control algorithms that react to loss only."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from airpath.scenario.base import Context, Path
from airpath.scenario.cc.base import HYSTART, Congestion
from airpath.scenario.values import Real, Truth

__all__ = ["Cubic", "CubicLinux", "CubicNs3", "NewReno", "Reno"]


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
