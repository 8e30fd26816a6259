"""A sweep over all congestion control algorithms."""

from __future__ import annotations

import pytest

import airpath as ap
from airpath.scenario import FAMILIES

CONTROLS = [kind for kind in FAMILIES["congestion"].registry if kind != "clamp"]
"""All algorithms; CLAMP needs the prices of its queue discipline."""


# DCTCP and Prague use ECN over a queue that does not mark.
@pytest.mark.filterwarnings("ignore::airpath.errors.AdvisoryWarning")
def test_sweep_has_every_control_over_one_path() -> None:
    made = ap.Scenario(
        flows=ap.flows(cc="reno", profile="linux", base_rtt="40 ms"),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="66 packets"), link=ap.link.Fixed(rate="10 Mbit/s")
        ),
        duration="20 s",
        warmup="5 s",
    )
    # A name keeps the parameters that two algorithms share; a table has only its own.
    grid = {"flows.0.cc": [{"kind": kind} for kind in CONTROLS]}
    metrics = ["goodput_bps", "retransmissions", "mean_rtt_s"]
    points = ap.sweep(made, grid=grid, metrics=metrics, reps=1).points()
    assert len(points) == len(CONTROLS) * len(metrics)
    goodput = points[points["metric"] == "goodput_bps"]
    assert goodput["mean"].between(0.7 * 9.65e6, 9.7e6).all()
