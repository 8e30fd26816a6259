"""The resolved form: the input of the engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from resolved_scenarios import BULK, resolved, scenario

import airpath as ap
from airpath.scenario import loads


def test_small_scenario_has_every_resolved_key() -> None:
    wire = {"rate_bps": None, "delay_ns": 0}
    half = {"rate_bps": None, "delay_ns": 18_750_000}
    assert resolved() == {
        "name": "scenario",
        "duration_ns": 300 * 10**9,
        "warmup_ns": 0,
        "flows": [
            {
                "group": 0,
                "count": 1,
                "direction": "forward",
                "source": {
                    "kind": "tcp",
                    "congestion": {"kind": "reno", "beta_ecn": 0.5, "hystart": "off"},
                    "options": BULK,
                    "transfer_bytes": None,
                },
                "start": {"kind": "at", "time_ns": 0},
                "stop_ns": None,
                "access": wire,
                "egress": half,
                "return_wire": half,
            }
        ],
        "bottleneck": {
            "link": {
                "kind": "fixed",
                "rate_bps": 5_000_000,
                "loss": 0.0,
                "framing": {"overhead_bytes": 0, "block_bytes": 1, "code_rate": 1.0},
            },
            "queue": {"kind": "gred", "min_th": 30, "max_th": 90, "max_p": 0.1, "ecn": False},
            "delay_ns": 2_500_000,
        },
        "ack_path": {"kind": "ideal"},
        "backhaul": None,
        "record": {
            "series": [],
            "interval_ns": 0,
            "ss": False,
            "ss_interval_ns": 100_000_000,
            "flow_monitor": False,
        },
        "capture": {"points": [], "replication": 0},
        "controls": [],
    }


def test_base_rtt_includes_the_backhaul_delay_in_both_directions() -> None:
    found = resolved(backhaul={"rate": "1 Mbit/s", "delay": "10 ms"})
    assert found["backhaul"] == {"rate_bps": 1_000_000, "delay_ns": 10_000_000}
    # 40 ms minus 2.5 ms of the link and 20 ms of the backhaul.
    (flow,) = found["flows"]
    assert (flow["egress"]["delay_ns"], flow["return_wire"]["delay_ns"]) == (8_750_000, 8_750_000)


def test_keys_have_the_order_of_the_contract() -> None:
    assert list(resolved()["flows"][0]["source"]["options"]) == list(BULK)


def test_groups_keep_their_order() -> None:
    flows = resolved(
        flows=ap.flows(2, base_rtt=["40 ms", "60 ms"], cc="reno", size="1 MB")
        + ap.flows(source="cbr", rate="1 Mbit/s", stop="9 s")
        + ap.flows(source="poisson", rate=2e6, packet="500 B", egress={"delay": "3 ms"})
    )["flows"]
    assert [flow["source"]["kind"] for flow in flows] == ["tcp", "tcp", "cbr", "poisson"]
    assert [flow["egress"]["delay_ns"] for flow in flows] == [18_750_000, 28_750_000, 0, 3_000_000]
    assert flows[0]["source"]["options"] == BULK | {"recovery": "reno"}
    assert flows[1]["source"]["transfer_bytes"] == 1_000_000
    assert flows[2]["source"] == {"kind": "cbr", "rate_bps": 1_000_000, "packet_bytes": 1500}
    assert flows[2]["stop_ns"] == 9 * 10**9
    assert flows[3]["source"] == {"kind": "poisson", "rate_bps": 2_000_000, "packet_bytes": 500}


def test_consecutive_equal_flows_are_one_entry_with_a_count() -> None:
    flows = resolved(
        flows=ap.flows(99_996, base_rtt="40 ms")
        + ap.flows(4, base_rtt=["40 ms", "60 ms", "60 ms", "40 ms"])
    )["flows"]
    counts = [(flow["group"], flow["count"], flow["egress"]["delay_ns"]) for flow in flows]
    assert counts == [(0, 99_996, 18_750_000)] + [
        (1, count, ns) for count, ns in [(1, 18_750_000), (2, 28_750_000), (1, 18_750_000)]
    ]
    assert len(json.dumps(flows)) < 10_000


def test_uniform_start_times_are_resolved() -> None:
    (flow,) = resolved(
        flows=ap.flows(base_rtt="40 ms", start=ap.traffic.Uniform(uniform=[0.0, "1 s"]))
    )["flows"]
    assert flow["start"] == {"kind": "uniform", "low_ns": 0, "high_ns": 10**9}


def test_explicit_wires_are_resolved() -> None:
    (flow,) = resolved(
        flows=ap.flows(
            access={"rate": "1 Gbit/s", "delay": "10 ms"},
            egress={"rate": "1 Gbit/s", "delay": "5 ms"},
            return_wire=ap.Wire(delay="15 ms"),
        )
    )["flows"]
    assert flow["access"] == {"rate_bps": 10**9, "delay_ns": 10_000_000}
    assert flow["egress"] == {"rate_bps": 10**9, "delay_ns": 5_000_000}
    assert flow["return_wire"] == {"rate_bps": None, "delay_ns": 15_000_000}


def test_wires_may_have_rates_with_a_base_rtt() -> None:
    (flow,) = resolved(
        flows=ap.flows(base_rtt="40 ms", access={"rate": "1 Gbit/s"}, egress={"rate": "2 Gbit/s"})
    )["flows"]
    assert flow["access"] == {"rate_bps": 10**9, "delay_ns": 0}
    assert flow["egress"] == {"rate_bps": 2 * 10**9, "delay_ns": 18_750_000}


@pytest.mark.parametrize(
    ("ack_path", "delay"),
    [
        ("ideal", 2_500_000),
        ({"kind": "link", "link": {"kind": "fixed", "rate": 1e6, "delay": "3 ms"}}, 5_500_000),
        ({"kind": "reverse"}, 5_000_000),
        (
            {"kind": "reverse", "link": {"kind": "fixed", "rate": 1e6, "delay": "4 ms"}},
            6_500_000,
        ),
    ],
)
@given(spare=st.integers(0, 10**12))
def test_delays_of_a_round_trip_add_up_to_the_base_rtt(
    ack_path: Any, delay: int, spare: int
) -> None:
    base_rtt = ap.units.Duration(delay + spare)
    (flow,) = resolved(ack_path=ack_path, flows=ap.flows(base_rtt=base_rtt))["flows"]
    forward, back = flow["egress"]["delay_ns"], flow["return_wire"]["delay_ns"]
    assert flow["access"]["delay_ns"] == 0
    assert forward + back + delay == base_rtt
    assert back - forward in (0, 1)


def test_ack_paths_are_resolved() -> None:
    link = {"kind": "fixed", "rate_bps": 10**6, "loss": 0.0}
    link["framing"] = {"overhead_bytes": 2, "block_bytes": 1, "code_rate": 1.0}
    queue = {"kind": "droptail", "limit": {"packets": 1000}}
    given = {"kind": "fixed", "rate": "1 Mbit/s", "delay": "3 ms", "frame_overhead": "2 B"}
    own = resolved(
        ack_path={"kind": "link", "link": given, "aqm": {"kind": "droptail", "limit": "9 kB"}}
    )
    assert own["ack_path"] == {
        "kind": "link",
        "link": link,
        "queue": {"kind": "droptail", "limit": {"bytes": 9000}},
        "delay_ns": 3_000_000,
    }
    assert resolved(ack_path="reverse")["ack_path"] == {
        "kind": "reverse",
        "queue": queue,
        "link": None,
    }
    reverse = resolved(ack_path=ap.ack_path.Reverse(link=given))
    own = {"link": link, "queue": queue, "delay_ns": 3_000_000}
    assert reverse["ack_path"] == {"kind": "reverse", **own}


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        (ap.frame_errors.Independent(loss=0.1), {"kind": "independent", "loss": 0.1}),
        (
            {"kind": "gilbert-elliott", "p_good_to_bad": 0.1, "p_bad_to_good": 1, "slot": "1 ms"},
            {
                "kind": "gilbert-elliott",
                "p_good_to_bad": 0.1,
                "p_bad_to_good": 1.0,
                "slot_ns": 1_000_000,
                "loss_good": 0.0,
                "loss_bad": 1.0,
            },
        ),
        (
            ap.frame_errors.Burst(frame_error_rate=0, doppler=0.01),
            {"kind": "burst", "frame_error_rate": 0.0, "doppler": 0.01, "slot_ns": 10_000_000},
        ),
    ],
)
def test_error_processes_are_resolved(errors: Any, expected: dict[str, Any]) -> None:
    link = ap.link.Fixed(rate="1 Mbit/s", errors=errors)
    found = resolved(bottleneck=ap.Bottleneck(aqm="gred", link=link))
    assert found["bottleneck"]["link"]["errors"] == expected


def test_dual_regime_link_is_a_multi_regime_link() -> None:
    link = ap.link.DualRegime(
        rates=("16 Mbit/s", 21e6),
        pers=(2.04e-3, 0.1),
        threshold=20,
        delay="2.5 ms",
        frame_overhead="2 B",
    )
    hop = resolved(bottleneck=ap.Bottleneck(aqm="gred", link=link))["bottleneck"]
    assert hop["delay_ns"] == 2_500_000
    assert hop["link"] == {
        "kind": "multi-regime",
        "thresholds": [20],
        "regimes": [
            {"rate_bps": 16_000_000, "per": 0.00204},
            {"rate_bps": 21_000_000, "per": 0.1},
        ],
        "framing": {"overhead_bytes": 2, "block_bytes": 1, "code_rate": 1.0},
    }


def test_controls_and_records_are_resolved() -> None:
    found = resolved(
        control=[{"at": "50 s", "rate": "128 kbit/s"}],
        record=ap.Record(series=["cwnd", "queue"], interval="10 ms"),
    )
    assert found["controls"] == [
        {"at_ns": 50 * 10**9, "action": {"kind": "rate", "rate_bps": 128_000}}
    ]
    assert found["record"] == {
        "series": ["cwnd", "queue"],
        "interval_ns": 10_000_000,
        "ss": False,
        "ss_interval_ns": 100_000_000,
        "flow_monitor": False,
    }


# --- traces ------------------------------------------------------------------------------------

TRACED = """
duration = "10 s"
[bottleneck]
aqm = "droptail"
link = {kind = "trace", file = "FILE"}
[ack_path]
kind = "reverse"
link = {kind = "rate-trace", file = "up/FILE"}
[[flows]]
base_rtt = "40 ms"
"""


def test_traces_are_found_from_the_scenario_file(tmp_path: Path) -> None:
    down, up = tmp_path / "a.down", tmp_path / "up" / "a.down"
    up.parent.mkdir()
    down.write_text("1\n")
    up.write_text("time_s,rate_bps\n0,1\n")
    file = tmp_path / "lte.toml"
    file.write_text(TRACED.replace("FILE", "a.down"))
    text, traces = ap.load(file).resolve()
    found = json.loads(text)
    assert traces == {"a.down": down, "a.down (2)": up}
    assert found["name"] == "lte"
    assert found["bottleneck"]["link"] == {
        "kind": "trace",
        "loss": 0.0,
        "framing": {"overhead_bytes": 4, "block_bytes": 1, "code_rate": 1.0},
        "trace": "a.down",
    }
    assert found["ack_path"]["link"]["trace"] == "a.down (2)"


def test_missing_traces_are_all_reported(tmp_path: Path) -> None:
    file = tmp_path / "lte.toml"
    file.write_text(TRACED.replace("FILE", "a.down"))
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.load(file).resolve()
    advice = 'Use a path from the scenario file, or "traces:NAME".'
    assert str(caught.value).splitlines() == [
        f'{file}: bottleneck.link.file = "a.down": no such file: {tmp_path}/a.down. {advice}',
        f'{file}: ack_path.link.file = "up/a.down": no such file: {tmp_path}/up/a.down. {advice}',
    ]


def traced(file: str) -> ap.Scenario:
    return scenario(bottleneck=ap.Bottleneck(aqm="gred", link=ap.link.Trace(file=file)))


def test_recorded_traces_are_found_in_the_directory_of_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.down").write_text("1\n")
    monkeypatch.setenv("AIRPATH_TRACES", str(tmp_path))
    assert traced("traces:x.down").resolve()[1] == {"x.down": tmp_path / "x.down"}
    with pytest.raises(ap.errors.ScenarioError) as caught:
        traced("traces:y.down").resolve()
    assert str(caught.value) == (
        f'bottleneck.link.file = "traces:y.down": no file y.down in {tmp_path}, which '
        "AIRPATH_TRACES names. Use an existing file; Mahimahi publishes traces in the repository "
        "ravinet/mahimahi on GitHub, directory traces."
    )


def test_recorded_traces_are_found_next_to_the_scenario_or_in_the_user_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIRPATH_TRACES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "data"))
    file = tmp_path / "mine" / "a.toml"
    file.parent.mkdir()
    file.write_text(traced("traces:x.down").to_toml())
    data = Path(platformdirs.user_data_dir("airpath", appauthor=False), "traces")
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.load(file).resolve()
    assert str(caught.value).startswith(
        f'{file}: bottleneck.link.file = "traces:x.down": no file x.down in the directory traces '
        f"next to the scenario, or in {data}; AIRPATH_TRACES is not set. Use an existing file"
    )
    for directory in (data, file.parent / "traces"):
        directory.mkdir(parents=True)
        (directory / "x.down").write_text("1\n")
        assert ap.load(file).resolve()[1] == {"x.down": directory / "x.down"}


@pytest.mark.parametrize("file", ["a\0b", "x" * 5000, "..", "", "traces:.."])
def test_unusual_file_names_are_rejected(file: str) -> None:
    with pytest.raises(ap.errors.ScenarioError):
        traced(file).resolve()


# --- extension ---------------------------------------------------------------------------------


def test_new_queue_discipline_requires_one_class() -> None:
    class StepMark(ap.aqm.QueueDisc):
        """Mark above a threshold of the backlog."""

        kind: str = "step-mark-of-a-test"
        threshold: ap.units.Size = ap.units.Size(30_000)
        hold: ap.units.Duration = ap.units.Duration(0)

    try:
        text = (
            'duration = "1 s"\n[[flows]]\nbase_rtt = "40 ms"\n[bottleneck]\n'
            'aqm = {kind = "step-mark-of-a-test", hold = "1 ms"}\n'
            'link = {kind = "fixed", rate = "1 Mbit/s"}\n'
        )
        queue = json.loads(loads(text).resolve()[0])["bottleneck"]["queue"]
        assert queue == {
            "kind": "step-mark-of-a-test",
            "threshold_bytes": 30_000,
            "hold_ns": 1_000_000,
        }
        again = loads(loads(text).to_toml()).bottleneck.aqm
        assert again == StepMark(hold="1 ms")
        with pytest.raises(TypeError, match=r'kind "step-mark-of-a-test" is already taken'):

            class Other(ap.aqm.QueueDisc):
                kind: str = "step-mark-of-a-test"

    finally:
        del ap.aqm.QueueDisc.registry["step-mark-of-a-test"]


FRAMING = {"overhead": "6 B", "block": "48 B", "code_rate": 0.75}


def test_framing_and_its_short_form_are_one_key() -> None:
    def framing(link: ap.link.Link) -> dict[str, Any]:
        return resolved(bottleneck=ap.Bottleneck(aqm="gred", link=link))["bottleneck"]["link"]  # type: ignore[no-any-return]

    short = framing(ap.link.Fixed(rate="1 Mbit/s", frame_overhead="6 B"))
    assert short == framing(ap.link.Fixed(rate="1 Mbit/s", framing={"overhead": "6 B"}))
    assert framing(ap.link.Fixed(rate="1 Mbit/s", framing=FRAMING))["framing"] == {
        "overhead_bytes": 6,
        "block_bytes": 48,
        "code_rate": 0.75,
    }


def test_both_forms_of_framing_are_rejected_and_one_replaces_the_other() -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.link.Fixed(rate="1 Mbit/s", frame_overhead="6 B", framing=FRAMING)
    assert str(caught.value) == (
        'link.Fixed: frame_overhead = "6 B": framing is given too. Set the overhead only there.'
    )
    link = ap.link.Fixed(rate="1 Mbit/s", frame_overhead="6 B").model_copy(
        update={"framing": FRAMING}
    )
    assert link.framing is not None
    assert link.document()["framing"] == FRAMING
    assert "frame_overhead" not in link.document()
