"""Congestion control algorithms for long and fast paths, and for paths with random losses."""

from __future__ import annotations

from typing import Literal

from airpath.scenario.cc.base import Congestion
from airpath.scenario.units import Duration
from airpath.scenario.values import Truth

__all__ = ["Bic", "Htcp", "Hybla", "Scalable", "Westwood"]


class Westwood(Congestion):
    """Westwood+ of Linux: a loss reduces the window to bandwidth times minimum RTT."""

    recovery = "newreno"

    kind: Literal["westwood"] = "westwood"


class Hybla(Congestion):
    """Hybla of Linux: the window grows as fast as on a path with the reference RTT.

    `initial_window` has no effect.

    Parameters
    ----------
    rtt0 : Duration
        RTT₀, the reference RTT, at least 1 µs. Default 25 ms (tcp_hybla, `rtt0`).
    """

    recovery = "newreno"

    kind: Literal["hybla"] = "hybla"
    rtt0: Duration = Duration.parse("25 ms")


class Scalable(Congestion):
    """Scalable TCP of Linux: growth by 1 % per RTT, reduction by 1/8."""

    recovery = "newreno"

    kind: Literal["scalable"] = "scalable"


class Htcp(Congestion):
    """H-TCP of Linux: growth by the time since a loss, reduction by the ratio of the RTTs.

    Parameters
    ----------
    rtt_scaling : bool
        Divide the growth by the RTT in units of 100 ms. Default True (tcp_htcp,
        `use_rtt_scaling`).
    bandwidth_switch : bool
        Halve the window if the throughput has changed by more than a fifth. Default True (tcp_htcp,
        `use_bandwidth_switch`).
    """

    recovery = "newreno"

    kind: Literal["htcp"] = "htcp"
    rtt_scaling: Truth = True
    bandwidth_switch: Truth = True


class Bic(Congestion):
    """BIC of Linux: a binary search of the last maximum of the window.

    Parameters
    ----------
    fast_convergence : bool
        Release capacity for new flows after a second loss. Default True (tcp_bic).
    """

    recovery = "newreno"

    kind: Literal["bic"] = "bic"
    fast_convergence: Truth = True
