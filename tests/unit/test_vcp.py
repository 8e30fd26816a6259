"""VCP in a scenario: accepted values, resolved form, and the load code along the path."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.scenario import profiles

LINK = {"kind": "fixed", "rate": "10 Mbit/s", "delay": "20 ms"}
DROPTAIL = {"kind": "droptail", "limit": "100 packets"}
RED = {"kind": "red", "min_th": 5, "max_th": 15, "ecn": True}


def scenario(aqm: Any = DROPTAIL, count: int = 1, **keys: Any) -> ap.Scenario:
    flow = {"cc": "vcp", "profile": "ns2", "base_rtt": "100 ms"} | keys
    return ap.Scenario(
        duration="20 s", flows=ap.flows(count, **flow), bottleneck={"aqm": aqm, "link": LINK}
    )


def rejection(**keys: Any) -> str:
    with pytest.raises(ap.errors.ScenarioError) as error:
        scenario(**keys)
    return str(error.value)


def test_vcp_with_ecn_is_rejected() -> None:
    assert rejection(tcp={"ecn": "on"}) == (
        'flows: tcp.ecn = "on": contradicts cc = "vcp". Use one of the two.'
    )


@pytest.mark.parametrize("recovery", ["sack", "prr"])
def test_profile_ns2_with_sack_is_rejected(recovery: str) -> None:
    assert rejection(tcp={"recovery": recovery}) == (
        f'flows: tcp.recovery = "{recovery}": stack = "ns2" has no SACK. Set stack = "rfc".'
    )
    assert rejection(cc="cubic", profile="linux", tcp={"stack": "ns2"}) == (
        'flows: tcp.stack = "ns2": stack = "ns2" has no SACK. Set stack = "rfc".'
    )


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"beta": 1}, "cc.beta = 1: not below 1"),
        ({"kappa": 0}, "cc.kappa = 0: not above 0"),
        ({"interval": "0 s"}, 'cc.interval = "0 s": not above 0'),
        ({"freeze": "long"}, 'cc.freeze = "long": not one of the accepted words'),
        ({"scaling": "cubic"}, 'cc.scaling = "cubic": not one of the accepted words'),
        ({"on_loss": "halve"}, 'cc.on_loss = "halve": not one of the accepted words'),
    ],
)
def test_invalid_parameter_is_rejected(value: dict[str, Any], problem: str) -> None:
    assert problem in rejection(cc={"kind": "vcp", **value})


def test_vcp_windows_have_no_limit_in_profile_ns2() -> None:
    options = scenario().flows[0].config()  # type: ignore[attr-defined]
    assert (str(options.receive_window), options.initial_ssthresh) == ("4294967295 B", "unlimited")
    of_reno = scenario(cc="reno").flows[0].config()  # type: ignore[attr-defined]
    assert (str(of_reno.receive_window), str(of_reno.initial_ssthresh)) == ("20 kB", "20 kB")
    given = scenario(tcp={"receive_window": "30 kB"}).flows[0].config()  # type: ignore[attr-defined]
    assert str(given.receive_window) == "30 kB"


@pytest.mark.parametrize("profile", profiles())
def test_ecn_field_has_vcp_encoding_in_every_profile(profile: str) -> None:
    resolved = json.loads(scenario(profile=profile).resolve()[0])
    source = resolved["flows"][0]["source"]
    assert (source["options"]["ecn"], source["congestion"]["kind"]) == ("vcp", "vcp")
    assert (
        ap.simulate(scenario(profile=profile), reps=1).table("flows")["goodput_bps"].iloc[0] > 1e5
    )


def test_window_without_load_code_grows_until_a_loss_with_a_warning() -> None:
    texts = {advisory.code: advisory.text for advisory in ap.check(scenario()).advisories}
    assert texts == {
        "vcp-without-code": 'cc = "vcp", but nothing writes a load code at the bottleneck: VCP '
        "takes the load for low, and nothing but losses reduces its window. "
        'Set bottleneck.aqm = {kind = "vcp"}.'
    }
    assert ap.check(scenario(RED)).advisories == []
    assert ap.check(scenario({"kind": "vcp"})).advisories == []
    wrapped = {"kind": "ack-priority", "aqm": {"kind": "vcp"}}
    assert ap.check(scenario(wrapped)).advisories == []


def test_ecn_flow_is_marked_in_overload_only() -> None:
    """ECT(0) means high load: the queue leaves it unchanged, and marks it above load 1."""
    keys = {"cc": "reno", "tcp": {"ecn": "on", "receive_window": "1 MB"}}
    run = ap.simulate(scenario({"kind": "vcp", "limit": 1000}, **keys), reps=1).replications[0]
    queue, flow = run["queues"][0], run["flows"][0]
    assert queue["marks"] > 0
    assert sum(queue["drops"].values()) == 0
    assert flow["ecn_reductions"] > 0
    # A flow that cannot overload the link is never marked.
    calm = {"cc": "reno", "tcp": {"ecn": "on", "receive_window": "20 kB"}}
    run = ap.simulate(scenario({"kind": "vcp", "limit": 1000}, **calm), reps=1).replications[0]
    assert (run["queues"][0]["marks"], run["flows"][0]["ecn_reductions"]) == (0, 0)


def test_marks_of_other_disciplines_mean_overload() -> None:
    """RED's marks keep two VCP flows between its thresholds; without ECN packets are dropped."""
    run = ap.simulate(scenario(RED, count=2, start="0 s"), reps=1).replications[0]
    queue = run["queues"][0]
    assert queue["marks"] > 20
    assert queue["drops"].get("overflow", 0) == 0
    assert [flow["ecn_reductions"] for flow in run["flows"]] == [0, 0], (
        "VCP must not echo marks by ECE"
    )
    assert queue["mean_packets"] < 25


def fields(path: Path) -> list[tuple[int, int, bytes]]:
    """Return the ECN field, the TCP flags and the sequence numbers of each packet from the
    senders.
    """
    data, found, place = path.read_bytes(), [], 0
    while place < len(data):
        kind, length = struct.unpack_from("<II", data, place)
        if kind == 6:
            packet = data[place + 28 : place + 68]
            if packet[13] < 128:
                found.append((packet[1] & 3, packet[33], packet[24:28]))
        place += length
    return found


def test_captures_show_the_bits_on_syn_data_and_retransmissions(tmp_path: Path) -> None:
    """The ECN field is 01 at the senders, and the value written by the router at the receivers."""
    made = ap.Scenario(
        duration="20 s",
        flows=ap.flows(20, cc="vcp", profile="ns2", base_rtt="100 ms"),
        bottleneck={"aqm": {"kind": "vcp", "limit": 100}, "link": LINK | {"loss": 0.002}},
    )
    result = ap.simulate(made, reps=1, capture=["sender", "receiver"], capture_to=tmp_path)
    sent, arrived = (fields(result.captures[point]) for point in ("sender", "receiver"))
    assert {ecn for ecn, _, _ in sent} == {0b01}
    assert sum(flags & 2 for _, flags, _ in sent) == 2 * 20, "SYNs"
    assert max(Counter(numbers for _, _, numbers in sent).values()) > 1, (
        "some segments must be retransmitted"
    )
    assert {ecn for ecn, _, _ in arrived} == {0b01, 0b10, 0b11}
    assert not any(flags & 0xC0 for _, flags, _ in sent + arrived), (
        "VCP must set neither ECE nor CWR"
    )
