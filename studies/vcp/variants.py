"""What the studies change of the choices of the paper's README.md: a `Variant` by name for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from airpath.scenario import Wire
from airpath_papers.vcp.scenarios import AS_CHOSEN, Case, Variant
from airpath_papers.vcp.variants import WINDOW

__all__ = [
    "BAD_SHARE",
    "BURSTS",
    "BURST_BITS",
    "IGNORING",
    "OF_PROTOCOL",
    "PRIORITY",
    "SENSITIVITY",
    "variant_of",
]

PRIORITY: Final[Mapping[str, Variant]] = {
    "ack-priority": Variant("ACKs ahead of data", priority=True),
    "no-ack-priority": Variant("ACKs in line", priority=False),
}

SENSITIVITY: Final[Mapping[str, Variant]] = {
    "rem-packets": Variant("REM counts packets", queue={"mode": "packets"}),
    "rem-limit": Variant("REM's limit counts packets", queue={"limit": 100}),
    "rem-drops": Variant("REM drops", queue={"ecn": False}, tcp={"ecn": "off"}),
    **WINDOW,
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

IGNORING: Final[Mapping[str, Variant]] = {
    "ignore-loss": Variant("losses without an overload ignored", law={"on_loss": "ignore"}),
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

_ALL: Final[Mapping[str, Variant]] = {
    "": AS_CHOSEN,
    **PRIORITY,
    **SENSITIVITY,
    **IGNORING,
    **BURSTS,
}


def variant_of(case: Case) -> Variant:
    """Return what a case changes."""
    return _ALL[case.variant]
