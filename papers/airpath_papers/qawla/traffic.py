"""The 72 traffic scenarios of §4."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, Literal, NamedTuple

__all__ = ["FLOWS", "MEAN_RTT0_MS", "TRAFFIC", "Traffic"]

FLOWS: Final = (1, 2, 4, 8, 16)
"""N (§4)."""

MEAN_RTT0_MS: Final = (1, 5, 10, 20, 40, 60, 80, 100)
"""F, ms (§4)."""


class Traffic(NamedTuple):
    """N long-lived flows with fixed round-trip times of F ms on average."""

    spacing: Literal["SF", "SU"]
    """SF: all alike; SU: spaced uniformly."""
    flows: int
    """N."""
    mean_rtt0_ms: int
    """F, ms."""

    @property
    def name(self) -> str:
        """The paper's name: ``SU(4,40)``."""
        return f"{self.spacing}({self.flows},{self.mean_rtt0_ms})"

    def rtt0_ns(self) -> list[Fraction]:
        """Return RTT_0,i of every flow, ns: F, or 2 (i + 1) F / (N + 1) ms (§4)."""
        mean_ns = self.mean_rtt0_ms * 10**6
        if self.spacing == "SF":
            return [Fraction(mean_ns)] * self.flows
        return [Fraction(2 * (i + 1) * mean_ns, self.flows + 1) for i in range(self.flows)]


TRAFFIC: Final = tuple(
    Traffic(spacing, flows, mean_rtt0_ms)
    for spacing in ("SU", "SF")
    for flows in FLOWS
    for mean_rtt0_ms in MEAN_RTT0_MS
    # SF(1, F) is SU(1, F).
    if flows > 1 or spacing == "SU"
)
"""Every one of them once: 72."""
