"""What the items change of the choices of README.md: a `Variant` by name for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from airpath.scenario import Arrivals, Wire
from airpath_papers.vcp.scenarios import ACK_BYTES, AS_CHOSEN, DATA_BYTES, Case, Variant

__all__ = [
    "BURSTS",
    "CAPACITIES",
    "LARGER",
    "MEASURED",
    "PRIORITY",
    "PROTECTION",
    "SENSITIVITY",
    "SHORT",
    "SPLIT",
    "SPLITS",
    "SPLIT_BYTES",
    "TEAR_DOWN",
    "UNIFORM",
    "split_rate",
    "variant_of",
]

UNLIMITED: Final = {"receive_window": "64 MB", "initial_ssthresh": "unlimited"}

PRIORITY: Final[Mapping[str, Variant]] = {
    "ack-priority": Variant("ACKs ahead of data", priority=True),
    "no-ack-priority": Variant("ACKs in line", priority=False),
}

SENSITIVITY: Final[Mapping[str, Variant]] = {
    "rem-packets": Variant("REM counts packets", queue={"mode": "packets"}),
    "rem-limit": Variant("REM's limit counts packets", queue={"limit": 100}),
    "rem-drops": Variant("REM drops", queue={"ecn": False}, tcp={"ecn": "off"}),
    "window-unlimited": Variant("TCP's window and first ssthresh unlimited", tcp=UNLIMITED),
    "gamma-0.95": Variant("γ = 0.95", queue={"target": 0.95}),
    "public-average": Variant("the public code's average", queue={"average": "public-code"}),
    "scaling-rho": Variant("AI by (rtt / t_ρ)²", law={"scaling": "squared"}),
    "scaling-linear": Variant("AI by rtt / t_ρ", law={"scaling": "linear"}),
    "no-limiters": Variant("no limiters of small windows", law={"limiters": False}),
    "freeze-always": Variant("frozen regardless of the code", law={"freeze": "unconditional"}),
    "no-ticks": Variant("exact times instead of ticks of 10 ms", law={"granularity": "0 s"}),
    "rto-6s": Variant("first time-out 6 s", tcp={"initial_rto": "6 s"}),
    "unequal-wires": Variant(
        "12.8 ms behind the queue of ACKs, 0 ms in front",
        flows={"ack_access": None, "return_wire": Wire(rate="20 Mbit/s", delay="12.8 ms")},
    ),
}
"""Those of queue and law hold for one of the two transports, the others for both."""

OF_PROTOCOL: Final[Mapping[str, tuple[str, ...]]] = {
    "rem-packets": ("tcp-rem",),
    "rem-limit": ("tcp-rem",),
    "rem-drops": ("tcp-rem",),
    "window-unlimited": ("tcp-rem",),
    "gamma-0.95": ("vcp",),
    "public-average": ("vcp",),
    "scaling-rho": ("vcp",),
    "scaling-linear": ("vcp",),
    "no-limiters": ("vcp",),
    "freeze-always": ("vcp",),
    "no-ticks": ("vcp",),
    "rto-6s": ("vcp", "tcp-rem"),
    "unequal-wires": ("vcp", "tcp-rem"),
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

IGNORING: Final[Mapping[str, Variant]] = {
    "ignore-loss": Variant("losses without an overload ignored", law={"on_loss": "ignore"}),
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

BURST_BITS: Final = (8, 80, 800, 8_000, 80_000, 1_000_000)
BAD_SHARE: Final = 0.00125 / (0.00125 + 0.125)
"""Share of bad bits, that of the paper's chain."""


def _burst(bits: int) -> dict[str, float]:
    leave = 1 / bits
    return {"p_bad_to_good": leave, "p_good_to_bad": leave * BAD_SHARE / (1 - BAD_SHARE)}


BURSTS: Final[Mapping[str, Variant]] = {
    f"bursts-{bits}": Variant(f"bursts of {bits:,} bits", link=_burst(bits)) for bits in BURST_BITS
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
            "arrivals": Arrivals(poisson="20.83 /s"),
        },
    )
}
"""20.83 transfers/s of 30 kB: 5 Mbit/s of payload in each direction."""

_ALL: Final[Mapping[str, Variant]] = {
    "": AS_CHOSEN,
    **PRIORITY,
    **SENSITIVITY,
    **LARGER,
    **IGNORING,
    **PROTECTED,
    **SPLIT,
    **TEAR_DOWN,
    **BURSTS,
    **CAPACITIES,
    **MEASURED,
    **SHORT,
}


def variant_of(case: Case) -> Variant:
    """Return what a case changes."""
    return _ALL[case.variant]
