"""Scenarios of the study: scheduling requests as in LTE and NR, and periodic grants."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import airpath as ap
from airpath.reproduction.sweeps import Sweeps
from airpath_papers.wimax.claims import SWEEPS as OF_PAPER
from airpath_papers.wimax.scenarios import PATH, grant_of, of_server, on_link, recovery

__all__ = ["DIRECTORY", "PRESETS", "SWEEPS", "access"]

DIRECTORY: Final = Path(__file__).parent

_SAME: Final[Mapping[str, Any]] = {
    "slot_symbols": 132,
    "map_overhead": 0,
    "map_relevance": 4,
    "downlink_mcs": "64qam-5/6",
    "uplink_mcs": "16qam-1/2",
    "closed": "0 s",
}

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "lte": {
        **_SAME,
        "frame": "1 ms",
        "downlink_slots": 50,
        "uplink_slots": 50,
        "decoded": "1 ms",
        "received": "1 ms",
    },
    "nr": {
        **_SAME,
        "frame": "500 us",
        "downlink_slots": 51,
        "uplink_slots": 51,
        "decoded": "500 us",
        "received": "500 us",
    },
    "wimax": {},
}
"""Parameters of the links.

LTE-like: 10 MHz, 50 pairs of resource blocks of 132 data symbols in a subframe of 1 ms, 4 ms from a
grant to data. NR-like: slots of 0.5 ms. ``wimax``: the link of the paper.
"""

ROUND_TRIPS: Final = {"lte": "8 ms", "nr": "4 ms"}
"""HARQ round-trip times; one attempt in ten fails."""


def access(preset: str, period_ms: int, policy: str, *, lone: bool = False) -> ap.Scenario:
    """Return a scenario of one station with scheduling requests, or contention on the paper's link.

    A download has an RTT_min of 40 ms; on the paper's link, 100 ms.

    Parameters
    ----------
    preset : str
        A key of `PRESETS`.
    period_ms : int
        Period of scheduling requests, ms; 0 for the paper's link.
    policy : str
        ``uni``, ``blind-bi``, ``adapt-bi``, or ``unsolicited``, with a grant every 5 ms.
    lone : bool
        Whether to send single uplink packets instead of a download: one every 20 s on average, so
        that their delays are independent.
    """
    ahead = {"period": "5 ms"} if policy == "unsolicited" else {}
    of_paper: Any = PATH.bottleneck.link
    link: dict[str, Any] = {**PRESETS[preset], "grant": grant_of(policy, **ahead)}
    flow: ap.traffic.Tcp | ap.traffic.Poisson = of_server(40, tcp={})
    if period_ms:
        link["request"] = ap.request.SchedulingRequest(period=f"{period_ms} ms")
        if not lone:
            link["harq"] = ap.link.Harq(attempts=4, error=0.1, round_trip=ROUND_TRIPS[preset])
    else:
        flow = of_server(100)
        link |= {"request": of_paper.request, **recovery(0.0)}
    if lone:
        wire = ap.Wire(delay="10 ms")
        flow = ap.traffic.Poisson(direction="reverse", rate="40 bit/s", packet="100 B", egress=wire)
    return on_link(ap.link.OfdmaTdd(**link), flow)


SWEEPS: Final = Sweeps(DIRECTORY, access, parent=OF_PAPER)
