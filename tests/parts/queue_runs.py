"""Runs of short scenarios with a queue discipline."""

from __future__ import annotations

from typing import Any

import airpath as ap


def dumbbell(aqm: Any, flows: int = 2, **changed: Any) -> ap.Scenario:
    """Return a short scenario in which flows share a link of 10 Mbit/s."""
    bottleneck = ap.Bottleneck(aqm=aqm, link=ap.link.Fixed(rate="10 Mbit/s"))
    settings = {"cc": "newreno", "base_rtt": "40 ms", **changed}
    return ap.Scenario(flows=ap.flows(flows, **settings), bottleneck=bottleneck, duration="4 s")


def measured(scenario: ap.Scenario, reps: int = 1) -> Any:
    return ap.simulate(scenario, reps=reps, threads=1).replications
