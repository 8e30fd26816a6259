"""Fig. 2: a link of 10 Mbit/s, flows that join and leave (clamp-2008 §5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import airpath as ap
from airpath.reproduction.base import Effort
from airpath_papers.clamp.scenarios import NEWRENO

__all__ = [
    "BUFFER_BYTES",
    "JOINS_S",
    "LINK_CELLS",
    "LinkCase",
    "build_link",
    "effort_of_link",
    "fluid_queue_bytes",
]

A_BYTES: Final = 5500
TAU_BYTES: Final = 500
BUFFER_BYTES: Final = 19_500

JOINS_S: Final = ((0.0, 250.0), (50.0, 200.0), (100.0, 150.0))
"""When each flow starts and stops, s."""

RECORDED: Final = ("awnd", "cwnd", "queue", "average_queue", "delivered")


class LinkCase(NamedTuple):
    """Flows over the link.

    Parameters
    ----------
    clamp : bool
        CLAMP, else New Reno alone.
    flows : int
        How many, from the start to the end; 0 for those of Fig. 2, which join and leave.
    rate : str
        Of the link.
    rtt_ms : int
        Base RTT of every flow, ms.
    gain : int
        Factor of τ, a and b: the gain of every window update, at the same equilibrium.
    """

    clamp: bool
    flows: int = 0
    rate: str = "10 Mbit/s"
    rtt_ms: int = 50
    gain: int = 1


LINK_CELLS: Final[Sequence[LinkCase]] = [LinkCase(clamp=True), LinkCase(clamp=False)]


def effort_of_link(case: LinkCase) -> Effort:
    """Return how long a case is simulated: once, as nothing in it is drawn."""
    if case.flows:
        return Effort(replications=1, duration_s=300.0, warmup_s=100.0)
    return Effort(replications=1, duration_s=JOINS_S[0][1], warmup_s=0.0)


def build_link(case: LinkCase, effort: Effort) -> ap.Scenario:
    """Return the scenario of a case."""
    times = [(0.0, effort.duration_s)] * case.flows or JOINS_S
    same: dict[str, Any] = {"cc": "newreno", "tcp": NEWRENO, "base_rtt": f"{case.rtt_ms} ms"}
    if case.clamp:
        same["window"] = ap.window.Clamp(tau=f"{case.gain * TAU_BYTES} B")
    flows = [ap.traffic.Tcp(start=start, stop=stop, **same) for start, stop in times]
    large = ap.aqm.DropTail(limit="6 MB")
    return ap.Scenario(
        name="clamp link",
        duration=effort.duration_s,
        warmup=effort.warmup_s,
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.Clamp(a=f"{case.gain * A_BYTES} B", b=case.gain, inner=large)
            if case.clamp
            else ap.aqm.DropTail(limit=f"{BUFFER_BYTES} B"),
            link=ap.link.Fixed(rate=case.rate),
        ),
        flows=flows,
        record=ap.Record(
            series=[name for name in RECORDED if case.clamp or name != "average_queue"]
        ),
    )


def fluid_queue_bytes(flows: int) -> float:
    """Return kτ + a (Eq. 11 with b = 1)."""
    return flows * TAU_BYTES + A_BYTES
