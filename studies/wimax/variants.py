"""What the item ``sensitivity`` changes of the tables' setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from airpath_papers.wimax.scenarios import SEGMENT, Case, Variant
from airpath_papers.wimax.variants import variant_of as variant_of_paper

__all__ = ["SENSITIVITY", "variant_of"]


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


def variant_of(case: Case) -> Variant:
    """Return what a case changes."""
    return SENSITIVITY[case.variant] if case.variant in SENSITIVITY else variant_of_paper(case)
