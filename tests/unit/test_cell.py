"""Cells: invalid values, contents of results, and the assignment of packets to users."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.scenario import FAMILIES, loads

GOOD = """\
duration = "20 s"
warmup = "2 s"
[bottleneck]
aqm = {kind = "droptail", limit = "40 kB"}
[bottleneck.link]
kind = "cell"
slot = "3 ms"
delay = "1 ms"
rate = {kind = "shannon", bandwidth = "4.3 MHz", cap = "10 Mbit/s"}
margin = 0.3
attempts = 15
scheduler = {kind = "proportional-fair", time_constant = "100 ms"}
snr = {kind = "rayleigh", mean = "6.0206 dB", speed = "10 m/s", carrier = "1.8 GHz"}
[[flows]]
count = 2
user = 0
cc = "newreno"
base_rtt = "40 ms"
[[flows]]
user = 1
cc = "newreno"
base_rtt = "40 ms"
"""
pytestmark = pytest.mark.filterwarnings("ignore::airpath.errors.OverrideWarning")


def problems(text: str, overrides: list[tuple[str, str]]) -> list[str]:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(text, place="cell.toml", overrides=overrides)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        (
            "bottleneck.link.scheduler",
            "proportionl-fair",
            'bottleneck.link.scheduler = "proportionl-fair": not a scheduler. The nearest is '
            f"proportional-fair; expected one of: {', '.join(FAMILIES['scheduler'].registry)}.",
        ),
        (
            "bottleneck.link.attempts",
            "0",
            "bottleneck.link.attempts = 0: below 1. Use an integer from 1 on, for example 15.",
        ),
        (
            "bottleneck.link.margin",
            "1",
            "bottleneck.link.margin = 1: not below 1. Use a number from -100 to below 1, for "
            "example 0.",
        ),
        (
            "bottleneck.link.margin",
            "{target_loss = 0}",
            "bottleneck.link.margin.target_loss = 0: not above 0. Use a number above 0 and "
            "below 1, for example 0.001.",
        ),
        (
            "bottleneck.link.margin",
            "{target_loss = 1}",
            "bottleneck.link.margin.target_loss = 1: not below 1. Use a number above 0 and "
            "below 1, for example 0.001.",
        ),
        (
            "bottleneck.link.margin",
            "{target_loss = 1e-3, least = 1}",
            "bottleneck.link.margin.least = 1: above 0.95. Use a number from -4 to 0.95, for "
            "example -4.",
        ),
        (
            "bottleneck.link.scheduler",
            '{kind = "proportional-fair", average = "attained"}',
            'bottleneck.link.scheduler.average = "attained": not one of the accepted words. The '
            "nearest is obtained; expected one of: obtained, available.",
        ),
        (
            "bottleneck.link.slot",
            "0 s",
            'bottleneck.link.slot = "0 s": below 1 us. Use a duration from "1 us" to "3600 s", '
            'for example "3 ms".',
        ),
        (
            "bottleneck.link.slot",
            "999 ns",
            'bottleneck.link.slot = "999 ns": below 1 us. Use a duration from "1 us" to "3600 '
            's", for example "3 ms".',
        ),
        (
            "bottleneck.link.slot",
            "2 h",
            'bottleneck.link.slot = "2 h": above 3600 s. Use a duration from "1 us" to "3600 '
            's", for example "3 ms".',
        ),
        (
            "bottleneck.link.scheduler.time_constant",
            "2 ms",
            'bottleneck.link.scheduler.time_constant = "2 ms": shorter than a slot. Use a '
            'duration from "3 ms" on, for example "100 ms".',
        ),
        (
            "bottleneck.link.scheduler",
            '{kind = "alpha-fair", alpha = -1}',
            "bottleneck.link.scheduler.alpha = -1: below 0. Use a number from 0 to 10, for "
            "example 2.",
        ),
        (
            "bottleneck.link.users",
            "[{user = 0, weight = 0}]",
            "bottleneck.link.users.0.weight = 0: not above 0. Use a number above 0, for example 1.",
        ),
        (
            "bottleneck.link.users",
            "[{user = 0}, {user = 1}, {user = 0}]",
            "bottleneck.link.users.2.user = 0: named before. Use one entry for each user.",
        ),
        (
            "bottleneck.link.users",
            "[{user = 2, weight = 2}]",
            "bottleneck.link.users.0.user = 2: no flow has this user. Use a number from 0 to 1.",
        ),
        (
            "bottleneck.link.rate.bandwidth",
            "0 Hz",
            'bottleneck.link.rate.bandwidth = "0 Hz": not above 0. Use a frequency above 0 and '
            'at most "1000 GHz", for example "4.3 MHz".',
        ),
        (
            "bottleneck.link.rate.cap",
            "0 bit/s",
            'bottleneck.link.rate.cap = "0 bit/s": not above 0. Use a rate above 0, '
            'for example "5 Mbit/s".',
        ),
        (
            "bottleneck.link.rate.kind",
            "shanon",
            'bottleneck.link.rate.kind = "shanon": not a rate of slots. The nearest is shannon; '
            "expected one of: shannon, mcs.",
        ),
        (
            "bottleneck.link.rate",
            '{kind = "mcs"}',
            'bottleneck.link.rate.table: missing. Set table = "airpath:802.16-ctc-awgn".',
        ),
        (
            "bottleneck.link.rate",
            '{kind = "mcs", table = "airpath:802.16-ctc-awgn", bandwidth = "0 Hz"}',
            'bottleneck.link.rate.bandwidth = "0 Hz": not above 0. Use a frequency '
            'above 0 and at most "1000 GHz", for example "10 Hz".',
        ),
        (
            "bottleneck.link.rate",
            '{kind = "mcs", table = "airpath:"}',
            'bottleneck.link.rate.table = "airpath:": names no table. Use a path from the '
            'scenario file, or airpath: and a name, for example "airpath:802.16-ctc-vehicular-a".',
        ),
        (
            "flows.1.user",
            "2",
            "flows.1.user = 2: user 2 without a user 1: users are numbered without gaps. Use "
            "every group a user, from 0 on.",
        ),
        (
            "flows.1.user",
            "1.5",
            "flows.1.user = 1.5: not a number of a user. Use numbers from 0 to 65535, or a "
            'range, for example "0-9".',
        ),
        (
            "flows.1.user",
            "65536",
            "flows.1.user = 65536: not a user. Use numbers from 0 to 65535, or a range, for "
            'example "0-9".',
        ),
    ],
)
def test_invalid_value_is_reported(key: str, value: str, line: str) -> None:
    assert problems(GOOD, [(key, value)]) == [f"overrides: {line}"]


def test_user_on_a_link_without_users_is_rejected() -> None:
    fixed = '{kind = "fixed", rate = "5 Mbit/s"}'
    wanted = (
        'there is no cell and there are no stations. Use a link of kind "cell" or "ofdma-tdd", '
        "or leave this key out."
    )
    found = problems(GOOD, [("bottleneck.link", fixed)])
    assert found == [f"cell.toml: flows.{j}.user = {j}: {wanted}" for j in (0, 1)]


def test_flows_without_a_user_are_separate_users() -> None:
    cell = loads(GOOD).bottleneck.link
    flows = ap.flows(3, base_rtt="40 ms")
    scenario = ap.Scenario(
        duration="1 s", flows=flows, bottleneck=ap.Bottleneck(aqm="droptail", link=cell)
    )
    assert sorted(set(ap.simulate(scenario, reps=1).table("users")["user"])) == [0, 1, 2]
    with pytest.raises(ap.errors.ScenarioError, match="users are numbered without gaps"):
        # The flow of the second group has ID 3.
        scenario.replace("flows", [*ap.flows(3, base_rtt="1 s", user=0), *ap.flows(base_rtt="1 s")])


def test_classes_are_equivalent_to_the_file() -> None:
    link = ap.link.Cell(
        slot="3 ms",
        delay="1 ms",
        rate=ap.link.Shannon(bandwidth="4.3 MHz", cap="10 Mbit/s"),
        margin=ap.link.AdaptiveMargin(target_loss=1e-3),
        attempts=15,
        scheduler=ap.scheduler.AlphaFair(alpha=2, time_constant="1 s"),
        snr=ap.snr.Rayleigh(mean="6.0206 dB", speed="10 m/s", carrier="1.8 GHz"),
        users=[ap.link.CellUser(user=0, weight=2.0, snr=ap.snr.Constant(mean="0 dB"))],
    )
    value = '{kind = "alpha-fair", alpha = 2, time_constant = "1 s"}'
    users = '[{user = 0, weight = 2.0, snr = {kind = "constant", mean = "0 dB"}}]'
    changes = [("margin", "{target_loss = 1e-3}"), ("scheduler", value), ("users", users)]
    scenario = loads(GOOD, overrides=[(f"bottleneck.link.{k}", v) for k, v in changes])
    assert scenario.bottleneck.link == link
    again = loads(scenario.to_toml())
    assert again.bottleneck == scenario.bottleneck
    resolved = json.loads(scenario.resolve()[0])
    assert resolved["bottleneck"]["delay_ns"] == 1_000_000
    assert resolved["bottleneck"]["link"]["rate"] == {
        "kind": "shannon",
        "bandwidth_hz": 4.3e6,
        "cap_bps": 10_000_000,
        "log": "binary",
    }
    assert [flow.get("user") for flow in resolved["flows"]] == [0, 1]


@pytest.mark.parametrize("per_user", [False, True])
def test_margin_is_common_or_per_user(per_user: bool) -> None:
    margin = f"{{target_loss = 0.1, per_user = {str(per_user).lower()}}}"
    weak = '[{user = 1, snr = {kind = "rayleigh", mean = "0 dB", doppler = "60 Hz"}}]'
    changes = [("margin", margin), ("attempts", "2"), ("users", weak)]
    scenario = loads(GOOD, overrides=[(f"bottleneck.link.{k}", v) for k, v in changes])
    users = ap.simulate(scenario, reps=1).replications[0]["users"]
    first, second = (user["margin"] for user in users)
    assert (first != second) == per_user


def test_slots_use_the_mcss_of_a_table() -> None:
    rate = ap.link.McsRate(table="airpath:802.16-ctc-awgn", bandwidth="20 MHz")
    value = '{kind = "mcs", table = "airpath:802.16-ctc-awgn", bandwidth = "20 MHz"}'
    changes = [("rate", value), ("slot", "1 ms"), ("margin", "0.2")]
    scenario = loads(GOOD, overrides=[(f"bottleneck.link.{k}", v) for k, v in changes])
    cell = scenario.bottleneck.link
    assert isinstance(cell, ap.link.Cell)
    assert cell.rate == rate
    assert loads(scenario.to_toml()).bottleneck == scenario.bottleneck
    text, files = scenario.resolve()
    resolved = json.loads(text)["bottleneck"]["link"]["rate"]
    assert resolved.keys() == {"kind", "table", "bandwidth_hz"}
    assert (resolved["kind"], resolved["bandwidth_hz"]) == ("mcs", 20e6)
    assert resolved["table"] in files
    users = ap.simulate(scenario, reps=1, seed=1).table("users")
    # At a mean SNR of 6 dB, most slots use at most QPSK-3/4 (30 Mbit/s); peaks use 16-QAM.
    assert users["mean_rate_bps"].between(20e6, 60e6).all()
    assert users["slot_error_rate"].between(0.001, 0.3).all()
    assert (users["throughput_bps"] > 1e6).all()


def test_snr_of_a_user_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "snr.csv").write_text("time_s,snr_db\n0,20\n10,20\n")
    users = f'[{{user = 1, snr = {{kind = "trace", file = "{tmp_path}/snr.csv"}}}}]'
    scenario = loads(GOOD, overrides=[("bottleneck.link.users", users)])
    mean = ap.simulate(scenario, reps=1, seed=1).table("users").set_index("user")["mean_snr_db"]
    assert mean[1] == pytest.approx(20)
    assert 5 < mean[0] < 7


@pytest.fixture(scope="module")
def result() -> ap.Result:
    return ap.simulate(loads(GOOD), reps=2, seed=3)


def test_users_have_rows(result: ap.Result) -> None:
    users = result.table("users")
    assert list(users["user"]) == [0, 1, 0, 1]
    assert set(users["link"]) == {"bottleneck"}
    assert users.attrs["units"]["throughput_bps"] == "bit/s"
    flows = result.table("flows")
    for number in range(2):
        of_run = flows[flows["replication"] == number]["ip_throughput_bps"].to_numpy()
        got = users[users["replication"] == number].set_index("user")["throughput_bps"]
        # Packets in flight at the start and end of the measurement cause the difference.
        assert got[0] == pytest.approx(of_run[:2].sum(), rel=0.02)
        assert got[1] == pytest.approx(of_run[2], rel=0.02)
    links = result.table("links").set_index("replication")["utilisation"]
    shares = users.groupby("replication")["slot_share"].sum()
    assert shares.to_numpy() == pytest.approx(links.to_numpy(), abs=1e-3)
    assert users["slot_error_rate"].between(0.2, 0.5).all()
    assert users["best_slot_share"].between(0.6, 1).all()
    assert users["mean_snr_db"].between(5, 7).all()
    assert (users["margin"] == 0.3).all()
    assert (users["mean_rate_bps"] <= 10e6).all()


def test_queues_are_listed_by_user(result: ap.Result) -> None:
    queues = result.table("queues")
    assert list(queues["queue"])[:2] == ["bottleneck/user 0", "bottleneck/user 1"]
    assert (queues["mean_delay_s"] > queues["mean_sojourn_s"] + 0.003).all()
    assert queues["empty_share"].between(0, 0.5).all()
    share = result.pmf("bottleneck/user 0")["mean"][0]
    assert queues["empty_share"][[0, 2]].mean() == pytest.approx(share)


def test_fairness_is_reported_for_users_and_for_flows(result: ap.Result, tmp_path: Path) -> None:
    document = result.to_dict()
    jain = document["summary"]["jain_of_users"]["bottleneck"]
    assert 0.98 < jain["mean"] <= 1 < 1.02
    assert document["summary"]["jain"]["mean"] < jain["mean"]
    assert [user["user"] for user in document["users"]] == [0, 1]
    result.save(tmp_path, figure_formats=None)
    assert "users.csv" in json.loads((tmp_path / "result.json").read_text())["files"]
    loaded = ap.load_result(tmp_path)
    assert loaded.table("users").equals(result.table("users"))


def test_links_without_cells_have_no_users() -> None:
    scenario = ap.Scenario(
        duration="1 s",
        flows=ap.flows(base_rtt="40 ms"),
        bottleneck=ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="1 Mbit/s")),
    )
    result = ap.simulate(scenario, reps=1)
    assert result.table("users").empty
    assert result.jain_of_users() == {}
    assert "users" not in result.to_dict()


def test_recorded_snr_does_not_depend_on_the_scheduler() -> None:
    def recorded(**changes: Any) -> Any:
        keys = {"record.series": ["snr"], "duration": "3 s", "warmup": "0 s"}
        changed = loads(GOOD).replace({**keys, **changes})
        series = ap.simulate(changed, reps=1, seed=5).series("snr")
        return series[series["id"] == 0].set_index("time_s")["value"]

    fair, other = recorded(), recorded(**{"bottleneck.link.scheduler": ap.scheduler.RoundRobin()})
    both = fair.index.intersection(other.index)
    assert len(both) > 500
    assert (fair[both] == other[both]).all()


def test_cell_can_serve_acks_and_both_directions() -> None:
    scenario = loads(GOOD).replace({"ack_path": {"kind": "reverse", "aqm": "droptail"}})
    both = ap.simulate(scenario, reps=1)
    assert list(both.table("users")["link"]) == ["bottleneck"] * 2 + ["reverse"] * 2
    assert set(both.jain_of_users()) == {"bottleneck", "reverse"}
    link = {"kind": "link", "link": loads(GOOD).bottleneck.link.document()}
    fixed = ap.link.Fixed(rate="5 Mbit/s")
    alone = loads(GOOD).replace({"ack_path": link, "bottleneck.link": fixed})
    assert list(ap.simulate(alone, reps=1).table("users")["link"]) == ["ack_path"] * 2


def test_one_and_two_threads_give_the_same_result(result: ap.Result) -> None:
    other = ap.simulate(loads(GOOD), reps=2, seed=3, threads=1)
    assert other.table("users").equals(result.table("users"))
    assert other.table("flows").equals(result.table("flows"))


def test_rate_change_scales_bandwidth_and_cap() -> None:
    half = loads(GOOD).replace({"control": [{"at": "0 s", "rate": "5 Mbit/s"}]})
    before, after = (ap.simulate(s, reps=1).table("users") for s in (loads(GOOD), half))
    ratio = after["mean_rate_bps"] / before["mean_rate_bps"]
    assert ratio.between(0.45, 0.55).all()


def test_figures_over_time_omit_the_capacity_of_a_cell() -> None:
    """Regression: the figure failed. The capacity depends on the scheduled user."""
    changes = [
        ("record.series", '["delivered", "queue", "sojourn"]'),
        ("duration", "2 s"),
        ("warmup", "0 s"),
    ]
    result = ap.simulate(loads(GOOD, overrides=changes), reps=1)
    assert result.capacity() is None
    axes = result.plot.timeline().axes
    assert len(axes) == 3
    _, labels = axes[0].get_legend_handles_labels()
    # The figure covers the queues of all users, not only the first one.
    assert [text for text in labels if "served" in text] == [f"served, flow {j}" for j in range(3)]
