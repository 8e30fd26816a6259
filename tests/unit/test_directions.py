"""Flows whose data has the direction of the ACKs of other flows."""

from typing import Any

import pytest

import airpath as ap
from airpath.scenario import loads

BOTH: dict[str, Any] = {"kind": "reverse", "aqm": {"kind": "droptail", "limit": "40 packets"}}
WIRE = {"delay": "1 ms"}


def scenario(**changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "flows": ap.flows(2, base_rtt="40 ms", start=ap.traffic.Uniform(uniform=["0 s", "1 s"]))
        + ap.flows(3, base_rtt="40 ms", direction="reverse"),
        "bottleneck": ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="5 Mbit/s")),
        "ack_path": BOTH,
        "duration": "10 s",
    }
    return ap.Scenario(**(keys | changes))


def test_tables_and_documents_show_the_direction_of_the_data() -> None:
    result = ap.simulate(scenario(), reps=2)
    ways = ["forward"] * 2 + ["reverse"] * 3
    assert result.table("flows")["direction"].tolist() == ways * 2
    assert result.table("groups")["direction"].tolist() == ["forward", "reverse"] * 2
    document = result.to_dict()
    assert [flow["direction"] for flow in document["flows"]] == ways
    assert [group["direction"] for group in document["groups"]] == ["forward", "reverse"]
    # Each queue holds the data of one direction and the ACKs of the other.
    arrived = result.table("queues").groupby("queue")["arrived"].sum()
    sent = result.table("flows").groupby("direction")["sent_packets"].sum()
    assert arrived["bottleneck"] > 1.3 * sent["forward"]
    assert arrived["reverse"] > 1.3 * sent["reverse"]


def test_ideal_ack_path_is_rejected_by_key() -> None:
    with pytest.raises(ap.errors.ScenarioError) as error:
        scenario(ack_path="ideal")
    assert str(error.value) == (
        'Scenario: flows.1.direction = "reverse": an ideal ACK path has no link that data could '
        'take. Set ack_path of kind "link" or "reverse".'
    )


def test_wire_without_a_link_is_rejected_by_key() -> None:
    with pytest.raises(ap.errors.ScenarioError) as error:
        scenario(ack_path="ideal", flows=ap.flows(egress={"delay": "2 ms"}, ack_access=WIRE))
    assert str(error.value) == (
        'Scenario: flows.0.ack_access = {delay = "1 ms"}: an ideal ACK path has no '
        'link that ACKs could be delayed before. Set ack_path of kind "link" or '
        '"reverse", or give the delay to the return wire.'
    )
    with pytest.raises(ap.errors.ScenarioError) as error:
        ap.flows(source="cbr", rate="1 Mbit/s", ack_access=WIRE)
    assert str(error.value) == (
        'flows: ack_access = {delay = "1 ms"}: datagrams have no ACKs. Remove it.'
    )
    with pytest.raises(ap.errors.ScenarioError, match=r"given together with ack_access\.delay"):
        ap.flows(base_rtt="40 ms", ack_access=WIRE)


@pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
def test_base_rtt_of_models_includes_the_wire_of_acks() -> None:
    wires: dict[str, Any] = {"egress": {"delay": "20 ms"}, "cc": "reno"}
    split = {"ack_access": {"delay": "5 ms"}, "return_wire": {"delay": "15 ms"}}
    gentle = ap.Bottleneck(aqm="gred", link=ap.link.Fixed(rate="5 Mbit/s"))
    solved = [
        ap.solve(scenario(flows=ap.flows(2, **wires, **back), bottleneck=gentle)).flows[0].rtt_s
        for back in ({"return_wire": {"delay": "20 ms"}}, split)
    ]
    assert solved[0] == solved[1]


def test_reverse_flows_have_no_model() -> None:
    found = scenario(flows=ap.flows(2, base_rtt="40 ms", direction="reverse", cc="reno"))
    with pytest.raises(ap.errors.AirpathError, match=r"flows\.0\.direction"):
        ap.solve(found)


def test_advisories_use_the_queue_of_the_data() -> None:
    marking = ap.Bottleneck(aqm=ap.aqm.CoDel(ecn=True), link=ap.link.Fixed(rate="5 Mbit/s"))
    small = {"kind": "reverse", "aqm": {"kind": "droptail", "limit": "1000 B"}}
    flows = ap.flows(base_rtt="40 ms", direction="reverse", tcp={"ecn": "on"})
    found = {a.code: a.text for a in ap.check(scenario(flows=flows, bottleneck=marking)).advisories}
    assert "[ack_path.aqm]" in found["ecn-without-marks"]
    found = {a.code: a.text for a in ap.check(scenario(ack_path=small)).advisories}
    assert "1500 B" in found["nothing-fits"]


# --- stations ----------------------------------------------------------------------------------

UPLOAD = """
duration = "10 s"
ack_path = {kind = "reverse"}
bottleneck.aqm = "droptail"
bottleneck.link = {kind = "ofdma-tdd", stations = 2, request = "none", grant = "GRANT"}
flows = [{base_rtt = "40 ms", direction = "reverse", user = 1}, {base_rtt = "40 ms"}]
"""


@pytest.mark.parametrize("grant", ["blind-bi", "adapt-bi"])
def test_upload_without_grants_is_rejected(grant: str) -> None:
    """Regression: the upload waited until the end of the run without a message."""
    text = UPLOAD.replace("GRANT", grant)
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(text, place="tdd.toml", overrides=[("flows.1.user", "0")])
    assert str(caught.value) == (
        f'tdd.toml: flows.0.direction = "reverse": with request none and grant {grant} station 1 '
        "never has an uplink, for no flow sends to it. Use another request or another grant."
    )
    # A download of the same station provides grants.
    loads(text, overrides=[("flows.1.user", "1")])
    loads(text, overrides=[("bottleneck.link.request", "random-delay")])
    loads(text, overrides=[("bottleneck.link.grant", '{kind = "unsolicited", period = "20 ms"}')])
