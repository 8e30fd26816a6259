"""The stage model without losses compared with simulation of a fixed link (wimax-2009 §3)."""

from __future__ import annotations

import pytest

import airpath as ap
from airpath.models import rtt_stages
from airpath.scenario import loads

MSS, WINDOW = 960, 64
"""Payload of a segment, bytes (1000 B with headers, 1.6 ms at 5 Mbit/s), and window, segments."""


@pytest.mark.parametrize("segments", [64, 1024, 5000, 16000])
@pytest.mark.parametrize("contention_ms", [10, 30, 60])
def test_model_without_losses_equals_tcp_over_a_fixed_link(
    segments: int, contention_ms: int
) -> None:
    """T_ct is part of the round trip of the fixed link. ssthresh and window: 64 segments; initial
    window: 1 segment.
    """
    half_ms = (100 + contention_ms) / 2
    scenario = loads(f"""
        duration = "600 s"
        [bottleneck]
        aqm = {{kind = "droptail", limit = "1000 packets"}}
        link = {{kind = "fixed", rate = "5 Mbit/s"}}
        [[flows]]
        size = "{segments * MSS} B"
        cc = "reno"
        access = {{delay = "{half_ms} ms"}}
        return = {{delay = "{half_ms} ms"}}
        [flows.tcp]
        mss = "{MSS} B"
        receive_window = "{WINDOW * MSS} B"
        initial_ssthresh = "{WINDOW * MSS} B"
        initial_window = "1 segments"
        delayed_ack_segments = 1
        handshake = false
    """)
    simulated_s = float(ap.simulate(scenario, reps=1).table("transfers").iloc[0]["mean_s"])
    found = rtt_stages(
        *(segments * MSS, MSS, 4.8e6, 0.1, contention_ms / 1e3, 0.0, 0.0, 1, WINDOW, WINDOW),
        queue="draining",
    )
    solved_s = 8 * segments * MSS / found.goodput_bps
    if segments in (64, 1024):
        # The last stage has one packet.
        assert simulated_s == pytest.approx(solved_s, rel=1e-6)
    # If the last stage has several packets, each packet after the first adds 1.6 ms.
    assert solved_s <= simulated_s * (1 + 1e-6)
    assert simulated_s - solved_s <= (WINDOW - 1) * 1.6e-3
    if segments == 16000:
        assert simulated_s == pytest.approx(solved_s, rel=0.005)
