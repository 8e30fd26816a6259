"""The model of MIMO links: document, output lines, and Reno compared with simulation."""

from __future__ import annotations

import json
from typing import Any

import pytest

import airpath as ap
from airpath.scenario import loads

pytestmark = pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")

GOOD = """
duration = "60 s"
warmup = "10 s"
[bottleneck]
aqm = {kind = "droptail", limit = "100 packets"}
[bottleneck.link]
kind = "mimo"
rate = "10 Mbit/s"
delay = "32 ms"
tx = 2
rx = 2
snr_db = 10
fec = {kind = "reed-solomon", code_rate = 0.93, symbol_bits = 8}
[ack_path]
kind = "reverse"
[[flows]]
count = 4
base_rtt = "89.6 ms"
tcp = {mss = "1000 B", delayed_ack_segments = 1, receive_window = "1 MB"}
"""


def solved(changes: dict[str, Any]) -> ap.solutions.Mimo:
    solution = ap.solve(loads(GOOD).replace(changes))
    assert isinstance(solution, ap.solutions.Mimo)
    return solution


def test_document_has_the_error_rates_of_both_directions() -> None:
    solution = solved({})
    document = json.loads(solution.to_json())
    assert document["model"] == "mimo"
    assert set(document["directions"]) == {"forward", "reverse"}
    forward = document["directions"]["forward"]
    assert forward["capacity_bps"] == 1e7 * 1040 / 1118
    segment, ack = forward["packets"]
    assert (segment["kind"], segment["bytes"], segment["on_air_bytes"]) == ("segment", 1040, 1118)
    assert (ack["kind"], ack["bytes"], ack["on_air_bytes"]) == ("ack", 40, 43)
    assert segment["failure"] == pytest.approx(2.46e-17, rel=0.01)
    assert ack["failure"] == pytest.approx(0.0224, rel=0.01)
    assert ack["snr_db"] == pytest.approx({"0.5": 4.86, "0.1": 7.47, "0.01": 11.2}, abs=0.02)
    assert document["no_throughput"] == []
    assert document["throughput_bps"] == pytest.approx(9.30e6, rel=0.01)
    assert len(document["flows"]) == 4


def test_text_output_has_error_rates_of_data_and_acks() -> None:
    lines = solved({}).lines()
    assert lines[0] == (
        "forward: symbol errors 0.000113 good, 0.0403 bad; 9.302 Mbit/s of IP packets"
    )
    assert lines[2] == (
        "  ACK of 40 B, 43 B on the air: failure 0.0224; 0.5 at 4.86 dB, 0.1 at 7.47 dB, "
        "0.01 at 11.20 dB; best code rate 0.96 (0.932 arrive)"
    )


def test_vcp_has_no_throughput() -> None:
    solution = solved({"flows.0": {"cc": "vcp", "profile": "ns2", "tcp": {}}})
    assert solution.throughput_bps is None
    assert solution.flows == []
    assert solution.no_throughput[0] == (
        'flows.0.cc = "vcp": there is no model of its throughput. Simulate it'
    )
    assert 'no throughput: flows.0.cc = "vcp"' in "\n".join(solution.lines())


def test_reno_is_near_the_simulation_when_limited_by_losses() -> None:
    """A 2×2 link without a code loses 0.5 % of the packets at 21 dB and 0.2 % at 22 dB. These
    losses, not the rate of the link, limit the flows.
    """
    for snr_db in (21, 22):
        changes = {"bottleneck.link": {"rate": "40 Mbit/s", "snr_db": snr_db, "fec": None}}
        solution = solved(changes)
        result = ap.simulate(loads(GOOD).replace(changes), reps=8)
        found = result.table("flows").groupby("replication")["ip_throughput_bps"].sum().mean()
        assert solution.throughput_bps == pytest.approx(found, rel=0.1)
