"""Captures at the hops of a path: times by hand, counts against the tables, and tshark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from capture_files import Capture, assert_checksums, frames_matching, tshark
from required import program

HOPS: list[dict[str, Any]] = [
    {"name": "core", "wire": {"rate": "12 Mbit/s", "delay": "5 ms"}},
    {"name": "backhaul", "wire": {"rate": "12 Mbit/s", "delay": "3 ms", "limit": "9 packets"}},
    {"name": "dsl", "link": {"kind": "fixed", "rate": "6 Mbit/s"}, "delay": "10 ms"},
    {
        "name": "wifi",
        "delay": "1 ms",
        "down": {"link": {"kind": "fixed", "rate": "3 Mbit/s"}},
        "up": {"link": {"kind": "fixed", "rate": "12 Mbit/s"}},
    },
]
"""Hops that take 1, 1, 2 and 4 ms to transmit 1500 bytes down, and 1, 2, 1 and 1 ms up."""

POINTS = [
    *("sender", "ingress", "bottleneck", "receiver", "acks"),
    *("core", "core_reverse"),
    *("backhaul.in", "backhaul", "backhaul_reverse.in", "backhaul_reverse"),
    *("dsl.in", "dsl", "dsl_reverse.in", "dsl_reverse"),
    *("wifi.in", "wifi", "wifi_reverse.in", "wifi_reverse"),
]


def scenario(*flows: dict[str, Any], **keys: Any) -> ap.Scenario:
    return ap.Scenario(hops=HOPS, flows=list(flows), **{"duration": "1 s"} | keys)


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        (
            "forward",
            {
                "sender": 0,
                "core": 6,
                "backhaul.in": 6,
                "backhaul": 7,
                "dsl.in": 10,
                "dsl": 12,
                "wifi.in": 22,
                "wifi": 26,
                "ingress": 22,
                "bottleneck": 26,
                "receiver": 27,
            },
        ),
        (
            "reverse",
            {
                "sender": 0,
                "wifi_reverse.in": 0,
                "wifi_reverse": 1,
                "acks": 1,
                "dsl_reverse.in": 2,
                "dsl_reverse": 4,
                "backhaul_reverse.in": 14,
                "backhaul_reverse": 15,
                "core_reverse": 24,
                "receiver": 24,
            },
        ),
    ],
)
def test_packet_is_captured_before_and_after_each_hop(
    direction: str, expected: dict[str, float], tmp_path: Path
) -> None:
    """One datagram of 1500 bytes. A wire without a limit is captured at its end only."""
    flow = {"source": "cbr", "rate": "12 kbit/s", "packet": "1500 B", "direction": direction}
    result = ap.simulate(
        scenario({**flow, "base_rtt": "38 ms"}), capture=POINTS, capture_to=tmp_path
    )
    assert list(result.captures) == POINTS
    found = {
        point: [frame.time_ns / 1e6 for frame in Capture(path).frames]
        for point, path in result.captures.items()
    }
    assert {point: times for point, times in found.items() if times} == {
        point: [time] for point, time in expected.items()
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ap.Result:
    """A download, an upload, and a flow that crosses only one hop."""
    tcp = {"base_rtt": "50 ms", "cc": "newreno"}
    flows = [tcp, {**tcp, "direction": "reverse"}, {**tcp, "from": "dsl", "to": "dsl"}]
    directory = tmp_path_factory.mktemp("captures")
    return ap.simulate(
        scenario(*flows, duration="5 s"), seed=3, capture=POINTS, capture_to=directory
    )


def test_captures_agree_with_the_tables(run: ap.Result) -> None:
    measured = run.replications[0]
    for queue, link in zip(measured["queues"], measured["links"], strict=True):
        entered, left = (
            Capture(run.captures[point]).frames for point in (f"{queue['name']}.in", link["name"])
        )
        assert len(entered) == queue["arrived"]
        assert len(left) == link["delivered_packets"] > 100
        for frame in (*entered[:50], *left[:50]):
            assert_checksums(frame)
    assert len(measured["queues"]) == 6


def test_flow_is_captured_only_at_the_hops_that_it_crosses(run: ap.Result) -> None:
    def flows_at(point: str) -> set[str]:
        frames = Capture(run.captures[point]).frames
        return {address.rpartition(".")[2] for frame in frames for address, _ in [frame.source]}

    assert flows_at("dsl") == {"1", "2", "3"}
    for point in ("backhaul", "wifi", "core", "wifi_reverse", "backhaul_reverse.in"):
        assert flows_at(point) == {"1", "2"}, point


def test_time_to_live_counts_the_links_behind_a_packet(run: ap.Result) -> None:
    """Wires are no routers. Datagrams and ACKs of all flows are counted alike."""
    expected = {"backhaul": {64}, "dsl.in": {64}, "wifi.in": {63}, "wifi": {62}}
    expected |= {"wifi_reverse": {63}, "dsl_reverse": {62, 63}, "core_reverse": {62}}
    for point, values in expected.items():
        found = {frame.head[8] for frame in Capture(run.captures[point]).frames}
        assert found == values, point


def test_saved_result_has_its_captures(run: ap.Result, tmp_path: Path) -> None:
    directory = next(iter(run.captures.values())).parent
    run.save(directory, figure_formats=None)
    assert ap.load_result(directory).captures == run.captures


def test_tshark_reads_the_captures_of_a_hop(run: ap.Result) -> None:
    program("tshark", package="tshark")
    bad = "_ws.malformed or ip.checksum.status == 0 or tcp.checksum.status == 0"
    for point in ("dsl.in", "dsl", "wifi_reverse.in", "wifi_reverse"):
        path = run.captures[point]
        assert frames_matching(path, bad) == []
        names = tshark(path, "-T", "fields", "-e", "frame.interface_name", "-c", "1")
        assert names.strip() == point


def test_sojourn_times_are_differences_of_the_captures_before_and_after_the_queue(
    tmp_path: Path,
) -> None:
    """The IP identification of a packet is the same in both files."""
    flow = {"base_rtt": "38 ms", "cc": "newreno", "size": "60 kB"}
    points = ["wifi.in", "wifi"]
    result = ap.simulate(
        scenario(flow, record={"series": ["sojourn"]}), capture=points, capture_to=tmp_path
    )
    entered, left = (
        {frame.head[4:6]: frame for frame in Capture(result.captures[point]).frames}
        for point in points
    )
    # The engine does not count the options of a SYN.
    waits = [
        left[key].time_ns - frame.time_ns - (40 if frame.flags & 2 else frame.length) * 8 * 1000 / 3
        for key, frame in entered.items()
    ]
    queue = next(each for each in result.replications[0]["queues"] if each["name"] == "wifi")
    assert len(waits) == queue["arrived"] == queue["departed"]
    mean_s = sum(waits) / len(waits) / 1e9
    assert mean_s == pytest.approx(queue["mean_sojourn_s"], rel=1e-6)


# --- points that a path does not have -------------------------------------------------------------

KNOWN = ", ".join(POINTS)


@pytest.mark.parametrize(
    ("point", "nearest"),
    [("wifi.out", "wifi.in"), ("dsl-reverse", "dsl_reverse"), ("core.in", "core")],
)
def test_point_of_another_path_is_rejected(point: str, nearest: str, tmp_path: Path) -> None:
    message = f"not one of the accepted words. The nearest is {nearest}; expected one of: {KNOWN}."
    with pytest.raises(ap.errors.ScenarioError) as error:
        scenario({"base_rtt": "38 ms"}, capture={"points": ["dsl", point]})
    assert str(error.value) == f'Scenario: capture.points.1 = "{point}": {message}'
    with pytest.raises(ap.errors.BadValueError) as bad:
        ap.simulate(scenario({"base_rtt": "38 ms"}), capture=[point], capture_to=tmp_path)
    assert str(bad.value) == f'capture = "{point}": {message}'
    assert list(tmp_path.iterdir()) == []


def test_scenario_selects_points_of_its_hops(tmp_path: Path) -> None:
    chosen = scenario({"base_rtt": "38 ms"}, capture={"points": ["wifi", "dsl.in"]})
    again = ap.load(_written(chosen, tmp_path / "s.toml"))
    result = ap.simulate(again, capture_to=tmp_path / "out")
    assert [path.name for path in result.captures.values()] == ["dsl.in.pcapng", "wifi.pcapng"]


def _written(scenario: ap.Scenario, path: Path) -> Path:
    path.write_text(scenario.to_toml())
    return path


def test_short_form_has_the_points_of_its_hops(tmp_path: Path) -> None:
    short = ap.Scenario(
        flows=ap.flows(1, base_rtt="40 ms"),
        bottleneck=ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="5 Mbit/s")),
        ack_path=ap.ack_path.Link(link=ap.link.Fixed(rate="1 Mbit/s")),
        backhaul=ap.Wire(delay="2 ms"),
        duration="2 s",
    )
    points = ["ingress", "bottleneck", "acks", "backhaul", "ack_path.in", "ack_path"]
    result = ap.simulate(
        short, capture=[*points, "backhaul_reverse", "bottleneck.in"], capture_to=tmp_path
    )
    counts = {point: len(Capture(path).frames) for point, path in result.captures.items()}
    assert counts["ingress"] == counts["bottleneck.in"] == counts["backhaul"] > 100
    assert counts["acks"] == counts["ack_path"]
