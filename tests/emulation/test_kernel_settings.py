"""Kernel TCP settings for a scenario, and rejected scenarios."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.emulation.kernel import Kernel, for_commands, for_flows
from airpath.emulation.refusals import KERNEL
from airpath.engine.prepared import prepare
from airpath.errors import ScenarioError
from airpath.scenario import FAMILIES

BASE: dict[str, Any] = {
    "duration": "4 s",
    "bottleneck": {
        "aqm": "droptail",
        "link": {"kind": "fixed", "rate": "10 Mbit/s", "delay": "5 ms"},
    },
}


def _scenario(*flows: dict[str, Any], **keys: Any) -> ap.Scenario:
    return ap.Scenario(**BASE | keys, flows=[{"base_rtt": "30 ms", **flow} for flow in flows])


def _everything(name: str) -> bool:
    return True


def _kernel(*flows: dict[str, Any], **keys: Any) -> Kernel:
    scenario = _scenario(*flows, **keys)
    return for_flows(scenario, prepare(scenario).resolved, _everything)


def _settings(kernel: Kernel) -> dict[str, str]:
    return {name.removeprefix("net.ipv4."): text for name, text in kernel.sysctls.items()}


def _refusals(*flows: dict[str, Any], **keys: Any) -> list[str]:
    with pytest.raises(ScenarioError) as error:
        _kernel(*flows, **keys)
    return str(error.value).splitlines()


def _differences(kernel: Kernel) -> dict[str, tuple[str, str]]:
    return {line["option"]: (line["asked"], line["kernel"]) for line in kernel.not_applied}


# --- profiles -------------------------------------------------------------------------------------


def test_profile_linux_matches_kernel_defaults() -> None:
    kernel = _kernel({"profile": "linux", "cc": "cubic"})
    settings = _settings(kernel)
    assert {name: settings[f"tcp_{name}"] for name in ("sack", "timestamps", "recovery", "frto")} \
        == {"sack": "1", "timestamps": "1", "recovery": "1", "frto": "2"}  # fmt: skip
    assert settings["tcp_early_retrans"] == "3"
    assert settings["tcp_ecn"] == "2"
    assert settings["tcp_moderate_rcvbuf"] == "1"
    assert settings["tcp_rmem"] == "4096 131072 6291456"
    assert settings["tcp_no_metrics_save"] == "1"
    assert kernel.route == {"initcwnd": 10, "rto_min_ms": 200}
    assert kernel.mtu == 1500
    assert kernel.sockets == [{"flow": 0, "congestion": "cubic"}]
    # The kernel implements the profile except for the simplifications of the profile.
    assert set(_differences(kernel)) == {
        "tcp.rto_granularity", "tcp.delayed_ack_timeout"
    }  # fmt: skip


def test_textbook_profile_disables_missing_features() -> None:
    kernel = _kernel({"profile": "ns3-2014", "cc": "reno", "count": 2})
    settings = _settings(kernel)
    off = ("sack", "dsack", "timestamps", "recovery", "early_retrans", "frto", "autocorking")
    off += ("moderate_rcvbuf", "window_scaling", "slow_start_after_idle", "ecn")
    assert {settings[f"tcp_{name}"] for name in off} == {"0"}
    assert settings["tcp_min_tso_segs"] == "1"
    assert kernel.route == {"initcwnd": 1, "rto_min_ms": 1000}
    assert kernel.sockets == [{"flow": n, "congestion": "reno"} for n in range(2)]
    differs = _differences(kernel)
    assert differs["tcp.window_growth"][0] == "per-ack-truncated"
    assert differs["tcp.window_growth"][1].startswith("segments")
    assert differs["tcp.initial_rto"] == ("3 s", "1 s")
    assert differs["tcp.rto_floor"][1] == "variance: the timeout is SRTT + max(min_rto, 4 RTTVAR)"
    assert differs["tcp.limited_transmit"] == ("false", "always")


def test_options_become_settings() -> None:
    options = {
        "min_rto": "300 ms", "delayed_ack_segments": 1, "initial_window": "4 segments",
        "timestamps": True, "mss": "1448 B", "ecn": "on", "receive_window": "1 MB",
        "idle_restart": "decay", "pacing": "on", "max_rto": "30 s",
    }  # fmt: skip
    kernel = _kernel({"tcp": options})
    settings = _settings(kernel)
    assert kernel.route == {"initcwnd": 4, "rto_min_ms": 300, "quickack": True}
    assert (
        settings["tcp_timestamps"] == settings["tcp_ecn"] == settings["tcp_window_scaling"] == "1"
    )
    assert settings["tcp_slow_start_after_idle"] == "1"
    assert settings["tcp_rto_max_ms"] == "30000"
    least, first, most = map(int, settings["tcp_rmem"].split())
    assert (least, first) == (4096, 4_000_000)
    assert most >= first
    assert int(settings["tcp_wmem"].split()[2]) >= 2_000_000
    socket = {"flow": 0, "congestion": "reno", "window_clamp": 1_000_000, "pacing": True}
    assert kernel.sockets == [socket]
    assert kernel.mtu == 1500


@pytest.mark.parametrize(
    ("tcp", "listed", "others"),
    [
        ({}, "delayed_ack_timeout quick_acks exit_window", "sack_after_timeout loss_detection"),
        ({"delayed_ack_segments": 1}, "exit_window", "delayed_ack_timeout quick_acks"),
        ({"recovery": "sack"}, "sack_after_timeout loss_detection", "exit_window"),
        ({}, "stack", "ecn_reaction"),
        ({"ecn": "on"}, "ecn_reaction", ""),
    ],
)
def test_difference_is_listed_if_parameter_has_an_effect(
    tcp: dict[str, Any], listed: str, others: str
) -> None:
    found = set(_differences(_kernel({"tcp": {"stack": "ns3"} | tcp})))
    assert found >= {f"tcp.{name}" for name in listed.split()}
    assert not found & {f"tcp.{name}" for name in others.split()}


@pytest.mark.parametrize(
    ("longest", "setting"), [("500 ms", "1000"), ("30 s", "30000"), ("1 h", "120000")]
)
def test_largest_timeout_is_within_the_kernels_bounds(longest: str, setting: str) -> None:
    options = {"min_rto": "200 ms", "initial_rto": "300 ms", "max_rto": longest}
    assert _settings(_kernel({"tcp": options}))["tcp_rto_max_ms"] == setting


def test_smallest_segment_counts_timestamps() -> None:
    small = {"mss": "80 B", "timestamps": True}
    assert _kernel({"tcp": small}).mtu == 132
    (line,) = _refusals({"tcp": small | {"timestamps": False}})
    assert "Use 88 B to 32767 B" in line


def test_smaller_segment_and_window_are_set_on_the_socket() -> None:
    small = {"tcp": {"mss": "1000 B", "receive_window": "20 kB", "initial_window": "3 segments"}}
    kernel = _kernel({}, small)
    assert kernel.mtu == 1500
    assert kernel.sockets[0] == {"flow": 0, "congestion": "reno"}
    one = {"flow": 1, "congestion": "reno", "mss": 1000, "window_clamp": 20_000}
    assert kernel.sockets[1] == one
    assert _kernel(small).mtu == 1040


def test_setting_missing_in_an_older_kernel_is_a_difference() -> None:
    scenario = _scenario({})
    resolved = prepare(scenario).resolved
    kernel = for_flows(scenario, resolved, lambda name: name != "tcp_rto_max_ms")
    assert "net.ipv4.tcp_rto_max_ms" not in kernel.sysctls
    assert _differences(kernel)["tcp.max_rto"] == ("60 s", "120 s")


def test_dctcp_requests_ecn_next_to_flows_without() -> None:
    kernel = _kernel({"cc": "dctcp"}, {"cc": "reno"})
    assert _settings(kernel)["tcp_ecn"] == "2"
    assert [socket["congestion"] for socket in kernel.sockets] == ["dctcp", "reno"]


def test_datagram_flows_need_no_kernel_settings() -> None:
    kernel = _kernel({"source": "cbr", "rate": "1 Mbit/s", "base_rtt": "30 ms"}, {})
    assert [socket["flow"] for socket in kernel.sockets] == [1]


def test_cubic_of_profile_ns3_is_kernel_cubic() -> None:
    kernel = _kernel({"profile": "ns3", "cc": "cubic"})
    assert kernel.sockets[0]["congestion"] == "cubic"
    assert _differences(kernel)["cc"][1] == "cubic, as the kernel counts"


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flow", "line"),
    [
        ({"cc": "vcp"}, 'flows.0.cc = "vcp": not a congestion control of kernels. A kernel has'),
        ({"cc": "cubic-ns3"}, 'flows.0.cc = "cubic-ns3": not a congestion control of kernels.'),
        (
            {"cc": {"kind": "cubic", "c": 0.8}},
            "flows.0.cc.c = 0.8: a kernel's cubic has 0.4, and no connection can have another.",
        ),
        (
            {"cc": {"kind": "reno", "hystart": "plus-plus"}},
            'flows.0.cc.hystart = "plus-plus": a kernel\'s reno has "off", and no connection',
        ),
        (
            {"window": {"kind": "drain", "rate": "1 Mbit/s"}},
            'flows.0.window = "drain": a policy of Airpath: the kernel\'s',
        ),
        ({"tcp": {"mss": "50 B"}}, 'flows.0.tcp.mss = "50 B": no kernel sends it. Use 88 B to'),
    ],
    ids=["vcp", "cubic-ns3", "cubic-c", "hystart", "drain", "mss"],
)
def test_features_missing_in_kernels_are_rejected_by_name(flow: dict[str, Any], line: str) -> None:
    assert line in _refusals(flow)[0]


# CLAMP needs its own queue discipline, which is rejected too.
@pytest.mark.parametrize("kind", sorted(FAMILIES["congestion"].registry.keys() - {"clamp"}))
def test_control_has_a_twin_in_the_kernel_or_is_rejected_in_one_line(kind: str) -> None:
    scenario = _scenario({"cc": kind, "profile": "linux"})
    resolved = prepare(scenario).resolved
    twins = {"newreno": "reno", "cubic-linux": "cubic", "bbr1": "bbr"}
    if kind in twins or (kind in KERNEL and kind != "bbr"):
        [socket] = for_flows(scenario, resolved, _everything).sockets
        assert socket["congestion"] == twins.get(kind, kind)
        return
    with pytest.raises(ScenarioError) as caught:
        for_flows(scenario, resolved, _everything)
    [line] = str(caught.value).splitlines()
    assert f'flows.0.cc = "{kind}": ' in line


def test_controls_of_the_kernel_are_those_that_the_check_of_the_machine_lists() -> None:
    text = (Path(__file__).parents[2] / "crates/emu/src/check.rs").read_text()
    found = re.search(r"const WANTED: \[&str; \d+\] = \[(.*?)\];", text, re.DOTALL)
    assert found is not None
    assert set(re.findall(r'"(\w+)"', found[1])) == KERNEL.keys()


def test_defaults_of_the_kernel_may_be_set() -> None:
    kernel = _kernel({"cc": {"kind": "cubic", "hystart": "classic", "beta_ecn": 0.7}})
    assert not any(option.startswith("cc") for option in _differences(kernel))


def test_queue_that_requires_simulated_ends_is_rejected() -> None:
    bottleneck = BASE["bottleneck"] | {"aqm": "vcp"}
    (line,) = _refusals({}, bottleneck=bottleneck)
    assert 'bottleneck.aqm = "vcp": only ends of VCP read what it writes' in line


def test_queue_of_a_hop_that_requires_simulated_ends_is_rejected_by_hop() -> None:
    link = {"kind": "fixed", "rate": "10 Mbit/s"}
    hops = [
        {"name": "backhaul", "link": link, "down": {"aqm": "vcp"}},
        {"name": "cell", "link": link, "aqm": "vcp"},
    ]
    flows = [{"base_rtt": "30 ms"}]
    scenario = ap.Scenario(name="x", duration="2 s", hops=hops, flows=flows)
    with pytest.raises(ScenarioError) as error:
        for_flows(scenario, prepare(scenario).resolved, _everything)
    what = "only ends of VCP read what it writes, and no kernel has them. Use another discipline."
    assert str(error.value).splitlines() == [
        f'x: {key} = "vcp": {what}' for key in ("hops.1.aqm", "hops.0.down.aqm")
    ]


def test_flow_monitor_requires_simulation() -> None:
    (line,) = _refusals({}, record={"flow_monitor": True})
    assert "record.flow_monitor = true: is the simulator's" in line


@pytest.mark.parametrize(
    ("flow", "key"),
    [
        ({"profile": "linux"}, "profile"),
        ({"tcp": {"recovery": "sack"}}, "tcp.recovery"),
        ({"tcp": {"timestamps": True}}, "tcp.timestamps"),
        ({"tcp": {"ecn": "on"}}, "tcp.ecn"),
        ({"tcp": {"min_rto": "200 ms"}}, "tcp.min_rto"),
        ({"tcp": {"delayed_ack_segments": 1}}, "tcp.delayed_ack_segments"),
        ({"tcp": {"initial_window": "10 segments"}}, "tcp.initial_window"),
        ({"tcp": {"idle_restart": "decay"}}, "tcp.idle_restart"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_settings_of_a_namespace_must_be_equal(flow: dict[str, Any], key: str) -> None:
    lines = _refusals({"count": 2}, flow)
    (line,) = [line for line in lines if f"flows.1.{key} = " in line]
    assert "flows.0 has" in line
    assert "a network namespace has one for all connections" in line


def test_more_flows_than_ports_are_rejected() -> None:
    assert "40001 flows, more than there are ports for" in _refusals({"count": 40_001})[0]


def test_all_problems_are_reported_together() -> None:
    drains = {"window": {"kind": "drain", "rate": "1 Mbit/s"}, "tcp": {"mss": "50 B"}}
    lines = _refusals({"cc": "vcp"}, drains)
    for key in ("flows.0.cc", "flows.1.window", "flows.1.tcp.mss"):
        assert any(f"{key} = " in line for line in lines)


# --- commands -------------------------------------------------------------------------------------


def _of_command(flow: dict[str, Any]) -> Kernel:
    scenario = _scenario(flow)
    return for_commands(scenario, prepare(scenario).resolved, 0, _everything)


def test_command_uses_kernel_tcp_defaults() -> None:
    kernel = _of_command({})
    assert _settings(kernel)["tcp_sack"] == "1"
    assert "congestion" not in kernel.route
    assert kernel.sockets == ()
    # Regression test: there were also unlimited retries, which no scenario required.
    assert set(_differences(kernel)) == {"tcp.rto_granularity", "tcp.delayed_ack_timeout"}


def test_configured_congestion_control_applies_to_every_connection() -> None:
    kernel = _of_command({"cc": "cubic"})
    assert kernel.route["congestion"] == "cubic"
    assert _settings(kernel)["tcp_sack"] == "1"


def test_configured_options_apply_to_every_connection() -> None:
    kernel = _of_command({"tcp": {"ecn": "on", "min_rto": "1 s"}})
    assert _settings(kernel)["tcp_ecn"] == "1"
    assert _settings(kernel)["tcp_sack"] == "1"
    assert kernel.route["rto_min_ms"] == 1000
    assert _settings(_of_command({"profile": "rfc"}))["tcp_sack"] == "0"


def test_unsupported_congestion_control_is_rejected_for_commands() -> None:
    with pytest.raises(ScenarioError, match="not a congestion control of kernels"):
        _of_command({"cc": "vcp"})


# --- bbr ------------------------------------------------------------------------------------------


def test_bbr1_is_the_bbr_of_the_kernel() -> None:
    scenario = _scenario({"cc": "bbr1", "profile": "linux"})
    resolved = prepare(scenario).resolved
    assert for_flows(scenario, resolved, _everything).sockets[0]["congestion"] == "bbr"


def test_bbr_of_version_3_is_rejected() -> None:
    with pytest.raises(ScenarioError) as error:
        _of_command({"cc": "bbr", "profile": "linux"})
    expected = 'cc = "bbr": the kernel\'s bbr is BBRv1, this is BBRv3. Use "bbr1".'
    assert expected in str(error.value)


def test_rack_and_tail_loss_probes_are_set_in_the_kernel() -> None:
    def rack_settings(**tcp: Any) -> tuple[str, str]:
        settings = _settings(_kernel({"profile": "linux", "cc": "reno", "tcp": tcp}))
        return settings["tcp_recovery"], settings["tcp_early_retrans"]

    assert rack_settings() == ("1", "3")
    assert rack_settings(tail_loss_probe=False) == ("1", "0")
    assert rack_settings(loss_detection="sack", tail_loss_probe=False) == ("0", "0")


def test_frto_and_dsack_are_set_in_the_kernel() -> None:
    def settings(**tcp: Any) -> tuple[str, str]:
        found = _settings(_kernel({"profile": "linux", "cc": "reno", "tcp": tcp}))
        return found["tcp_frto"], found["tcp_dsack"]

    assert settings() == ("2", "1")
    assert settings(frto=False, dsack=False) == ("0", "0")


def test_kernel_cubic_is_called_cubic() -> None:
    kernel = _kernel({"profile": "linux", "cc": "cubic-linux"})
    assert kernel.sockets == [{"flow": 0, "congestion": "cubic"}]
