"""Congestion control algorithms that react to the share of marked bytes."""

from __future__ import annotations

from typing import Annotated, Literal

from airpath.scenario.cc.base import HYSTART, Congestion
from airpath.scenario.units import Duration
from airpath.scenario.values import Number, Real, choice

__all__ = ["Dctcp", "Prague"]

START = choice("halve", "alpha")
REDUCTION = choice("virtual-rtt", "window")


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


class Prague(Congestion):
    """Prague: the scalable congestion control of L4S, with accurate ECN feedback on ECT(1).

    Prague sets `ecn` to `"accurate"` and requires a queue that marks packets. With
    `tcp = {ecn = "on"}`, it is Reno on ECT(0). Loss recovery of RFC 6582 unless the TCP parameters
    set another.

    Parameters
    ----------
    g : float
        Weight of the latest virtual RTT's share of marked bytes in the average α, above 0 and at
        most 1. Default 0.0625 (Linux, tcp_prague.c).
    start : {"halve", "alpha"}
        Reaction to the first mark: the window is halved and α starts at 0, or α starts at 1.
        Default halve (Linux, tcp_prague.c).
    reduction : {"virtual-rtt", "window"}
        Marks that reduce the window. ``virtual-rtt``: the first mark when an RTT and a virtual RTT
        have elapsed since the last reduction. ``window``: the first mark of a window of data, if a
        virtual RTT has elapsed; otherwise no mark of that window of data (Linux, tcp_prague.c).
        Default virtual-rtt (udp_prague, by the authors of the draft).
    rtt_target : Duration
        Smallest virtual RTT, from 0; flows with shorter RTTs have the rate of a flow with this RTT.
        0 s disables RTT independence. Default 25 ms (Linux, tcp_prague.c).
    transition_rounds : int
        Rounds after slow start before RTT independence begins, from 0. Default 4 (Linux,
        tcp_prague.c).
    pacing_variation : float
        Variation of the pacing rate: higher in the first half of each virtual RTT, lower in the
        second half, in [0, 1). Default 0.03125 (Linux, tcp_prague.c).
    """

    recovery = "newreno"
    echo = "accurate"
    falls_back = True
    negotiates_ecn = True

    kind: Literal["prague"] = "prague"
    g: Real = 0.0625
    start: Annotated[str, START] = "halve"
    reduction: Annotated[str, REDUCTION] = "virtual-rtt"
    rtt_target: Duration = Duration.parse("25 ms")
    transition_rounds: Number = 4
    pacing_variation: Real = 0.03125
