"""Scenarios beyond the paper: scheduling requests as in LTE and NR, and grants at regular times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath.reproduction.base import Effort
from airpath_papers.wimax.scenarios import (
    CONTENTION,
    TCP,
    download,
    grant_of,
    large_queue,
    recovery,
)

__all__ = [
    "ACCESS_POLICIES",
    "PERIODS_MS",
    "PRESETS",
    "Access",
    "build_access",
    "effort_of_access",
]

PERIODS_MS: Final = (5, 10, 20, 80)
"""Of scheduling requests."""

ACCESS_POLICIES: Final = ("uni", "blind-bi", "adapt-bi", "unsolicited")

_SAME: Final[Mapping[str, Any]] = {
    "slot_symbols": 132,
    "map_overhead": 0,
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
        "map_relevance": 4,
    },
    "nr": {
        **_SAME,
        "frame": "500 us",
        "downlink_slots": 51,
        "uplink_slots": 51,
        "decoded": "500 us",
        "received": "500 us",
        "map_relevance": 4,
    },
    "wimax": {},
}
"""LTE-like: 10 MHz, 50 pairs of resource blocks of 132 data symbols in a subframe of 1 ms, 4 ms
from a grant to data. NR-like: slots of 0.5 ms. The link of the paper."""

ROUND_TRIPS: Final = {"lte": "8 ms", "nr": "4 ms"}
"""Of HARQ; one attempt in ten fails."""

UNSOLICITED: Final = "5 ms"
"""Period of grants at regular times."""

LONE_PACKETS: Final = 10_000


class Access(NamedTuple):
    """One station that asks by scheduling requests; over the paper's link, by contention.

    Parameters
    ----------
    preset : str
        A key of `PRESETS`.
    period_ms : int
        Of scheduling requests; 0 for the paper's link.
    policy : str
        One of `ACCESS_POLICIES`.
    lone : bool
        Single packets upwards in the place of a download.
    """

    preset: str
    period_ms: int
    policy: str
    lone: bool = False


def effort_of_access(case: Access, effort: Effort) -> Effort:
    """Return how long and how often a case is simulated, given the mode's effort."""
    if case.lone:
        return Effort(2, duration_s=20.0 * LONE_PACKETS / 2, warmup_s=0.0)
    return Effort(max(4, effort.replications // 5), duration_s=25.0, warmup_s=5.0)


def build_access(case: Access, effort: Effort) -> ap.Scenario:
    """Return the scenario: a download with RTT_min 40 ms; over the paper's link 100 ms."""
    ahead = {"period": UNSOLICITED} if case.policy == "unsolicited" else None
    link: dict[str, Any] = {**PRESETS[case.preset], "grant": grant_of(case.policy, ahead)}
    tcp: Mapping[str, Any] = {}
    base_rtt_ms = 40
    if case.period_ms:
        link["request"] = ap.request.SchedulingRequest(period=f"{case.period_ms} ms")
        if not case.lone:
            link["harq"] = ap.link.Harq(attempts=4, error=0.1, round_trip=ROUND_TRIPS[case.preset])
    else:
        base_rtt_ms, tcp = 100, TCP
        link |= {"request": ap.request.RandomDelay(**CONTENTION, per="packet"), **recovery(0.0)}
    flow: ap.traffic.Tcp | ap.traffic.Poisson = download(base_rtt_ms, tcp)
    if case.lone:
        # One packet in 20 s: the next one finds nothing of the last.
        wire = ap.Wire(delay="10 ms")
        flow = ap.traffic.Poisson(direction="reverse", rate="40 bit/s", packet="100 B", egress=wire)
    return ap.Scenario(
        name=f"wimax {case.preset} {case.policy}",
        duration=effort.duration_s,
        warmup=effort.warmup_s,
        bottleneck=ap.Bottleneck(aqm=large_queue(), link=ap.link.OfdmaTdd(**link)),
        ack_path=ap.ack_path.Reverse(aqm=large_queue()),
        flows=[flow],
    )
