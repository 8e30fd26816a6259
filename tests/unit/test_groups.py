"""Named groups of flows, and groups distributed over users."""

from __future__ import annotations

from typing import Any

import pytest

import airpath as ap
from airpath.comparison.quantities import quantities
from airpath.engine.prepared import prepare
from airpath.results.overview import tables
from airpath.scenario import loads
from airpath.scenario.labels import labels_of_keys
from airpath.sweeps.metrics import evaluate, known_names

TEXT = """
duration = "2 s"
[bottleneck]
link.kind = "cell"
link.rate = {kind = "shannon", bandwidth = "4 MHz", cap = "10 Mbit/s"}
link.slot = "1 ms"
link.snr = {kind = "constant", mean = "15 dB"}
aqm = "droptail"
[[flows]]
name = "web"
count = 5
user = [2, "0-1"]
base_rtt = "40 ms"
size = "20 kB"
[[flows]]
count = 2
user = "0"
base_rtt = ["40 ms", "60 ms"]
"""


@pytest.fixture(scope="module")
def result() -> ap.Result:
    return ap.simulate(loads(TEXT), reps=2)


def test_flows_of_a_group_are_assigned_to_users_in_rotation() -> None:
    scenario = loads(TEXT)
    assert scenario.flows[0].user == [2, 0, 1]
    flows = prepare(scenario).resolved.flows
    assert [flow.user for flow in flows] == [2, 0, 1, 2, 0, 0, 0]
    assert [(flow.count, flow.group) for flow in flows.entries] == [(1, 0)] * 5 + [(1, 1)] * 2
    assert loads(scenario.to_toml()).resolve() == scenario.resolve()


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("user", "9-0", "not users. Use numbers from 0 to 65535, or a range"),
        ("user", [], "no users. Use at least one"),
        ("user", [0, "0-2"], "user 0 more than once. Name each user once."),
        ("user", "0-5", "6 users for count = 5. Set count = 6 or more, or fewer users."),
        ("user", "2-4", "user 2 without a user 1: users are numbered without gaps"),
        ("user", 1.5, "not a number of a user"),
        ("name", "7", 'not a name of a group. Use letters, digits, "-" and "_", a letter first'),
        ("name", "all", "is the name of all flows in tables. Use another name."),
        ("name", 7, "not a text"),
    ],
)
def test_invalid_value_is_reported_in_one_line(key: str, value: Any, line: str) -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(TEXT).replace(f"flows.0.{key}", value)
    (problem,) = str(caught.value).splitlines()
    assert f"flows.0.{key}" in problem
    assert line in problem


def test_duplicate_group_names_are_rejected() -> None:
    with pytest.raises(ap.errors.ScenarioError, match=r'flows.1.name = "web": is the name of'):
        loads(TEXT).replace("flows.1.name", "web")


def test_group_name_works_as_index_in_keys() -> None:
    changed = loads(TEXT).replace({"flows.web.cc": "cubic", "flows.1.cc": "dctcp"})
    kinds = [flow.given()["cc"]["kind"] for flow in changed.flows]
    assert kinds == ["cubic", "dctcp"]
    with pytest.raises(ap.errors.ScenarioError, match="position from 0 to 1 or web"):
        changed.replace("flows.wep.cc", "cubic")
    label = "congestion control of web"
    assert labels_of_keys(["flows.web.cc"], changed.to_toml()) == {"flows.web.cc": label}


def test_tables_metrics_and_comparisons_use_group_names(result: ap.Result) -> None:
    shown = [row[0] for row in next(iter(tables(result, "elsewhere"))).texts]
    assert shown[0] == "0 web, newreno"
    assert shown[-3:] == ["web: 5 newreno", "group 1: 2 newreno", "all 7"]
    assert result.table("groups")["name"].tolist() == ["web", ""] * 2
    assert result.intervals("transfers")[0]["name"] == "web"
    run, resolved = result.replications[0], result.resolved
    names = ["groups.web.goodput_bps", "groups.0.goodput_bps", "transfers.web.mean_s"]
    by_name, by_number, mean_s = evaluate(names, run, resolved).values()
    assert by_name == by_number == result.table("groups")["goodput_bps"].iloc[0]
    assert mean_s is not None
    assert set(names) - set(known_names(run, resolved)) == {names[1]}
    compared = {each.name: each.of for each in quantities(resolved, [run])}
    assert compared["groups.web.goodput_bps"] == "web: 5 newreno"


def test_group_name_changes_no_result(result: ap.Result) -> None:
    nameless = ap.simulate(loads(TEXT).replace("flows.0.name", None), reps=2)
    assert nameless.replications == result.replications
    assert "name" not in nameless.table("groups")


def test_models_and_figures_use_group_names() -> None:
    solved = ap.solve(
        loads(
            """
            duration = "10 s"
            bottleneck = {aqm = {kind = "droptail", limit = "20 packets"},
                link = {kind = "fixed", rate = "1 Mbit/s"}}
            flows = [{name = "calls", source = "poisson", rate = "600 kbit/s", packet = "500 B"}]
            """.replace(",\n                link", ", link")
        )
    )
    assert solved.flow_table().texts[0][0] == "0 calls"
    assert solved.metrics()["flows.0.ip_throughput_bps"] > 0
    recorded = loads(TEXT).replace({"record": {"series": ["cwnd", "sojourn", "delivered"]}})
    figure = ap.simulate(recorded, reps=1).plot.cwnd()
    labels = {line.get_label() for line in figure.axes[0].lines}
    assert {"flow 0 web", "flow 5"} <= labels
