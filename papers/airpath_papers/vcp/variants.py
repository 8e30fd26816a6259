"""What the items change of the choices of README.md: a `Variant` by name for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import airpath as ap
from airpath_papers.vcp.scenarios import ACK_BYTES, AS_CHOSEN, DATA_BYTES, Case, Variant

__all__ = [
    "CAPACITIES",
    "LARGER",
    "MEASURED",
    "PROTECTION",
    "SHORT",
    "SPLIT",
    "SPLITS",
    "SPLIT_BYTES",
    "TEAR_DOWN",
    "UNIFORM",
    "WINDOW",
    "split_rate",
    "variant_of",
]

UNLIMITED: Final = {"receive_window": "64 MB", "initial_ssthresh": "unlimited"}

WINDOW: Final[Mapping[str, Variant]] = {
    "window-unlimited": Variant("TCP's window and first ssthresh unlimited", tcp=UNLIMITED),
}

LARGER: Final[Mapping[str, Variant]] = {
    "scale-4": Variant("40 Mbit/s, 40 + 40 flows", scale=4),
    "scale-4-unlimited": Variant(
        "40 Mbit/s, 40 + 40 flows, window unlimited", scale=4, tcp=UNLIMITED
    ),
    "rtt-2": Variant("twice the round trip", stretch=2),
    "rtt-2-unlimited": Variant("twice the round trip, window unlimited", stretch=2, tcp=UNLIMITED),
    "rtt-4": Variant("four times the round trip", stretch=4),
    "rtt-4-unlimited": Variant(
        "four times the round trip, window unlimited", stretch=4, tcp=UNLIMITED
    ),
}

_SMALL = {"up_to": "128 B", "code_rate": 0.5}
PROTECTED: Final[Mapping[str, Variant]] = {
    "acks": Variant("ACKs alone, rate 0.5", link={"small": _SMALL}, fec={"code_rate": 1.0}),
    "acks-more": Variant("data 0.93, ACKs 0.5", link={"small": _SMALL}),
}


def _uniform(data_on_air: int) -> float:
    """Return the rate of a uniform code with the bytes of data and of an ACK at 0.5."""
    return (DATA_BYTES + ACK_BYTES) / (data_on_air + 2 * ACK_BYTES)


UNIFORM: Final[Mapping[str, float]] = {
    "acks": _uniform(DATA_BYTES),
    "acks-more": _uniform(round(DATA_BYTES / 0.93)),
}
"""Code rate of the uniform code of the same bytes on the air, data and ACK together."""
PROTECTION: Final = PROTECTED

SPLIT_BYTES: Final = 1118 + 80
"""Bytes on the air of data and its ACK in the second pair: 0.93 and 0.5."""
SPLITS: Final = (42, 44, 46, 48, 50, 54, 80)
"""Bytes of an ACK on the air, of `SPLIT_BYTES`; 44 is the uniform code, 80 the pair itself."""


def split_rate(ack_on_air: int) -> float:
    """Return the code rate of data whose ACK has so many bytes on the air."""
    return DATA_BYTES / (SPLIT_BYTES - ack_on_air)


SPLIT: Final[Mapping[str, Variant]] = {
    f"split-{each}": Variant(
        f"{SPLIT_BYTES - each} + {each} B",
        link={"small": {"up_to": "128 B", "code_rate": ACK_BYTES / each}},
    )
    for each in SPLITS
}

TEAR_DOWN: Final[Mapping[str, Variant]] = {
    "tear-down-3": Variant(
        "aborted after 3 retransmissions of data or 1 of the SYN",
        tcp={"max_retries": 3, "max_syn_retries": 1},
    ),
    "tear-down-5": Variant(
        "aborted after 5 retransmissions of data or 2 of the SYN",
        tcp={"max_retries": 5, "max_syn_retries": 2},
    ),
}

CAPACITIES: Final[Mapping[str, Variant]] = {
    f"capacity{error:+d}": Variant(
        f"capacity {error:+d} %", queue={"capacity": f"{10 + error / 10:g} Mbit/s"}
    )
    for error in (-20, -10, -5, 5, 10, 20)
}

MEASURED: Final[Mapping[str, Variant]] = {
    "capacity-measured": Variant("capacity measured each 200 ms", queue={"capacity": "measured"}),
}

SHORT: Final[Mapping[str, Variant]] = {
    "short": Variant(
        "transfers of 30 kB at half the load",
        flows={
            "count": 600,
            "size": "30 kB",
            "start": "0 s",
            "arrivals": ap.traffic.Arrivals(poisson="20.83 /s"),
        },
    )
}
"""20.83 transfers/s of 30 kB: 5 Mbit/s of payload in each direction."""

_ALL: Final[Mapping[str, Variant]] = {
    "": AS_CHOSEN,
    **WINDOW,
    **LARGER,
    **PROTECTED,
    **SPLIT,
    **TEAR_DOWN,
    **CAPACITIES,
    **MEASURED,
    **SHORT,
}


def variant_of(case: Case) -> Variant:
    """Return what a case changes."""
    return _ALL[case.variant]
