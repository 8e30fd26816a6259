"""Congestion control algorithms that react to the RTT."""

from __future__ import annotations

from typing import Annotated, Literal

from airpath.scenario.base import usual
from airpath.scenario.cc.base import Congestion
from airpath.scenario.units import Duration
from airpath.scenario.values import PacketCount, Real, Truth, choice

__all__ = ["C2tcp", "Copa", "Illinois", "Ledbat", "Vegas", "Veno", "Yeah"]

RULES = choice("plus-plus", "rfc6817")
MODE = choice("auto", "default")


class Vegas(Congestion):
    """Vegas of Linux: keeps between α and β segments of the flow in the queue, by the RTT.

    Parameters
    ----------
    alpha : int
        α: with fewer queued segments, the window grows by one segment per RTT. From 0.
        Default 2 (tcp_vegas).
    beta : int
        β: with more queued segments, the window shrinks by one segment per RTT. At least `alpha`.
        Default 4 (tcp_vegas).
    gamma : int
        γ: with more queued segments, slow start ends. From 0. Default 1 (tcp_vegas).
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
        Window below which growth and reduction are those of Reno, segments, from 0. Default 15
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


class Ledbat(Congestion):
    """LEDBAT++: background traffic that keeps a target of the queueing delay and yields.

    `initial_window` has no effect: a connection starts with two segments. For LEDBAT of RFC 6817,
    set `rules = "rfc6817"` and `target = "100 ms"`.

    Parameters
    ----------
    rules : {"plus-plus", "rfc6817"}
        Rules of the window. ``"plus-plus"``: LEDBAT++, with multiplicative decreases and slowdowns.
        ``"rfc6817"``: linear, without slow start and slowdowns. Default plus-plus
        (draft-irtf-iccrg-ledbat-plus-plus).
    target : Duration
        T, target of the queueing delay, above 0. Default 60 ms
        (draft-irtf-iccrg-ledbat-plus-plus); RFC 6817 §2.5 has at most 100 ms.
    gain : float
        Constant of the multiplicative decrease or, with ``"rfc6817"``, GAIN; above 0 and at most 1.
        Default 1 (draft-irtf-iccrg-ledbat-plus-plus).
    """

    recovery = "newreno"

    kind: Literal["ledbat"] = "ledbat"
    rules: Annotated[str, RULES] = "plus-plus"
    target: Duration = Duration.parse("60 ms")
    gain: Real = 1.0


class Copa(Congestion):
    """Copa: a target rate of one packet per δ queueing delays; 1/δ packets of a flow are queued.

    The flow is paced and requires SACK. Losses reduce the window only in competitive mode or above
    30 %.

    Parameters
    ----------
    delta : float
        δ of the default mode, above 0 and at most 1. Default 0.5 (Arun and Balakrishnan 2018).
    mode : {"auto", "default"}
        ``"auto"``: δ decreases while other flows fill the queue. ``"default"``: δ is constant.
        Default auto (Arun and Balakrishnan 2018).
    """

    recovery = "sack"

    kind: Literal["copa"] = "copa"
    delta: Real = 0.5
    mode: Annotated[str, MODE] = "auto"


class C2tcp(Congestion):
    """C2TCP: CUBIC of Linux with a limit of the RTT, for cellular paths.

    Parameters
    ----------
    alpha : float
        α: setpoint of the RTT in minimum RTTs, 1 to 1000, rounded to hundredths. Default 2 (the
        public kernel patch; its script has 1.5).
    epoch_pause : bool
        Ignore the setpoint in the first second of each epoch of CUBIC. Default True (the public
        kernel patch; the paper has no pause).
    """

    recovery = "newreno"

    kind: Literal["c2tcp"] = "c2tcp"
    alpha: Real = 2.0
    epoch_pause: Truth = True
