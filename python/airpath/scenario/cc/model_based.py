"""Congestion control algorithms that estimate the bandwidth and the RTT of the path."""

from __future__ import annotations

from typing import Literal

from airpath.scenario.cc.base import Congestion

__all__ = ["Bbr"]


class Bbr(Congestion):
    """BBR in the version of the running kernel. It can only be emulated, not simulated."""

    only_emulated = True

    kind: Literal["bbr"] = "bbr"
