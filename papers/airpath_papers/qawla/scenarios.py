"""The 54 scenarios of Tables 3 to 5: 18 rows of Table 2, each with B of 10, 20 and 30 packets.

One function, `path`, makes all of them; nothing depends on the row but Table 2's entries.
`simulated` is the topology of the paper's simulator (Fig. 4) with what that simulator adds;
`analysed` is the same path as the paper's model sees it. README.md lists every choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import airpath as ap
from airpath.reproduction.base import Cell, Effort
from airpath_papers.qawla.data import Traffic, inputs

__all__ = [
    "FRAME_OVERHEAD",
    "LINK_DELAY_NS",
    "WIRE_RATE",
    "analysed",
    "build",
    "path",
    "simulated",
]

LINK_DELAY_NS = 2_500_000
"""D_F, ns: framing and processing delay of each direction (§4)."""

WIRE_RATE = "1 Gbit/s"
"""Of every ingress and egress link (§5)."""

FRAME_OVERHEAD = "2 B"
"""PPP header of the paper's simulator; its deterministic cells show it (README.md)."""

GRED: Mapping[str, Any] = {"min_th": 30, "max_th": 90, "max_p": 0.1}
"""th_min, th_max in packets and p_max (§4)."""


def simulated(cell: Cell, effort: Effort) -> ap.Scenario:
    """Return the scenario of a cell (idx, B) as it is simulated."""
    idx, boundary = cell
    return build(idx, boundary, effort.duration_s, effort.warmup_s)


def analysed(cell: Cell) -> ap.Scenario:
    """Return the scenario of a cell (idx, B) as the paper's model has it (§3).

    The model knows no frame header, no transmission time on the wires and none of ACKs.
    """
    idx, boundary = cell
    return build(idx, boundary, idealised=True)


def build(
    idx: int,
    boundary: int,
    duration_s: float = 300.0,
    warmup_s: float = 30.0,
    *,
    idealised: bool = False,
) -> ap.Scenario:
    """Return the scenario of one cell.

    Parameters
    ----------
    idx : int
        Row of Table 2, 1 to 18.
    boundary : int
        B, packets, from 1. The paper has 10, 20 and 30.
    duration_s : float
        Simulated time, s. Default 300 s (§5).
    warmup_s : float
        Time that is not counted, s. Default 30 s (§5).
    idealised : bool
        Leave out what the paper's model leaves out. Default False.

    Returns
    -------
    scenario : Scenario
        One group for each flow, because each has its own delays.

    Raises
    ------
    ScenarioError
        If a time or `boundary` is not accepted.
    """
    case = inputs()[idx]
    return path(
        f"qawla idx {idx}, B = {boundary}",
        case.traffic,
        case.rate_mbps,
        case.per,
        [boundary],
        (duration_s, warmup_s),
        idealised=idealised,
    )


def path(
    name: str,
    traffic: Traffic,
    rates_mbps: Sequence[float],
    pers: Sequence[float],
    thresholds: Sequence[int],
    times_s: tuple[float, float],
    *,
    idealised: bool,
    record: Sequence[str] = (),
) -> ap.Scenario:
    """Return the path of Fig. 4 with a link of any number of regimes.

    Parameters
    ----------
    name : str
        Of the scenario.
    traffic : Traffic
        The flows.
    rates_mbps, pers : sequence of float
        Rate, Mbit/s, and packet error rate of each regime.
    thresholds : sequence of int
        Between them, packets, ascending.
    times_s : tuple of float
        Simulated time and what of it is not counted, s.
    idealised : bool
        Leave out what the paper's model leaves out.
    record : sequence of str
        Series to record. Default: none.
    """
    duration_s, warmup_s = times_s
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
        duration=float(duration_s),
        warmup=float(warmup_s),
        bottleneck=ap.Bottleneck(aqm=ap.aqm.Gred(**GRED), link=link),
        ack_path=ap.ack_path.Ideal() if idealised else _ack_path(rates_mbps[0]),
        flows=_flows(traffic.rtt0_ns(), idealised),
        record=ap.Record(series=list(record)),
    )


def _ack_path(rate_mbps: float) -> ap.ack_path.AckPath:
    # The paper ignores losses and queueing of ACKs (§2); r_1, the rate that is always there.
    return ap.ack_path.Link(
        link=ap.link.Fixed(rate=f"{rate_mbps} Mbit/s", delay=_ns(LINK_DELAY_NS)),
        aqm=ap.aqm.DropTail(limit=ap.units.Packets(1000)),
    )


def _flows(rtt0: Sequence[Fraction], idealised: bool) -> list[ap.traffic.Tcp]:
    egress = min(rtt0) / 4  # D_L (§5)
    # An ideal ACK path has no delay of its own: D_F of the way back moves into the wire.
    way_back = LINK_DELAY_NS if idealised else 0
    rate = None if idealised else WIRE_RATE
    return [
        ap.traffic.Tcp(
            cc="reno",
            profile="ns3-2014",
            access=ap.Wire(rate=rate, delay=_ns(rtt / 2 - egress)),  # D_R,i (§5)
            egress=ap.Wire(rate=rate, delay=_ns(egress)),
            return_wire=ap.Wire(rate=rate, delay=_ns(rtt / 2 + way_back)),
            start=ap.traffic.Uniform(uniform=["0 s", "1 s"]),
        )
        for rtt in rtt0
    ]


def _ns(time: Fraction | int) -> str:
    return f"{round(time)} ns"
