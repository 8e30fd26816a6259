"""Congestion control algorithms that react to the share of marked bytes."""

from __future__ import annotations

from typing import Annotated, Literal

from airpath.scenario.cc.base import HYSTART, Congestion
from airpath.scenario.values import Real

__all__ = ["Dctcp"]


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
