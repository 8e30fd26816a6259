"""Small scenarios in their resolved form."""

from __future__ import annotations

import json
from typing import Any

import airpath as ap

BULK: dict[str, Any] = {
    "profile": "rfc",
    "mss": 1460,
    "header_bytes": 40,
    "initial_window": 4380,
    "initial_ssthresh": None,
    "receive_window": 65535,
    "recovery": "newreno",
    "window_growth": "abc-1",
    "exit_window": "burst-safe",
    "fast_retransmit_guard": "rfc",
    "partial_ack_timer": "first",
    "limited_transmit": True,
    "delayed_ack_segments": 2,
    "delayed_ack_timeout_ns": 200_000_000,
    "initial_rto_ns": 10**9,
    "min_rto_ns": 10**9,
    "max_rto_ns": 60 * 10**9,
    "max_backoff": 64,
    "rto_granularity_ns": 0,
    "srtt_gain": 0.125,
    "rttvar_gain": 0.25,
    "first_rttvar": "half",
    "handshake": True,
    "timestamps": False,
    "ecn": "off",
    "ecn_reaction": "rfc",
    "window_scaling": "exact",
    "sack_after_timeout": "forget",
    "idle_restart": "off",
    "grow_unused": True,
    "rto_floor": "total",
    "quick_acks": 0,
    "stack": "rfc",
    "flight_bound": "cwnd",
    "pacing": "off",
    "tso": False,
    "loss_detection": "sack",
    "tail_loss_probe": False,
    "frto": False,
    "undo": False,
    "dsack": False,
    "push": "off",
}
"""TCP parameters of a flow of the profile ``rfc``, written out independently of the table."""
LINK = ap.link.Fixed(rate="5 Mbit/s", delay="2.5 ms")


def scenario(**keys: Any) -> ap.Scenario:
    given = {
        "flows": ap.flows(base_rtt="40 ms"),
        "bottleneck": ap.Bottleneck(aqm=ap.aqm.Gred(), link=LINK),
        "duration": "300 s",
    }
    return ap.Scenario(**(given | keys))


def resolved(**keys: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(scenario(**keys).resolve()[0])
    return found
