"""What the items ``sizing``, ``sensitivity`` and ``radio`` change of the tables' setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from airpath.scenario import Harq, MaxRate, ProportionalFair, Radio, Tagla
from airpath_papers.wimax.radio import DISTANCES_M, schemes_at
from airpath_papers.wimax.scenarios import AS_CHOSEN, ATTEMPT_ERROR, SEGMENT, Case, Variant

__all__ = [
    "DISTANCES",
    "ON_THE_RADIO",
    "RADIO",
    "SCHEDULED_RTTS_MS",
    "SCHEDULERS",
    "SENSITIVITY",
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


def _window(segments: float) -> dict[str, str]:
    return {"receive_window": f"{round(segments * SEGMENT)} B"}


SENSITIVITY: Final[Mapping[str, Variant]] = {
    "per-queue": Variant(
        "one request for a queue, the rest by piggyback", request={"per": "queue"}
    ),
    "first-transmission": Variant(
        "grants at the first transmission of data", grant={"when": "first-transmission"}
    ),
    "delivered": Variant("grants at the delivery of data", grant={"when": "delivered"}),
    "uplink-in-order": Variant("ACKs in order too", link={"in_order": {"down": True, "up": True}}),
    "piggyback-15ms": Variant(
        "a piggyback request takes 15 ms more, the mean of HARQ", request={"piggyback": "15 ms"}
    ),
    "piggyback-with-mpdu": Variant(
        "a piggyback request is read with its MPDU, after HARQ",
        link={"piggyback_read": "with-mpdu"},
    ),
    "fragments": Variant(
        "data is cut to fill a frame", link={"fragmentation": {"down": True, "up": True}}
    ),
    "same-frame": Variant("a map grants in its own frame", link={"map_relevance": 0}),
    "min-rto-200ms": Variant("smallest time-out 0.2 s", tcp={"min_rto": "200 ms"}),
    "min-rto-500ms": Variant("smallest time-out 0.5 s", tcp={"min_rto": "500 ms"}),
    "window-64kb": Variant("window 64 KB", tcp={"receive_window": "65535 B"}),
    "ssthresh-8": Variant("first ssthresh 8", tcp={"initial_ssthresh": f"{8 * SEGMENT} B"}),
    "ssthresh-16": Variant("first ssthresh 16", tcp={"initial_ssthresh": f"{16 * SEGMENT} B"}),
    "mss-1460": Variant("MSS 1460 B", tcp={"mss": "1460 B"}),
    "r-3.4": Variant("QPSK 1/2 down: R 3.4 Mbit/s", link={"downlink_mcs": "qpsk-1/2"}),
    "r-6.7": Variant("16QAM 1/2 down: R 6.7 Mbit/s", link={"downlink_mcs": "16qam-1/2"}),
    "no-handshake": Variant("no handshake", tcp={"handshake": False}),
    "r-10": Variant(
        "64QAM 2/3 down, window 20, ssthresh 8: the next best fit",
        link={"downlink_mcs": "64qam-2/3"},
        tcp={**_window(20), "initial_ssthresh": f"{8 * SEGMENT} B"},
    ),
}
"""One choice of README.md changed at a time, but for the last, by name."""

STATIONS: Final = 4
"""Stations under each scheduler, each with a download."""

SCHEDULED_RTTS_MS: Final = (20, 100, 200)

SCHEDULERS: Final[Mapping[str, Variant]] = {
    "round-robin": Variant("round robin", stations=STATIONS),
    "proportional-fair": Variant(
        "proportional fairness", link={"scheduler": ProportionalFair()}, stations=STATIONS
    ),
    "max-rate": Variant("largest rate", link={"scheduler": MaxRate()}, stations=STATIONS),
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
    radio = Radio(distance=f"{distance_m} m", policy=Tagla(th_per=ATTEMPT_ERROR))
    harq = Harq(attempts=4, round_trip="30 ms")
    cut = {"fragmentation": {"down": True, "up": True}}
    return Variant(f"{distance_m} m, radio", link={"radio": radio, "harq": harq, **cut})


RADIO: Final[Mapping[str, Variant]] = {f"{d}-m-radio": _over_the_radio(d) for d in DISTANCES_M}
"""The radio of §5.1 at several distances, by name."""

ON_THE_RADIO: Final = "1000-m-radio"
"""That of them which is run over RTT_min too."""

_ALL: Final[Mapping[str, Variant]] = {
    "": AS_CHOSEN,
    **SIZING,
    **SENSITIVITY,
    **SCHEDULERS,
    **DISTANCES,
    **RADIO,
}


def variant_of(case: Case) -> Variant:
    """Return what a case changes."""
    return _ALL[case.variant]
