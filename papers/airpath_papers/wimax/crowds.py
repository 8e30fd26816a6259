"""Scenarios beyond the paper: many stations with real ranging, uploads, short transfers."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import airpath as ap
from airpath.reproduction.base import Effort
from airpath_papers.wimax.scenarios import FRAME, grant_of, large_queue
from airpath_papers.wimax.scenarios import download as of_server

__all__ = [
    "COLLIDING",
    "COUNTS",
    "SIZES_KB",
    "Crowd",
    "build_crowd",
    "effort_of_crowd",
]

COUNTS: Final = (1, 2, 5, 10, 20, 40)
"""Stations."""

SIZES_KB: Final = (20, 50, 100, 200, 500)
"""Short transfers, kB."""

BASE_RTT_MS: Final = 100
WARMUP_S: Final = 5.0
DURATION_S: Final = 25.0


class Crowd(NamedTuple):
    """Stations with a download each.

    Parameters
    ----------
    policy : str
        ``uni``, ``blind-bi`` or ``adapt-bi``.
    stations : int
        How many.
    cc : str
        Congestion control.
    upload : bool
        Whether each station has a bulk flow upwards too.
    codes : int
        Ranging codes.
    size_kb : int
        Size of the transfers, kB; 0 for flows without end.
    """

    policy: str
    stations: int = 1
    cc: str = "newreno"
    upload: bool = False
    codes: int = 8
    size_kb: int = 0


COLLIDING: Final = {policy: Crowd(policy, 20, codes=1) for policy in ("uni", "adapt-bi")}
"""Stations that share too few codes; nothing is ever lost."""


def effort_of_crowd(case: Crowd, effort: Effort) -> Effort:
    """Return how long and how often a case is simulated, given the mode's effort."""
    if case.size_kb:
        return Effort(effort.replications, duration_s=30.0, warmup_s=0.0)
    runs = max(4, effort.replications // 10)
    return Effort(runs, duration_s=DURATION_S, warmup_s=WARMUP_S)


def build_crowd(case: Crowd, effort: Effort) -> ap.Scenario:
    """Return the scenario of a case: windows of 64 KB, 64QAM 5/6 in the downlink."""
    link = ap.link.OfdmaTdd(
        stations=case.stations,
        downlink_mcs="64qam-5/6",
        request=ap.request.Ranging(codes=case.codes),
        grant=grant_of(case.policy),
    )
    size: dict[str, Any] = {"size": f"{case.size_kb} kB"} if case.size_kb else {}
    start = FRAME if case.size_kb else ap.traffic.Uniform(uniform=["0 s", "1 s"])
    flows = [of_server(BASE_RTT_MS, {}, count=case.stations, cc=case.cc, start=start, **size)]
    if case.upload:
        wire = ap.Wire(delay=f"{BASE_RTT_MS} ms")
        same: dict[str, Any] = {"direction": "reverse", "cc": case.cc, "start": start}
        flows.append(ap.traffic.Tcp(count=case.stations, egress=wire, **same))
    return ap.Scenario(
        name=f"wimax {case.stations} stations",
        duration=effort.duration_s,
        warmup=effort.warmup_s,
        bottleneck=ap.Bottleneck(aqm=large_queue(), link=link),
        ack_path=ap.ack_path.Reverse(aqm=large_queue()),
        flows=flows,
    )
