"""Datagram flows: goodput is payload, and losses are counted in packets."""

from __future__ import annotations

import math
from typing import Any

import pytest

import airpath as ap
from airpath.scenario import loads
from airpath.sweeps.job import job_of, run_job
from airpath.sweeps.metrics import evaluate, solve_metrics

LOSSES = ("lost_datagrams", "loss_ratio")
HEADERS = 28
"""IPv4 and UDP headers, bytes."""


def scenario(*flows: ap.traffic.Source, **keys: Any) -> ap.Scenario:
    link = ap.link.Fixed(rate="10 Mbit/s", loss=keys.pop("loss", 0))
    given: dict[str, Any] = {
        "flows": list(flows) or ap.flows(source="cbr", rate="1 Mbit/s", packet="100 B"),
        "bottleneck": ap.Bottleneck(aqm=ap.aqm.DropTail(limit="50 packets"), link=link),
        "duration": "11 s",
        "warmup": "1 s",
    }
    return ap.Scenario(**(given | keys))


# --- payload -----------------------------------------------------------------------------------


def test_goodput_of_datagrams_is_payload() -> None:
    """Regression: goodput counted complete IP packets of datagrams, but payload of TCP flows."""
    made = scenario(record={"series": ["delivered"]})
    result = ap.simulate(made, reps=1)
    [flow] = result.table("flows").to_dict("records")
    assert flow["ip_throughput_bps"] == pytest.approx(1e6, rel=1e-3)
    assert flow["goodput_bps"] == pytest.approx(1e6 * (100 - HEADERS) / 100, rel=1e-3)
    assert flow["delivered_bytes"] == flow["delivered_packets"] * (100 - HEADERS)
    assert set(result.series("delivered")["value"]) == {100 - HEADERS}


def test_datagram_without_space_for_its_headers_has_no_payload() -> None:
    result = ap.simulate(scenario(*ap.flows(source="cbr", rate="1 Mbit/s", packet="28 B")), reps=1)
    [flow] = result.table("flows").to_dict("records")
    assert (flow["goodput_bps"], flow["delivered_bytes"]) == (0, 0)
    assert flow["delivered_packets"] > 40_000
    assert not [found for found in result.advisories if found.code == "nothing-delivered"]


def test_phase_counts_the_payload_of_its_datagrams() -> None:
    control = [{"at": "6 s", "rate": "10 Mbit/s"}]
    phases = ap.simulate(scenario(control=control), reps=1).table("phases")
    assert phases["goodput_bps"].to_numpy() == pytest.approx(0.72e6, rel=1e-3)


def test_model_reports_the_payload_of_datagrams() -> None:
    solution = ap.solve(
        loads(
            'duration = "20 s"\n'
            'bottleneck = {aqm = "droptail", link = {kind = "fixed", rate = "10 Mbit/s"}}\n'
            'flows = [{source = "poisson", rate = "1 Mbit/s", packet = "100 B"}]\n'
        )
    )
    found = solve_metrics(["goodput_bps", "flows.0.goodput_bps"], solution)
    assert list(found.values()) == pytest.approx([0.72e6, 0.72e6])


# --- losses ------------------------------------------------------------------------------------


def test_losses_cover_packets_sent_after_the_warm_up() -> None:
    flow = ap.flows(source="poisson", rate="2 Mbit/s", packet="500 B", base_rtt="40 ms")
    made = scenario(*flow, loss=0.1, record={"flow_monitor": True})
    result = ap.simulate(made, reps=3, seed=4)
    stats = result.flow_monitor()
    for row in result.table("flows").to_dict("records"):
        [monitored] = stats[stats["replication"] == row["replication"]].to_dict("records")
        assert row["sent_packets"] == monitored["txPackets"]
        assert row["delivered_packets"] == monitored["rxPackets"]
        assert row["lost_datagrams"] == monitored["lostPackets"] > 300
        decided = row["delivered_packets"] + row["lost_datagrams"]
        assert 0 <= row["sent_packets"] - decided <= 60
        assert row["loss_ratio"] == row["lost_datagrams"] / decided
    # 5000 packets in each of three replications; tolerance: five standard errors.
    error = math.sqrt(0.1 * 0.9 / 15_000)
    assert result.summary().loc[0, ("loss_ratio", "mean")] == pytest.approx(0.1, abs=5 * error)


def test_delivered_datagrams_do_not_exceed_sent_ones() -> None:
    """Regression: 1250 datagrams were sent after the warm-up and 1257 were delivered, because 7
    were in flight at the end of the warm-up.
    """
    made = scenario(*ap.flows(source="cbr", rate="1.5 Mbit/s", base_rtt="112 ms"))
    [flow] = ap.simulate(made, reps=1).table("flows").to_dict("records")
    assert flow["sent_packets"] == 1250
    assert flow["sent_packets"] - flow["delivered_packets"] == 7
    assert (flow["lost_datagrams"], flow["loss_ratio"]) == (0, 0)
    # Payload of all datagrams that arrived in the measured time, as for TCP.
    assert flow["delivered_bytes"] == 1250 * (1500 - HEADERS)


def test_path_without_deliveries_loses_all_datagrams() -> None:
    control = [{"at": "1 s", "rate": "0 bit/s"}]
    [flow] = ap.simulate(scenario(control=control), reps=1).table("flows").to_dict("records")
    assert flow["delivered_packets"] == 0
    assert flow["loss_ratio"] == 1
    # In flight at the end: 50 packets in the queue, one on the link.
    assert flow["sent_packets"] - flow["lost_datagrams"] == 51


def test_losses_of_several_flows_are_summed() -> None:
    flows = [
        *ap.flows(base_rtt="20 ms", cc="reno"),
        *ap.flows(2, source="cbr", rate="1 Mbit/s", packet="500 B"),
        *ap.flows(source="cbr", rate="3 Mbit/s", packet="500 B"),
    ]
    result = ap.simulate(scenario(*flows, loss=0.05), reps=1)
    tcp, *datagrams = result.table("flows").to_dict("records")
    assert math.isnan(tcp["lost_datagrams"])
    assert math.isnan(tcp["loss_ratio"])
    lost = sum(row["lost_datagrams"] for row in datagrams)
    delivered = sum(row["delivered_packets"] for row in datagrams)
    everything = result.summary().loc["all"]
    assert everything[("lost_datagrams", "mean")] == lost > 100
    assert everything[("loss_ratio", "mean")] == pytest.approx(lost / (lost + delivered))
    of_tcp, *_, of_last = result.table("groups").to_dict("records")
    assert math.isnan(of_tcp["loss_ratio"])
    assert of_last["loss_ratio"] == datagrams[-1]["loss_ratio"]


def test_replication_stored_by_an_earlier_version_has_no_losses() -> None:
    """Regression: a sweep with this metric and an older ledger ended with a traceback."""
    made = scenario()
    job, contents = job_of(made)
    run = run_job(job, contents, 1, 0, 1)[0].measured()
    earlier = [{k: v for k, v in flow.items() if k not in LOSSES} for flow in run["flows"]]
    found = evaluate(list(LOSSES), {**run, "flows": earlier}, job.resolved)
    assert found == dict.fromkeys(LOSSES)
