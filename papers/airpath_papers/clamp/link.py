"""Fig. 2: a link of 10 Mbit/s with flows that start and stop (clamp-2008 §5.1)."""

from __future__ import annotations

from typing import Any, Final

import airpath as ap
from airpath_papers.clamp.scenarios import NEWRENO

__all__ = ["BUFFER_BYTES", "JOINS_S", "fluid_queue_bytes", "link"]

A_BYTES: Final = 5500
TAU_BYTES: Final = 500
BUFFER_BYTES: Final = 19_500

JOINS_S: Final = ((0.0, 250.0), (50.0, 200.0), (100.0, 150.0))
"""Start and stop time of each flow, s."""

STEADY_S: Final = 300.0
"""Stop time of each flow that is active from the start, s."""


def link(
    clamp: bool, flows: int = 0, rate: str = "10 Mbit/s", rtt_ms: int = 50, gain: int = 1
) -> ap.Scenario:
    """Return a scenario with flows over the link.

    Parameters
    ----------
    clamp : bool
        Whether to use CLAMP instead of only New Reno.
    flows : int
        Number of flows from start to end; 0 for the flows of Fig. 2, which start and stop.
    rate : str
        Rate of the link.
    rtt_ms : int
        Base RTT of every flow, ms.
    gain : int
        Factor of τ, a and b: the gain of every window update, at the same equilibrium.
    """
    times = [(0.0, STEADY_S)] * flows or JOINS_S
    same: dict[str, Any] = {"cc": "newreno", "tcp": NEWRENO, "base_rtt": f"{rtt_ms} ms"}
    if clamp:
        same["window"] = ap.window.Clamp(tau=f"{gain * TAU_BYTES} B")
    large = ap.aqm.DropTail(limit="6 MB")
    return ap.Scenario(
        name="clamp link",
        duration=STEADY_S,
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.Clamp(a=f"{gain * A_BYTES} B", b=gain, inner=large)
            if clamp
            else ap.aqm.DropTail(limit=f"{BUFFER_BYTES} B"),
            link=ap.link.Fixed(rate=rate),
        ),
        flows=[ap.traffic.Tcp(start=start, stop=stop, **same) for start, stop in times],
    )


def fluid_queue_bytes(flows: int) -> float:
    """Return kτ + a (Eq. 11 with b = 1)."""
    return flows * TAU_BYTES + A_BYTES
