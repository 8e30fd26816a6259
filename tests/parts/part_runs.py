"""Short runs of parts in Python."""

from __future__ import annotations

from typing import Any

import airpath as ap

__all__ = ["dumbbell", "measured"]


def dumbbell(cc: Any, **changed: Any) -> ap.Scenario:
    """Return a short scenario in which two flows with losses share a link of 10 Mbit/s."""
    bottleneck = ap.Bottleneck(
        aqm=ap.aqm.DropTail(limit="20 packets"), link=ap.link.Fixed(rate="10 Mbit/s")
    )
    flows = ap.flows(2, cc=cc, base_rtt="40 ms", **changed)
    return ap.Scenario(flows=flows, bottleneck=bottleneck, duration="4 s")


def measured(scenario: ap.Scenario, reps: int = 2) -> Any:
    return ap.simulate(scenario, reps=reps, threads=1).replications
