"""Congestion control algorithms that estimate the bandwidth and the RTT of the path."""

from __future__ import annotations

from typing import Literal

from airpath.scenario.cc.base import Congestion

__all__ = ["Bbr", "Bbr1"]


class Bbr(Congestion):
    """BBRv3: rate and window from the bandwidth and minimum RTT of the path, bounded by losses.

    The flow is paced and requires SACK (draft-ietf-ccwg-bbr-06). No kernel release has BBRv3: it
    can be simulated, not emulated.
    """

    recovery = "sack"

    kind: Literal["bbr"] = "bbr"


class Bbr1(Congestion):
    """BBRv1 of Linux: rate and window from the estimated bandwidth and minimum RTT of the path.

    The flow is paced, requires SACK, and reacts neither to marks nor, except for the detection of
    policers, to losses. Emulation uses the kernel's `bbr`.
    """

    recovery = "sack"

    kind: Literal["bbr1"] = "bbr1"
