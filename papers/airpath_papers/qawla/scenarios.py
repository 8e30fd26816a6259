"""Scenarios of Tables 3 to 5, and the sweeps that name them.

Scenarios differ only by the entries in their row of Table 2. A path is the topology of the paper's
simulator (Fig. 4), either with the simulator's overheads or idealised as in the paper's model.
README.md lists every choice.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Final, cast

import airpath as ap
from airpath.errors import ModelWarning
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath.solutions import FixedPoint
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.data import PACKET_BYTES, Published, Traffic, inputs, published_table

__all__ = [
    "GRED",
    "LINK_DELAY_NS",
    "MAX_WINDOW_PACKETS",
    "SWEEPS",
    "multi_regime_path",
    "path",
    "published",
    "solution",
]

LINK_DELAY_NS: Final = 2_500_000
"""Framing and processing delay D_F of each direction, ns (§4)."""

WIRE_RATE: Final = "1 Gbit/s"
"""Rate of every ingress and egress link (§5)."""

MAX_WINDOW_PACKETS: Final = 65536 / PACKET_BYTES
"""W_max of the analysis, packets: 64 kbytes (§4); the tables show that this is 65536 bytes."""

FRAME_OVERHEAD: Final = "2 B"
"""PPP header of the paper's simulator, derived from its deterministic cells (README.md)."""

GRED: Final[Mapping[str, Any]] = {"min_th": 30, "max_th": 90, "max_p": 0.1}
"""RED parameters: th_min and th_max, packets, and p_max (§4)."""


def path(idx: int, B: int, *, idealised: bool = False) -> ap.Scenario:  # noqa: N803  (the paper's)
    """Return the scenario of a cell.

    Parameters
    ----------
    idx : int
        Row of Table 2, 1 to 18.
    B : int
        Boundary of the regimes, packets, at least 1. The paper has 10, 20 and 30.
    idealised : bool
        Whether to omit the effects that the paper's model omits. Default False.
    """
    case, name = inputs()[idx], f"qawla idx {idx}, B = {B}"
    links = (case.traffic, case.rate_mbps, case.per, [B])
    return multi_regime_path(name, *links, idealised=idealised)


SWEEPS: Final = Sweeps(QAWLA, path)


@cache
def solution(cell: SweepPoint, of: Callable[..., ap.Scenario] = path) -> FixedPoint:
    """Return the solution of the paper's model at a cell (§3, Algorithm 1).

    Parameters
    ----------
    cell : SweepPoint
        Point whose axes are the parameters of `of`.
    of : callable
        Function that returns the scenario, with the argument `idealised`. Default: `path`.
    """
    scenario = of(**cell.axes, idealised=True)
    with warnings.catch_warnings():
        # The warning recommends the average; the tables show it next to the fixed point.
        warnings.simplefilter("ignore", ModelWarning)
        found = ap.solve(scenario, model="fixed-point", max_window_packets=MAX_WINDOW_PACKETS)
    return cast(FixedPoint, found)


def published(cell: SweepPoint) -> Published:
    """Return the row of a cell in Tables 3 to 5."""
    return published_table(cell.axes["B"])[cell.axes["idx"]]


def multi_regime_path(
    name: str,
    traffic: Traffic,
    rates_mbps: Sequence[float],
    pers: Sequence[float],
    thresholds: Sequence[int],
    *,
    idealised: bool,
) -> ap.Scenario:
    """Return the path of Fig. 4 with a link of any number of regimes, for the paper's 300 s.

    Parameters
    ----------
    name : str
        Name of the scenario.
    traffic : Traffic
        The flows. Each flow is a separate group, because the delays differ.
    rates_mbps, pers : sequence of float
        Rate, Mbit/s, and packet error rate of each regime.
    thresholds : sequence of int
        Queue lengths between the regimes, packets, ascending.
    idealised : bool
        Whether to omit the effects that the paper's model omits: the frame header, and transmission
        times on the wires and of ACKs.
    """
    link = ap.link.MultiRegime(
        regimes=[
            ap.link.Regime(rate=f"{rate} Mbit/s", per=per)
            for rate, per in zip(rates_mbps, pers, strict=True)
        ],
        thresholds=list(thresholds),
        delay=_ns(LINK_DELAY_NS),
        frame_overhead="0 B" if idealised else FRAME_OVERHEAD,
    )
    return ap.Scenario(
        name=name,
        duration="300 s",
        warmup="30 s",
        bottleneck=ap.Bottleneck(aqm=ap.aqm.Gred(**GRED), link=link),
        ack_path=ap.ack_path.Ideal() if idealised else _ack_path(rates_mbps[0]),
        flows=_flows(traffic.rtt0_ns(), idealised),
    )


def _ack_path(rate_mbps: float) -> ap.ack_path.AckPath:
    # The paper ignores losses and queueing of ACKs (§2). The rate is r_1, which is always
    # available.
    return ap.ack_path.Link(
        link=ap.link.Fixed(rate=f"{rate_mbps} Mbit/s", delay=_ns(LINK_DELAY_NS)),
        aqm=ap.aqm.DropTail(limit=ap.units.Packets(1000)),
    )


def _flows(rtt0: Sequence[Fraction], idealised: bool) -> list[ap.traffic.Tcp]:
    egress = min(rtt0) / 4  # D_L (§5)
    # An ideal ACK path has no delay: D_F of the reverse path moves into the wire.
    reverse = LINK_DELAY_NS if idealised else 0
    rate = None if idealised else WIRE_RATE
    return [
        ap.traffic.Tcp(
            cc="reno",
            profile="ns3-2014",
            access=ap.Wire(rate=rate, delay=_ns(rtt / 2 - egress)),  # D_R,i (§5)
            egress=ap.Wire(rate=rate, delay=_ns(egress)),
            return_wire=ap.Wire(rate=rate, delay=_ns(rtt / 2 + reverse)),
            start=ap.traffic.Uniform(uniform=["0 s", "1 s"]),
        )
        for rtt in rtt0
    ]


def _ns(time: Fraction | int) -> str:
    return f"{round(time)} ns"
