"""Compared quantities of paths with several hops."""

from __future__ import annotations

from typing import Any

import pytest

import airpath as ap
from airpath.comparison.quantities import quantities, result_values
from airpath.engine.prepared import prepare

FIXED = {"kind": "fixed", "rate": "5 Mbit/s"}
SLOWER = {"kind": "fixed", "rate": "4 Mbit/s"}
WIRE = {"rate": "20 Mbit/s", "delay": "3 ms", "limit": "50 packets"}
HOPS: list[dict[str, Any]] = [
    {"name": "plain", "wire": {"delay": "1 ms"}},
    {"name": "backhaul", "wire": WIRE},
    {"name": "acks-only", "up": {"link": FIXED}},
    {"name": "dsl", "link": FIXED, "delay": "5 ms"},
    {"name": "wifi", "link": SLOWER, "delay": "1 ms"},
]


def scenario(*flows: dict[str, Any], hops: Any = HOPS) -> ap.Scenario:
    flow = {"base_rtt": "40 ms", "cc": "newreno"}
    listed = [{**flow, **changed} for changed in flows or ({},)]
    return ap.Scenario(hops=hops, flows=listed, duration="4 s", warmup="1 s")


def compared(scenario: ap.Scenario) -> tuple[list[str], list[str], dict[str, list[float]]]:
    """Return the names of the compared queues and links, and all values."""
    result = ap.simulate(scenario, reps=2)
    wanted = quantities(result.resolved, result.replications)
    names = [each.name for each in wanted]

    def of(scope: str) -> list[str]:
        found = [name.split(".")[1] for name in names if name.startswith(f"{scope}.")]
        return list(dict.fromkeys(found))

    return of("queues"), of("links"), result_values(result, wanted)


def test_hops_that_data_traverse_are_compared_in_the_order_of_results() -> None:
    queues, links, values = compared(scenario())
    expected = ["wifi", "wifi_reverse", "dsl", "dsl_reverse", "backhaul", "backhaul_reverse"]
    assert (queues, links) == (expected, expected)
    assert values["links.wifi.utilisation"] == pytest.approx([1, 1], rel=0.05)
    assert values["links.dsl.utilisation"] == pytest.approx([0.8, 0.8], rel=0.05)
    assert values["queues.dsl.mean_packets"] < values["queues.wifi.mean_packets"]
    assert values["links.backhaul.lost_share"] == [0, 0]


def test_hop_for_acks_is_compared_if_data_of_uploads_traverse_it() -> None:
    queues, _, values = compared(scenario({}, {"direction": "reverse"}))
    assert queues.index("acks-only") == 4
    assert min(values["queues.acks-only.mean_packets"]) > 0


def test_hop_outside_of_all_routes_is_not_compared() -> None:
    queues, links, _ = compared(scenario({"from": "wifi"}))
    assert queues == links == ["wifi", "wifi_reverse"]


def test_queues_of_four_users_of_each_hop_are_compared() -> None:
    rate = {"kind": "shannon", "bandwidth": "5 MHz"}
    cell = {"kind": "cell", "slot": "3 ms", "rate": rate}
    cell["snr"] = {"kind": "constant", "mean": "15 dB"}
    hops = [{"name": "backhaul", "wire": WIRE}, {"name": "cell", "down": {"link": cell}}]
    queues, _, _ = compared(scenario(*({"user": user} for user in range(6)), hops=hops))
    of_cell = [f"cell/user {user}" for user in range(4)]
    assert queues == [*of_cell, "backhaul", "backhaul_reverse"]


def test_short_form_and_its_hops_are_compared_alike() -> None:
    flows = ap.flows(2, base_rtt="40 ms")
    aqm = ap.aqm.DropTail(limit="50 packets")
    link = ap.link.Fixed(rate="5 Mbit/s", delay="5 ms")
    short = ap.Scenario(
        flows=flows,
        bottleneck=ap.Bottleneck(aqm=aqm, link=link),
        ack_path=ap.ack_path.Reverse(),
        duration="4 s",
    )
    hops = [{"name": "bottleneck", "aqm": "droptail", "link": FIXED, "delay": "5 ms"}]
    hops[0]["down"] = {"aqm": {"kind": "droptail", "limit": "50 packets"}}
    listed = ap.Scenario(hops=hops, flows=flows, duration="4 s")
    assert compared(short)[:2] == compared(listed)[:2]


def test_without_replications_the_forward_links_are_compared() -> None:
    names = [each.name for each in quantities(prepare(scenario()).resolved, ())]
    shares = [name for name in names if name.endswith(".lost_share")]
    assert shares == [f"links.{name}.lost_share" for name in ("wifi", "dsl", "backhaul")]
    assert "queues.wifi.mean_packets" in names
