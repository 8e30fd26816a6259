"""Coverage of `solve`: uncovered keys are rejected by name, and covered ones have an effect."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath import _airpath
from airpath.errors import ModelWarning, OverrideWarning
from airpath.scenario import loads
from airpath.scenario.base import Model
from airpath.scenario.examples import shipped_examples

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "models" / "fixed-point.md"

COVERED = """
duration = "100 s"
warmup = "10 s"
[bottleneck]
aqm = "gred"
link = {kind = "fixed", rate = "10 Mbit/s", delay = "5 ms"}
[[flows]]
count = 3
cc = "reno"
base_rtt = "60 ms"
[[flows]]
cc = "newreno"
base_rtt = "80 ms"
"""


def path(**changes: Any) -> ap.Scenario:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverrideWarning)
        keys = {key.replace("__", "."): value for key, value in changes.items()}
        return loads(COVERED, place="x.toml").replace(keys)


def solved(**changes: Any) -> ap.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return ap.solve(path(**changes))


FIXED = {"kind": "fixed", "rate": "10 Mbit/s"}
BURST = {"kind": "burst", "frame_error_rate": 0.1, "doppler": 0.01}
REGIMES = [{"rate": "5 Mbit/s"}, {"rate": "10 Mbit/s"}]

UNCOVERED: list[tuple[str, dict[str, Any]]] = [
    ("control", {"control": [{"at": "50 s", "rate": "1 Mbit/s"}]}),
    ("bottleneck.aqm.kind", {"bottleneck__aqm": "codel"}),
    ("bottleneck.aqm.kind", {"bottleneck__aqm": "fq-codel"}),
    ("bottleneck.aqm.kind", {"bottleneck__aqm": "red"}),
    ("bottleneck.aqm.kind", {"bottleneck__aqm": "ared"}),
    ("bottleneck.aqm.kind", {"bottleneck__aqm": "pie"}),
    ("bottleneck.link.kind", {"bottleneck__link": ap.link.RlcAm(rate="384 kbit/s", delay="10 ms")}),
    ("bottleneck.link.errors.kind", {"bottleneck__link__errors": BURST}),
    ("bottleneck.link.harq.attempts",
     {"bottleneck__link__harq": {"attempts": 4, "round_trip": "30 ms"}}),
    ("bottleneck.link.arq.delay", {"bottleneck__link__arq": {"delay": "100 ms"}}),
    ("ack_path.link.errors.kind",
     {"ack_path": {"kind": "link", "link": {**FIXED, "errors": BURST}}}),
    # Regression: a slow reverse path was treated as a fast one; flows shared the link's whole rate.
    ("ack_path.link.rate", {"ack_path": {"kind": "link", "link": {**FIXED, "rate": "64 kbit/s"}}}),
    ("ack_path.link.rate",
     {"ack_path": {"kind": "reverse", "link": {**FIXED, "rate": "64 kbit/s"}}}),
    ("ack_path.link.loss", {"ack_path": {"kind": "link", "link": {**FIXED, "loss": 0.2}}}),
    ("ack_path.link.loss", {"ack_path": "reverse", "bottleneck__link__loss": 0.05}),
    ("ack_path.link.kind",
     {"ack_path": {"kind": "link", "link": {"kind": "rlc-am", "rate": "1 Mbit/s"}},
      "flows__0__base_rtt": "90 ms", "flows__1__base_rtt": "90 ms"}),
    ("ack_path.aqm.limit",
     {"ack_path": {"kind": "link", "link": FIXED,
                   "aqm": {"kind": "droptail", "limit": "2 packets"}}}),
    ("backhaul.rate", {"backhaul__rate": "10 Mbit/s"}),
    # Regression: rates of wires were ignored.
    ("flows.0.access.rate", {"flows__0__access": {"rate": "2 Mbit/s"}}),
    ("flows.1.access.rate", {"flows__1__access": {"rate": "10 Mbit/s"}}),
    ("flows.1.egress.rate", {"flows__1__egress": {"rate": "1 Mbit/s"}}),
    ("flows.1.egress.limit", {"flows__1__egress": {"rate": "1 Gbit/s", "limit": "9 packets"}}),
    ("flows.1.return.rate", {"flows__1__return": {"rate": "10 kbit/s"}}),
    ("flows.0.cc", {"flows__0__cc": "cubic"}),
    ("flows.1.cc", {"flows__1__cc": "dctcp", "bottleneck__aqm__ecn": True}),
    ("flows.1.tcp.mss", {"flows__1__tcp": {"mss": "1000 B"}}),
    ("flows.1.tcp.timestamps", {"flows__1__tcp": {"timestamps": True}}),
    ("flows.1.tcp.header", {"flows__1__tcp": {"header": "60 B"}}),
    ("flows.1.tcp.receive_window", {"flows__1__tcp": {"receive_window": "32 kB"}}),
    ("flows.1.tcp.receive_window", {"flows__1__tcp": {"receive_window": "2 kB"}}),
    ("flows.1.tcp.delayed_ack_segments", {"flows__1__tcp": {"delayed_ack_segments": 4}}),
    ("flows.1.tcp.min_rto", {"flows__1__tcp": {"min_rto": "200 ms"}}),
    ("flows.1.tcp.window_growth",
     {"flows__0__tcp": {"window_growth": "bytes"}, "flows__1__tcp": {"window_growth": "abc-2"}}),
    ("flows.0.tcp.ecn", {"flows__0__tcp": {"ecn": "on"}}),
    ("flows.1.tcp.rto_floor", {"flows__1__tcp": {"rto_floor": "variance"}}),
    ("flows.1.window", {"flows__1__window": {"kind": "drain", "rate": "1 Mbit/s"}}),
    ("flows.1.size", {"flows__1__size": "1 MB"}),
    ("flows.1.size", {"flows__1__size": {"exponential": "1 MB"}}),
    ("flows.1.on_off", {"flows__1__on_off": {"burst": "1 MB", "off": "1 s"}}),
    ("flows.1.arrivals", {"flows__1__arrivals": {"poisson": "1 /s"}}),
    ("flows.1.stop", {"flows__1__stop": "50 s"}),
    ("flows.1.start", {"flows__1__start": "50 s"}),
    ("flows.1.start", {"flows__1__start": {"uniform": ["0 s", "40 s"]}}),
    ("flows.1.source", {"flows__1__source": "cbr", "flows__1__rate": "1 Mbit/s"}),
    ("flows.0.source", {"flows__0__source": "poisson", "flows__0__rate": "1 Mbit/s"}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "changes"), UNCOVERED, ids=lambda case: str(case)[:50])
def test_uncovered_key_is_rejected_by_name(key: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.solve(path(**changes))
    line = str(caught.value)
    assert re.match(rf"x\.toml: {re.escape(key)} = ", line), line
    assert "no analytic model covers it. Covered: " in line
    assert "\n" not in line


def test_forty_kinds_of_scenarios_are_rejected() -> None:
    assert len(UNCOVERED) >= 40


def test_every_uncovered_key_is_reported_with_equal_flows_once() -> None:
    # Regression: only the first uncovered key was reported.
    changes = {"bottleneck__aqm": "codel", "flows__0__cc": "cubic", "flows__1__stop": "50 s"}
    end = "no analytic model covers it. Covered: "
    lines = [
        f'x.toml: flows.0.cc = "cubic": {end}reno',
        f'x.toml: flows.1.stop = "50 s": {end}flows without an end',
        f'x.toml: bottleneck.aqm.kind = "codel": {end}gred, droptail',
    ]
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.solve(path(**changes))
    assert str(caught.value).splitlines() == lines
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.solve(path(**changes), model="fixed-point")
    named = [line.replace("no analytic model covers", "model fixed-point does not cover")
             for line in lines]  # fmt: skip
    assert str(caught.value).splitlines() == named


def test_option_in_which_flows_differ_is_reported_with_its_value() -> None:
    # Regression: the message had "another than the first flow's" instead of the value.
    with pytest.raises(ap.errors.BadValueError, match=r"flows\.1\.tcp\.delayed_ack_segments = 4: "):
        ap.solve(path(flows__1__tcp={"delayed_ack_segments": 4}))


def test_unknown_model_is_rejected() -> None:
    with pytest.raises(ap.errors.BadValueError, match=r'^model = "fluid": not one of the accepted'):
        ap.solve(path(), model="fluid")


def test_each_model_has_its_kind_of_result() -> None:
    solution = solved()
    assert type(solution) is ap.solutions.FixedPoint
    assert isinstance(solution, ap.Solution)
    known = {name for name, _ in json.loads(_airpath.registry())["model"]}
    assert known == ap.Solution.registry.keys()
    with pytest.warns(ModelWarning):
        again = ap.solve(path(), model="fixed-point")
    assert {**again.to_dict(), "provenance": 0} == {**solution.to_dict(), "provenance": 0}


def test_return_wire_has_its_python_name_in_messages() -> None:
    scenario = ap.Scenario(
        flows=ap.flows(base_rtt="40 ms", return_wire={"rate": "1 kbit/s"}),
        bottleneck=ap.Bottleneck(aqm="gred", link=ap.link.Fixed(rate="10 Mbit/s")),
        duration="1 s",
    )
    with pytest.raises(ap.errors.BadValueError, match=r'flows\.0\.return_wire\.rate = "1 kbit/s"'):
        ap.solve(scenario)


# --- effect of covered keys --------------------------------------------------------------------


@pytest.mark.parametrize("link", [FIXED, {"kind": "multi-regime", "thresholds": [20]}])
def test_framing_reduces_the_rate(link: dict[str, Any]) -> None:
    # Regression: frame_overhead was ignored; with 500 B on 1500 B the rate was a third too high.
    def solution_with(rates: tuple[int, int], overhead: str) -> ap.Solution:
        at = {"rate": rates[0]} if link["kind"] == "fixed" else {
            "regimes": [{"rate": rate} for rate in rates]
        }  # fmt: skip
        return solved(bottleneck__link={**link, **at, "frame_overhead": overhead})

    framed, plain = (
        solution_with((8_000_000, 12_000_000), "500 B"),
        solution_with((6_000_000, 9_000_000), "0 B"),
    )
    assert framed.throughput_bps == pytest.approx(plain.throughput_bps, rel=1e-9)
    assert framed.queue_packets == pytest.approx(plain.queue_packets, rel=1e-9)


def test_transmission_time_on_wires_adds_to_the_round_trip() -> None:
    # Two transmissions of 1500 B at 100 Mbit/s and two of 40 B at 1 Mbit/s: 0.88 ms.
    wires = {f"flows__{flow}__{wire}": {"rate": "100 Mbit/s"}
             for flow in (0, 1) for wire in ("access", "egress")}  # fmt: skip
    back = {f"flows__{flow}__return": {"rate": "1 Mbit/s"} for flow in (0, 1)}
    acks = {"ack_path": {"kind": "link", "link": {"kind": "fixed", "rate": "1 Mbit/s"}}}
    longer = {"flows__0__base_rtt": "60.88 ms", "flows__1__base_rtt": "80.88 ms"}
    with_wires, without = solved(**wires, **back, **acks), solved(**longer)
    assert with_wires.throughput_bps == pytest.approx(without.throughput_bps, rel=1e-9)
    assert with_wires.flows[0].rtt_s == pytest.approx(without.flows[0].rtt_s, rel=1e-9)


def test_unscaled_window_is_at_most_65535_bytes() -> None:
    keys = {f"flows__{flow}__tcp": {"receive_window": "1 MB"} for flow in (0, 1)}
    large = {"bottleneck__link__rate": "500 Mbit/s", "bottleneck__link__loss": 1e-5}
    for scaling, low, high in (("exact", 65e6, 500e6), ("off", 10e6, 36e6)):
        scaled = {key: value | {"window_scaling": scaling} for key, value in keys.items()}
        assert low < solved(**large, **scaled).throughput_bps < high


@pytest.mark.parametrize("growth", ["abc-2", "segments"])
def test_delayed_acks_slow_growth_only_where_acks_are_counted(growth: str) -> None:
    # Regression: with window_growth = "bytes" the model was 34 % below the simulation.
    def relative_error(growth: str) -> float:
        link = {"kind": "fixed", "rate": "100 Mbit/s", "loss": 0.002}
        options = {"window_growth": growth, "receive_window": "4 MB"}
        flows = ap.flows(cc="newreno", base_rtt="80 ms", tcp=options)
        long = path(flows=flows, bottleneck__link=link, duration="200 s")
        runs = ap.simulate(long, reps=4).table("flows")["ip_throughput_bps"]
        found: float = solved(flows=flows, bottleneck__link=link).throughput_bps
        return found / float(runs.mean()) - 1

    assert abs(relative_error(growth)) < 0.15
    assert abs(relative_error("bytes")) < 0.15


# --- the page ----------------------------------------------------------------------------------


def test_every_scenario_key_is_covered_or_excluded_on_the_page() -> None:
    text = PAGE.read_text("utf-8").split("## What of a scenario is covered")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = {key for row in rows for key in re.findall(r"`([^`]+)`", row)}
    places: dict[str, type[Model]] = {
        "": ap.Scenario,
        "bottleneck.": ap.Bottleneck,
        "bottleneck.aqm.": ap.aqm.Gred,
        "bottleneck.link.": ap.link.Adaptive,
        "ack_path.": ap.ack_path.Link,
        "backhaul.": ap.Wire,
        "flows.": ap.traffic.Tcp,
        "flows.tcp.": ap.TcpConfig,
    }
    keys = {place + key for place, model in places.items() for key in model.keys()}  # noqa: SIM118
    keys |= {f"bottleneck.link.{key}" for link in (ap.link.Fixed, ap.link.MultiRegime)
             for key in link.keys()}  # fmt: skip  # noqa: SIM118
    keys.add("bottleneck.aqm.limit")
    assert named == keys


# --- warnings ----------------------------------------------------------------------------------


def test_queue_of_the_example_has_a_warning() -> None:
    # Regression: the queue has 20.0 packets in the model and 10.8 in the simulation, and there was
    # no warning.
    example = ap.load(shipped_examples() / "dual-regime.toml")
    with pytest.warns(ModelWarning) as caught:
        solution = ap.solve(example)
    assert [str(warning.message) for warning in caught] == list(solution.warnings)
    assert solution.queue_packets == 20
    assert 7 < solution.average_queue_packets < 11
    (line,) = solution.warnings
    assert re.search(r"the queue [0-9.]+ packets \(-5\d %\), the shortest RTT [0-9.]+ ms \(", line)
    assert solution.to_dict()["average_queue_packets"] == solution.average_queue_packets
