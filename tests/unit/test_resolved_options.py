"""TCP options in the resolved form: profiles, congestion controls, overrides of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from resolved_scenarios import BULK, resolved, scenario

import airpath as ap
from airpath.cli.check import explicit
from airpath.scenario import profiles


def test_profile_ns3_2014_is_resolved() -> None:
    (flow,) = resolved(flows=ap.flows(base_rtt="40 ms", profile="ns3-2014"))["flows"]
    assert flow["source"]["options"] == BULK | {
        "profile": "ns3-2014",
        "initial_window": 1460,
        "initial_ssthresh": 65535,
        "recovery": "reno",
        "window_growth": "per-ack-truncated",
        "exit_window": "ssthresh",
        "fast_retransmit_guard": "off",
        "partial_ack_timer": "each",
        "limited_transmit": False,
        "initial_rto_ns": 3 * 10**9,
        "max_rto_ns": 3600 * 10**9,
        "rto_granularity_ns": 1_000_000,
        "srtt_gain": 0.1,
        "rttvar_gain": 0.1,
        "first_rttvar": "full",
        "flight_bound": "none",
    }


def test_profile_linux_is_resolved() -> None:
    (flow,) = resolved(flows=ap.flows(base_rtt="40 ms", profile="linux"))["flows"]
    options = flow["source"]["options"]
    assert options == BULK | {
        "profile": "linux",
        "mss": 1448,
        "initial_window": 14480,
        "receive_window": 3 * 2**20,
        "recovery": "prr",
        "window_growth": "segments",
        "exit_window": "ssthresh",
        "partial_ack_timer": "each",
        "delayed_ack_timeout_ns": 40_000_000,
        "min_rto_ns": 200_000_000,
        "max_rto_ns": 120 * 10**9,
        "max_backoff": 32768,
        "timestamps": True,
        "ecn_reaction": "cwr",
        "window_scaling": "on",
        "sack_after_timeout": "keep",
        "idle_restart": "decay",
        "grow_unused": False,
        "rto_floor": "variance",
        "quick_acks": 16,
        "stack": "linux",
        "tso": True,
        "loss_detection": "rack",
        "tail_loss_probe": True,
        "frto": True,
        "undo": True,
        "dsack": True,
        "push": "bursts",
    }


def test_profile_ns3_is_resolved() -> None:
    (flow,) = resolved(flows=ap.flows(base_rtt="40 ms", profile="ns3"))["flows"]
    assert flow["source"]["options"] == BULK | {
        "profile": "ns3",
        "mss": 1448,
        "initial_window": 14_480,
        "recovery": "prr",
        "window_growth": "per-ack",
        "fast_retransmit_guard": "ns3",
        "exit_window": "ssthresh",
        "initial_rto_ns": 3 * 10**9,
        "timestamps": True,
        "ecn_reaction": "cwr",
        "window_scaling": "on",
        "sack_after_timeout": "keep",
        "stack": "ns3",
    }


@pytest.mark.parametrize(
    ("cc", "tcp", "recovery", "growth"),
    [
        ("newreno", {}, "prr", "per-ack"),
        ("reno", {}, "prr", "segments"),
        ("reno", {"recovery": "sack"}, "sack", "segments"),
        ("reno", {"window_growth": "bytes"}, "prr", "bytes"),
    ],
)
def test_cc_names_the_class_of_the_simulator_in_its_profiles(
    cc: str, tcp: dict[str, Any], recovery: str, growth: str
) -> None:
    flows = ap.flows(base_rtt="40 ms", profile="ns3", cc=cc, tcp=tcp)
    options = resolved(flows=flows)["flows"][0]["source"]["options"]
    assert (options["recovery"], options["window_growth"]) == (recovery, growth)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"cc": "dctcp"},
            'stack = "ns3": stack = "ns3" has no cc = "dctcp". Set stack = "rfc".',
        ),
        (
            {"tcp": {"initial_window": "1447 B"}},
            'initial_window = "1447 B": below mss, and stack = "ns3" never sends a '
            'part of a segment. Use a size from "1448 B" on.',
        ),
        (
            {"tcp": {"mss": "16 kB"}},
            'mss = "16 kB": initial_window = "14480 B" is below mss, and stack = '
            '"ns3" never sends a part of a segment. Set initial_window too, a size '
            'from "16 kB" on.',
        ),
        (
            {"tcp": {"recovery": "newreno", "ecn_reaction": "cwr"}},
            'ecn_reaction = "cwr": ecn_reaction = "cwr" needs SACK and loss_detection = "rack" or '
            'stack = "ns3". Set ecn_reaction = "rfc".',
        ),
    ],
)
def test_stack_ns3_rejects_other_options(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.flows(base_rtt="40 ms", profile="ns3", **keys)
    assert str(caught.value) == f"flows: tcp.{message}"


@pytest.mark.parametrize(
    ("profile", "tcp", "reaction"),
    [
        ("rfc", {}, "rfc"),
        ("ns3", {"ecn": "on"}, "cwr"),
        ("ns3", {"recovery": "newreno"}, "rfc"),
        ("linux", {"recovery": "sack"}, "cwr"),
        ("linux", {"loss_detection": "sack"}, "rfc"),
        ("rfc", {"recovery": "prr", "loss_detection": "rack", "ecn_reaction": "cwr"}, "cwr"),
    ],
)
def test_ecn_reaction_depends_on_profile_and_options(
    profile: str, tcp: dict[str, Any], reaction: str
) -> None:
    flows = ap.flows(base_rtt="40 ms", profile=profile, tcp=tcp)
    options = resolved(flows=flows)["flows"][0]["source"]["options"]
    assert options["ecn_reaction"] == reaction


@pytest.mark.parametrize(
    ("keys", "recovery"),
    [
        ({}, "newreno"),
        ({"cc": "reno"}, "reno"),
        ({"cc": "newreno"}, "newreno"),
        ({"cc": ap.cc.NewReno(), "profile": "ns3-2014"}, "newreno"),
        ({"tcp": {"recovery": "reno"}}, "reno"),
        ({"tcp": {"recovery": "sack"}}, "sack"),
        ({"cc": "reno", "tcp": {"recovery": "prr"}}, "prr"),
        ({"cc": "newreno", "tcp": {"recovery": "sack"}}, "sack"),
        ({"cc": "reno", "profile": "linux"}, "prr"),
        ({"cc": "newreno", "profile": "linux", "tcp": {"recovery": "newreno"}}, "newreno"),
    ],
)
def test_profile_selects_recovery(keys: dict[str, Any], recovery: str) -> None:
    source = resolved(flows=ap.flows(base_rtt="40 ms", **keys))["flows"][0]["source"]
    assert source["options"]["recovery"] == recovery
    assert source["congestion"] == {"kind": "reno", "beta_ecn": 0.5, "hystart": "off"}


@pytest.mark.parametrize(
    ("keys", "ecn"),
    [
        ({}, "off"),
        ({"tcp": {"ecn": "on"}}, "on"),
        ({"cc": "cubic", "tcp": {"ecn": "on"}}, "on"),
        ({"cc": "dctcp"}, "dctcp"),
        ({"cc": "dctcp", "tcp": {"ecn": "on"}}, "dctcp"),
    ],
)
def test_ecn_is_selected_by_queue_and_flow(keys: dict[str, Any], ecn: str) -> None:
    source = resolved(flows=ap.flows(base_rtt="40 ms", **keys))["flows"][0]["source"]
    assert source["options"]["ecn"] == ecn


def test_congestion_controls_are_resolved() -> None:
    for cc, expected in (
        (ap.cc.NewReno(beta_ecn=0.8), {"kind": "reno", "beta_ecn": 0.8, "hystart": "off"}),
        (
            ap.cc.Dctcp(hystart="classic"),
            {"kind": "dctcp", "g": 0.0625, "initial_alpha": 1.0, "hystart": "classic"},
        ),
        (
            ap.cc.Cubic(beta_ecn=0.85),
            {
                "kind": "cubic",
                "c": 0.4,
                "beta": 0.7,
                "beta_ecn": 0.85,
                "fast_convergence": True,
                "reno_friendly": True,
                "hystart": "off",
            },
        ),
    ):
        source = resolved(flows=ap.flows(base_rtt="40 ms", cc=cc))["flows"][0]["source"]
        assert source["congestion"] == expected


def test_overrides_replace_options() -> None:
    changed = {
        "min_rto": 0.2,
        "initial_ssthresh": "64 KiB",
        "delayed_ack_segments": 1,
        "limited_transmit": False,
        "timestamps": True,
    }
    (flow,) = resolved(flows=ap.flows(base_rtt="40 ms", tcp=changed))["flows"]
    assert flow["source"]["options"] == BULK | {
        "min_rto_ns": 200_000_000,
        "initial_ssthresh": 65_536,
        "delayed_ack_segments": 1,
        "limited_transmit": False,
        "timestamps": True,
    }


@pytest.mark.parametrize(
    ("cc", "control"),
    [
        ("cubic", {"kind": "cubic-linux", "hystart": "classic"}),
        (ap.cc.Cubic(hystart="plus-plus"), {"kind": "cubic-linux", "hystart": "plus-plus"}),
        (ap.cc.Cubic(fast_convergence=False), {"kind": "cubic-linux", "fast_convergence": False}),
        (ap.cc.Cubic(beta=0.8), {"kind": "cubic", "beta": 0.8}),
        (ap.cc.Cubic(beta_ecn=0.85), {"kind": "cubic", "beta_ecn": 0.85}),
    ],
)
def test_cubic_is_that_of_the_kernel_with_kernel_procedures(
    cc: Any, control: dict[str, Any]
) -> None:
    """A constant that the kernel module lacks selects the CUBIC of the RFC."""
    source = resolved(flows=ap.flows(base_rtt="40 ms", profile="linux", cc=cc))["flows"][0][
        "source"
    ]
    assert source["congestion"].items() >= control.items()


@pytest.mark.parametrize(
    ("profile", "tcp", "message"),
    [
        (
            "rfc",
            {"tail_loss_probe": True},
            "flows: tcp.tail_loss_probe = true: tail_loss_probe needs "
            'loss_detection = "rack". Set loss_detection = "rack".',
        ),
        (
            "ns3",
            {"loss_detection": "rack"},
            'flows: tcp.loss_detection = "rack": stack = "ns3" finds losses by what has '
            'arrived. Set stack = "rfc".',
        ),
    ],
    ids=["probe", "ns3"],
)
def test_options_that_conflict_with_loss_detection_are_rejected(
    profile: str, tcp: dict[str, Any], message: str
) -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.flows(base_rtt="40 ms", profile=profile, tcp=tcp)
    assert str(caught.value) == message


CHANGES: dict[str, tuple[Any, ...]] = {
    "recovery": ("reno", "newreno", "sack", "prr"),
    "stack": ("rfc", "ns2", "ns3", "linux"),
    "loss_detection": ("sack", "rack"),
    "tail_loss_probe": (False, True),
    "frto": (False, True),
    "undo": (False, True),
    "dsack": (False, True),
    "ecn": ("off", "on"),
    "ecn_reaction": ("rfc", "cwr"),
    "window_scaling": ("exact", "off", "on"),
    "max_retries": (3, "unlimited"),
    "initial_window": ("2 segments", "1 kB"),
}
CONTROLS = (None, "reno", "cubic", "cubic-ns3", "cubic-linux", "dctcp", "vcp")


@pytest.mark.parametrize("profile", profiles())
def test_accepted_options_are_accepted_in_a_written_file(profile: str, tmp_path: Path) -> None:
    """Regression: `airpath check` rejected, without the file's name, what `airpath run` accepts."""
    accepted = 0
    for cc in CONTROLS:
        for tcp in ({name: value} for name, values in CHANGES.items() for value in values):
            keys: dict[str, Any] = {"profile": profile, "tcp": tcp}
            keys |= {} if cc is None else {"cc": cc}
            try:
                given = scenario(flows=ap.flows(base_rtt="40 ms", **keys))
            except ap.errors.ScenarioError:
                continue
            (tmp_path / "written.toml").write_text(explicit(given).to_toml(), encoding="utf-8")
            written = ap.load(tmp_path / "written.toml")
            assert (
                ap.check(written).resolved.flows.entries == ap.check(given).resolved.flows.entries
            ), keys
            accepted += 1
    assert accepted > 50


@pytest.mark.parametrize(
    ("tcp", "loss_detection", "tail_loss_probe"),
    [
        ({}, "rack", True),
        ({"loss_detection": "sack"}, "sack", False),
        ({"stack": "ns3"}, "sack", False),
        ({"tail_loss_probe": False}, "rack", False),
    ],
)
def test_kernel_loss_detection_is_disabled_by_conflicting_options(
    tcp: dict[str, Any], loss_detection: str, tail_loss_probe: bool
) -> None:
    flows = ap.flows(base_rtt="40 ms", profile="linux", tcp=tcp)
    options = resolved(flows=flows)["flows"][0]["source"]["options"]
    found = (options["loss_detection"], options["tail_loss_probe"])
    assert found == (loss_detection, tail_loss_probe)
