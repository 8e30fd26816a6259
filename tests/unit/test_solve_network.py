"""Result of the fixed point over several hops."""

from __future__ import annotations

import json
from typing import Any

import pytest

import airpath as ap
from airpath import api
from airpath.engine.engine_input import EngineInput
from airpath.solutions import NetworkFixedPoint, Solution


def document() -> dict[str, Any]:
    """Return two hops: two TCP flows over both, a datagram flow over the second."""
    scenario = ap.Scenario(
        flows=ap.flows(2, cc="newreno", base_rtt="60 ms"),
        bottleneck=ap.Bottleneck(aqm="gred", link=ap.link.Fixed(rate="10 Mbit/s")),
        duration="20 s",
        warmup="5 s",
    )
    resolved: dict[str, Any] = json.loads(json.dumps(api.check(scenario).resolved.document))
    down = resolved.pop("bottleneck")
    for key in ("ack_path", "backhaul"):
        resolved.pop(key)
    slow = json.loads(json.dumps(down))
    slow["link"]["rate_bps"] = 8_000_000
    resolved["hops"] = [{"name": "core", "down": down}, {"name": "cell", "down": slow}]
    cross = {"kind": "cbr", "rate_bps": 2_000_000, "packet_bytes": 500}
    flow = {**resolved["flows"][0], "count": 1, "group": 1, "source": cross}
    resolved["flows"].append({**flow, "hops": ["cell", "cell"]})
    return resolved


def solution() -> Solution:
    found = json.loads(EngineInput(json.dumps(document())).solve(None, None, None))
    return Solution.of(found, {})


def test_solution_has_hops_flows_and_the_names_of_simulated_metrics() -> None:
    solved = solution()
    assert isinstance(solved, NetworkFixedPoint)
    assert [hop.name for hop in solved.hops] == ["core", "cell"]
    metrics = solved.metrics()
    assert metrics["queues.cell.mean_packets"] == solved.hops[1].queue_packets > 0
    assert metrics["links.core.utilisation"] == pytest.approx(0.6, abs=0.05)
    assert metrics["flows.0.mean_rtt_s"] == solved.flows[0].rtt_s
    assert "flows.2.mean_rtt_s" not in metrics
    assert metrics["ip_throughput_bps"] == sum(flow.throughput_bps for flow in solved.flows)


def test_document_and_tables_show_each_hop_and_flow() -> None:
    solved = solution()
    stored = json.loads(solved.to_json())
    assert stored["hops"][1]["name"] == "cell"
    assert stored["flows"][2]["rtt_s"] is None
    lines = solved.lines()
    assert [line.split(" ")[:3] for line in lines[1:]] == [
        ["hop", "core:", "queue"],
        ["hop", "cell:", "queue"],
    ]
    assert [row[2] == "" for row in solved.flow_table().rows] == [False, False, True]
