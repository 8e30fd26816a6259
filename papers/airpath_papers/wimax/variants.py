"""What the items ``sizing`` and ``radio`` change of the tables' setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import airpath as ap
from airpath_papers.wimax.radio import DISTANCES_M, schemes_at
from airpath_papers.wimax.scenarios import AS_CHOSEN, ATTEMPT_ERROR, Case, Variant

__all__ = [
    "DISTANCES",
    "ON_THE_RADIO",
    "RADIO",
    "SCHEDULED_RTTS_MS",
    "SCHEDULERS",
    "SIZING",
    "STATIONS",
    "variant_of",
]

SIZING: Final[Mapping[str, Variant]] = {
    "ack-per-segment": Variant("an ACK for each segment", tcp={"delayed_ack_segments": 1}),
    "timestamps": Variant("timestamps: ACKs of 58 bytes", tcp={"timestamps": True}),
    "timestamps-per-segment": Variant(
        "timestamps, an ACK for each segment", tcp={"timestamps": True, "delayed_ack_segments": 1}
    ),
    "packing": Variant("downlink packets share MPDUs", link={"packing": {"down": True}}),
}
"""Grants stay at 46 bytes (wimax-2009 §4.1)."""


STATIONS: Final = 4
"""Stations under each scheduler, each with a download."""

SCHEDULED_RTTS_MS: Final = (20, 100, 200)

SCHEDULERS: Final[Mapping[str, Variant]] = {
    "round-robin": Variant("round robin", stations=STATIONS),
    "proportional-fair": Variant(
        "proportional fairness",
        link={"scheduler": ap.scheduler.ProportionalFair()},
        stations=STATIONS,
    ),
    "max-rate": Variant(
        "largest rate", link={"scheduler": ap.scheduler.MaxRate()}, stations=STATIONS
    ),
}
"""Schedulers of both directions, by name."""


def _at_distance(distance_m: int) -> Variant:
    found = schemes_at(distance_m)
    about = f"{distance_m} m: {found.downlink} at {found.downlink_db:.0f} dB down, "
    about += f"{found.uplink} at {found.uplink_db:.0f} dB up"
    schemes = {"downlink_mcs": found.downlink, "uplink_mcs": found.uplink}
    # A packet is more than a frame of the slowest schemes.
    return Variant(about, link={**schemes, "fragmentation": {"down": True, "up": True}})


DISTANCES: Final[Mapping[str, Variant]] = {f"{d}-m": _at_distance(d) for d in DISTANCES_M}
"""Modulation and coding as the mean SNR at a distance allows, by name."""


def _over_the_radio(distance_m: int) -> Variant:
    """Return the radio at a distance: it makes the errors that the tables emulate."""
    radio = ap.link.Radio(distance=f"{distance_m} m", policy=ap.policy.Tagla(th_per=ATTEMPT_ERROR))
    harq = ap.link.Harq(attempts=4, round_trip="30 ms")
    cut = {"fragmentation": {"down": True, "up": True}}
    return Variant(f"{distance_m} m, radio", link={"radio": radio, "harq": harq, **cut})


RADIO: Final[Mapping[str, Variant]] = {f"{d}-m-radio": _over_the_radio(d) for d in DISTANCES_M}
"""The radio of §5.1 at several distances, by name."""

ON_THE_RADIO: Final = "1000-m-radio"
"""That of them which is run over RTT_min too."""

_ALL: Final[Mapping[str, Variant]] = {
    "": AS_CHOSEN,
    **SIZING,
    **SCHEDULERS,
    **DISTANCES,
    **RADIO,
}


def variant_of(case: Case) -> Variant:
    """Return what a case changes."""
    return _ALL[case.variant]
