"""Congestion control algorithms that estimate the bandwidth and the RTT of the path."""

from __future__ import annotations

from typing import Annotated, Literal

from airpath.scenario.cc.base import Congestion
from airpath.scenario.units import Duration
from airpath.scenario.values import Number, Real, choice

__all__ = ["Bbr", "Bbr1"]

VARIANT = choice("draft", "linux")


class Bbr(Congestion):
    """BBRv3: rate and window from the bandwidth and minimum RTT of the path, bounded by losses.

    The flow is paced and requires SACK. No kernel release has BBRv3: it can be simulated, not
    emulated.

    Parameters
    ----------
    variant : {"draft", "linux"}
        Rules of draft-ietf-ccwg-bbr-06 or of Google's Linux kernel, branch v3. Default draft.
    startup_gain : float
        Gain of the pacing rate in Startup, from 1. Default 2.77 (draft-ietf-ccwg-bbr-06).
    drain_gain : float, optional
        Gain of the pacing rate in Drain, above 0 and at most 1. Default: 0.5
        (draft-ietf-ccwg-bbr-06); 1000/2885 with the variant linux.
    down_gain : float, optional
        Gain of the pacing rate in ProbeBW_DOWN, above 0 and at most 1. Default: 0.9
        (draft-ietf-ccwg-bbr-06); 0.91 with the variant linux.
    up_gain : float
        Gain of the pacing rate in ProbeBW_UP, from 1. Default 1.25 (draft-ietf-ccwg-bbr-06).
    cwnd_gain : float
        Gain of the window, from 1. Default 2 (draft-ietf-ccwg-bbr-06).
    up_cwnd_gain : float
        Gain of the window in ProbeBW_UP, from 1. Default 2.25 (draft-ietf-ccwg-bbr-06).
    probe_rtt_gain : float
        Gain of the window in ProbeRTT, above 0 and at most 1. Default 0.5 (draft-ietf-ccwg-bbr-06).
    loss_threshold : float
        Tolerated share of lost data in a round trip, above 0 and below 1. Default 0.02
        (draft-ietf-ccwg-bbr-06).
    beta : float
        Factor of the bounds at a loss, above 0 and at most 1. Default 0.7 (draft-ietf-ccwg-bbr-06).
    headroom : float
        Share of the long-term bound that is left free in CRUISE, from 0 and below 1. Default 0.15
        (draft-ietf-ccwg-bbr-06).
    probe_wait : Duration
        Shortest time between two bandwidth probes, from 0. Default 2 s (draft-ietf-ccwg-bbr-06).
    probe_wait_spread : Duration
        Largest random time in addition to `probe_wait`, from 0. Default 1 s
        (draft-ietf-ccwg-bbr-06).
    probe_rounds : int
        Largest number of round trips between two bandwidth probes, from 1. Default 63
        (draft-ietf-ccwg-bbr-06).
    min_rtt_window : Duration
        Window of the minimum RTT, above 0. Default 10 s (draft-ietf-ccwg-bbr-06).
    probe_rtt_interval : Duration
        Time without a lower RTT after which ProbeRTT begins, above 0. Default 5 s
        (draft-ietf-ccwg-bbr-06).
    probe_rtt_time : Duration
        Shortest time in ProbeRTT, from 0. Default 200 ms (draft-ietf-ccwg-bbr-06).
    """

    recovery = "sack"

    kind: Literal["bbr"] = "bbr"
    variant: Annotated[str, VARIANT] = "draft"
    startup_gain: Real = 2.77
    drain_gain: Real | None = None
    down_gain: Real | None = None
    up_gain: Real = 1.25
    cwnd_gain: Real = 2.0
    up_cwnd_gain: Real = 2.25
    probe_rtt_gain: Real = 0.5
    loss_threshold: Real = 0.02
    beta: Real = 0.7
    headroom: Real = 0.15
    probe_wait: Duration = Duration.parse("2 s")
    probe_wait_spread: Duration = Duration.parse("1 s")
    probe_rounds: Number = 63
    min_rtt_window: Duration = Duration.parse("10 s")
    probe_rtt_interval: Duration = Duration.parse("5 s")
    probe_rtt_time: Duration = Duration.parse("200 ms")


class Bbr1(Congestion):
    """BBRv1 of Linux: rate and window from the estimated bandwidth and minimum RTT of the path.

    The flow is paced, requires SACK, and reacts neither to marks nor, except for the detection of
    policers, to losses. Emulation uses the kernel's `bbr`.
    """

    recovery = "sack"

    kind: Literal["bbr1"] = "bbr1"
