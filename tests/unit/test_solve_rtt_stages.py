"""The stage model in `airpath solve`: its output, and its terms compared with simulated packets."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import airpath as ap
from airpath.models import rtt_stages
from airpath.scenario import loads
from forked import airpath_words

FILE = """\
duration = "60 s"
ack_path = {kind = "reverse"}
[bottleneck]
aqm = {kind = "droptail", limit = "500 packets"}
[bottleneck.link]
kind = "ofdma-tdd"
fragmentation = {down = false}
errors = {kind = "independent", loss = 0.005}
request = {kind = "random-delay", delay = "30 ms", collision = 0}
grant = "uni"
[[flows]]
cc = "newreno"
size = "1 MB"
access = {delay = "50 ms"}
return = {delay = "50 ms"}
[flows.tcp]
mss = "1500 B"
receive_window = "48000 B"
initial_window = "1500 B"
delayed_ack_segments = 1
"""


def solved(*settings: tuple[str, str], **keys: Any) -> ap.solutions.RttStages:
    found = ap.solve(loads(FILE, overrides=list(settings)), **keys)
    assert isinstance(found, ap.solutions.RttStages)
    return found


def test_result_has_the_terms_of_both_methods_and_eq9() -> None:
    found = solved()
    assert found.rate_bps == pytest.approx(2 * 12_000 / 5e-3)
    assert found.base_rtt_s == pytest.approx(0.115)
    assert sum(found.base_rtt.values()) == pytest.approx(found.base_rtt_s)
    assert found.contention_s == pytest.approx(0.030)
    assert found.piggyback_s == pytest.approx(0.0075)
    assert found.loss == pytest.approx(0.005)
    again = rtt_stages(**found.parameters(), queue="draining")
    assert found.grid == pytest.approx(again._asdict())
    estimate = rtt_stages(**found.parameters(), queue="draining", method="monte-carlo")
    assert found.monte_carlo == pytest.approx(estimate._asdict())
    assert found.goodput_bps == pytest.approx(again.goodput_bps)
    assert found.flows[0].completion_s == pytest.approx(8e6 / again.goodput_bps)
    assert found.square_root["contention_bps"] == pytest.approx(300**0.5 * 12_000 / 0.145)
    document = json.loads(found.to_json())
    assert document["model"] == "rtt-stages"
    assert document["base_rtt"]["wires_s"] == pytest.approx(0.1)
    text = "\n".join(found.lines())
    assert "R 4.800 Mbit/s, T_ct 30.00 ms, T_pb 7.500 ms, p_e 0.005" in text
    assert "RTT_min 115.0 ms: wires 100.0, downlink 3.060, uplink 11.94, repetitions 0" in text
    assert "\ngrid: Eq. 8 " in text
    assert "\nMonte-Carlo: Eq. 8 " in text
    assert "\nEq. 9: 1.433 Mbit/s with T_ct, " in text


@pytest.mark.filterwarnings("ignore::airpath.errors.OverrideWarning")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("bottleneck.link.stations", "2"),
        ("bottleneck.link.grant", '"adapt-bi"'),
        ("bottleneck.link.request", '{kind = "scheduling-request", period = "12 ms"}'),
        ("bottleneck.aqm", '"codel"'),
        ("bottleneck.aqm.limit", '"31 packets"'),
        ("flows.0.cc", '"cubic"'),
        ("flows.0.tcp.ecn", '"on"'),
        ("flows.0.stop", '"9 s"'),
    ],
)
def test_uncovered_key_is_rejected_by_name(key: str, value: str) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        solved((key, value))
    line = str(caught.value)
    assert f": {key}" in line
    assert "no analytic model covers it. Covered: " in line
    assert "\n" not in line


def test_command_prints_the_terms(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(FILE)

    def run(*words: str) -> Any:
        command = airpath_words("solve", "one.toml", *words)
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    answer = run()
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.startswith("one, model rtt-stages\nthroughput ")
    assert "RTT_min 115.0 ms" in answer.stdout
    refused = run("--set", 'flows.0.cc="cubic"')
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1
    assert 'flows.0.cc = "cubic": no analytic model covers it.' in refused.stderr
    document = json.loads(run("--json").stdout)
    assert document["grid"]["stages"] > 1
    assert document["provenance"]["scenario"]["name"]


# --- compared with the paper's simulation ------------------------------------------------------


@pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
def test_mean_over_all_wire_delays_gives_the_frames_of_the_papers_figures() -> None:
    from airpath_papers.wimax.analysis import RATE_BPS
    from airpath_papers.wimax.scenarios import FRAME_MS, FRAMES_MS, at_ms

    steps = 10
    found = []
    for step in range(steps):
        # The answer to an ACK arrives in the middle of each tenth of a frame; draws are whole
        # frames.
        wires_ms = 100 - at_ms("received") + FRAME_MS * (step + 0.5) / steps
        terms = terms_of(Setting({}, {"delay": ["25 ms", "50 ms"]}, wires_ms))
        found.append(1e3 * terms.base_rtt_s - wires_ms)
        assert terms.rate_bps == pytest.approx(RATE_BPS, rel=4e-3)
    assert sum(found) / steps == pytest.approx(FRAMES_MS)


# --- compared with packet simulation -----------------------------------------------------------


class Setting(NamedTuple):
    """A link, its request procedure, and the delays of the wires, ms; `egress_ms` is behind the
    link.
    """

    link: dict[str, Any]
    request: dict[str, Any]
    wired_ms: float = 100.0
    egress_ms: float = 0.0


RECOVERY = {"harq": {"attempts": 4, "error": 0.2, "round_trip": "8 ms"}, "arq": {"delay": "50 ms"}}
NR = {"frame": "0.5 ms", "decoded": "0.3 ms", "closed": "0.7 ms", "received": "1.1 ms"}
SETTINGS = {
    "defaults": Setting({}, {"delay": "30 ms", "collision": 0}),
    "drawn": Setting({}, {"delay": ["25 ms", "50 ms"]}, 61.7),
    "piggyback": Setting({}, {"delay": "17 ms", "collision": 0, "piggyback": "11 ms"}, 20.0, 0.7),
    "relevance": Setting({"map_relevance": 4, **NR}, {"delay": ["0 ms", "3 ms"]}, 8.0),
    "own-map": Setting({"map_relevance": 0, "crc": True}, {"delay": "1 ms", "collision": 0}, 33.3),
    "collisions": Setting(
        {"frame": "2 ms"}, {"delay": "5 ms", "collision": 0.3, "timer": "9 ms"}, 50
    ),
    "ranging": Setting({}, {"kind": "ranging"}, 50.0),
    "scheduling": Setting(
        {"map_relevance": 4, **NR}, {"kind": "scheduling-request", "period": "10 ms"}, 41.0
    ),
    "scheduling-5": Setting(
        {**RECOVERY, "map_relevance": 0}, {"kind": "scheduling-request", "period": "20 ms"}, 30.0
    ),
    "repetitions": Setting(RECOVERY, {"delay": ["25 ms", "50 ms"]}, 40.0, 2.0),
}


def scenario_of(setting: Setting, window: int, **keys: Any) -> ap.Scenario:
    half = {"delay": f"{setting.wired_ms / 2:g} ms"}
    flow = {
        "cc": "newreno",
        "access": half,
        "return_wire": half,
        "egress": {"delay": f"{setting.egress_ms:g} ms"},
        "tcp": {
            "mss": "1500 B",
            "receive_window": f"{1500 * window} B",
            "initial_window": f"{window} segments",
            "delayed_ack_segments": 1,
        },
    }
    queue = ap.aqm.DropTail(limit="10000 packets")
    request = {"kind": "random-delay", **setting.request}
    return ap.Scenario(
        flows=[{**flow, **keys.pop("flow", {})}],
        bottleneck=ap.Bottleneck(
            aqm=queue, link={"kind": "ofdma-tdd", "request": request, **setting.link}
        ),
        ack_path=ap.ack_path.Reverse(aqm=queue),
        **keys,
    )


def terms_of(setting: Setting) -> ap.solutions.RttStages:
    found = ap.solve(scenario_of(setting, 2, duration="1 s", flow={"size": "6 kB"}))
    assert isinstance(found, ap.solutions.RttStages)
    return found


@pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
@pytest.mark.parametrize("name", SETTINGS)
def test_single_packet_takes_rtt_min_and_t_ct(name: str) -> None:
    setting = SETTINGS[name]
    terms = terms_of(setting)
    run = ap.simulate(scenario_of(setting, 1, duration="400 s"), reps=1)
    rtt_s = float(run.table("flows")["mean_rtt_s"].iloc[0])
    assert rtt_s == pytest.approx(terms.base_rtt_s + terms.contention_s, rel=0.01)
    # The uplink delay is that of the request, the frames and its own repetitions.
    up_s = float(run.table("stations")["mac_delay_mean_s"].iloc[0])
    own = terms.base_rtt["repetitions_s"] / 2
    expected = terms.contention_s + terms.base_rtt["uplink_s"] + own
    assert up_s == pytest.approx(expected, rel=0.015)


@pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
@pytest.mark.parametrize("name", [name for name in SETTINGS if "harq" not in SETTINGS[name].link])
def test_full_downlink_has_rate_r_and_its_acks_take_t_pb(name: str) -> None:
    setting = SETTINGS[name]
    terms = terms_of(setting)
    run = ap.simulate(scenario_of(setting, 400, duration="30 s", warmup="5 s"), reps=1)
    assert float(run.table("flows")["goodput_bps"].iloc[0]) == pytest.approx(
        terms.rate_bps, rel=2e-3
    )
    up_s = float(run.table("stations")["mac_delay_mean_s"].iloc[0])
    assert up_s == pytest.approx(terms.base_rtt["uplink_s"] + terms.piggyback_s, rel=0.01)


SMALL = {"initial_window": "1 segments"}
WHOLE = {"fragmentation": {"down": False}}
DOWNLOADS: dict[str, tuple[Setting, int, dict[str, Any], str]] = {
    "window": (SETTINGS["defaults"], 16, {}, "2 MB"),
    "delayed": (
        SETTINGS["drawn"],
        16,
        {"delayed_ack_segments": 2, "initial_window": "2 segments"},
        "2 MB",
    ),
    "full": (SETTINGS["defaults"]._replace(wired_ms=20.0), 32, {}, "3 MB"),
    "ranging": (SETTINGS["ranging"], 24, {}, "2 MB"),
    "scheduling": (SETTINGS["scheduling"], 24, {}, "2 MB"),
    "lossy": (
        Setting({"errors": {"kind": "independent", "loss": 0.003}, **WHOLE}, {"collision": 0}),
        32,
        {"recovery": "sack"},
        "2 MB",
    ),
}


@pytest.mark.parametrize("name", DOWNLOADS)
def test_download_without_a_warning_takes_the_solved_time(name: str) -> None:
    setting, window, tcp, size = DOWNLOADS[name]
    scenario = scenario_of(setting, window, duration="120 s")
    changes = {"flows.0.size": size, "flows.0.start": {"uniform": ["0 s", "20 ms"]}}
    options = {**SMALL, **tcp}
    changes |= {f"flows.0.tcp.{key}": value for key, value in options.items()}
    scenario = scenario.replace(changes)
    solution = ap.solve(scenario)
    assert solution.warnings == []
    (solved_flow,) = solution.flows
    flows = ap.simulate(scenario, reps=20).table("flows")
    taken_s = float((flows["completed_at_s"] - flows["start_s"]).mean())
    # The handshake takes one more round trip in the simulation, and the model has no recovery.
    assert taken_s == pytest.approx(solved_flow.completion_s, rel=0.04)
