"""Congestion control algorithms that react to the RTT."""

from __future__ import annotations

from typing import Literal

from airpath.scenario.base import usual
from airpath.scenario.cc.base import Congestion
from airpath.scenario.values import PacketCount, Real

__all__ = ["Illinois", "Vegas", "Veno", "Yeah"]


class Vegas(Congestion):
    """Vegas of Linux: keeps between α and β segments of the flow in the queue, by the RTT.

    Parameters
    ----------
    alpha : int
        α: with fewer queued segments, the window grows by one segment per RTT. Default 2
        (tcp_vegas).
    beta : int
        β: with more queued segments, the window shrinks by one segment per RTT. At least `alpha`.
        Default 4 (tcp_vegas).
    gamma : int
        γ: with more queued segments, slow start ends. Default 1 (tcp_vegas).
    """

    recovery = "newreno"

    kind: Literal["vegas"] = "vegas"
    alpha: PacketCount = usual(2)
    beta: PacketCount = usual(4)
    gamma: PacketCount = usual(1)


class Veno(Congestion):
    """Veno of Linux: a loss without queued segments keeps 4/5 of the window.

    Parameters
    ----------
    beta : float
        β: with fewer queued segments, a loss is assumed to be random, in half segments, above 0.
        Default 3 (tcp_veno).
    """

    recovery = "newreno"

    kind: Literal["veno"] = "veno"
    beta: Real = 3.0


class Illinois(Congestion):
    """Illinois of Linux: losses reduce the window, the queueing delay sets growth and reduction.

    Parameters
    ----------
    window_threshold : int
        Window below which growth and reduction are those of Reno, segments. Default 15
        (tcp_illinois, `win_thresh`).
    theta : int
        θ: number of RTTs without queueing delay before growth is 10 segments per RTT again, from 1.
        Default 5 (tcp_illinois, `theta`).
    """

    recovery = "newreno"

    kind: Literal["illinois"] = "illinois"
    window_threshold: PacketCount = usual(15)
    theta: PacketCount = usual(5)


class Yeah(Congestion):
    """YeAH of Linux: Scalable TCP with a short queue, Reno with a long one."""

    recovery = "newreno"

    kind: Literal["yeah"] = "yeah"
