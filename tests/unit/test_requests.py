"""Clients that request objects: load times of objects and pages by group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.scenario import loads

PACKET_S = 1500 * 8 / 12e6
"""Transmission time of a full-sized packet at 12 Mbit/s, s."""


def scenario(
    *,
    warmup: str = "10 s",
    count: int = 1,
    tcp: dict[str, Any] | None = None,
    stopped: bool = False,
    **requests: Any,
) -> ap.Scenario:
    """Return clients of a link, which `stopped` stops at 40 s."""
    tcp = tcp or {"initial_window": "15 kB"}
    return ap.Scenario(
        flows=ap.flows(count, name="web", base_rtt="100 ms", requests=requests, tcp=tcp),
        control=[ap.Control(at="40 s", rate="0 bit/s")] if stopped else [],
        bottleneck=ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="12 Mbit/s")),
        duration="110 s",
        warmup=warmup,
    )


def quality(made: ap.Scenario) -> dict[str, Any]:
    [row] = ap.simulate(made, reps=1).table("requests").to_dict("records")
    return {str(key): value for key, value in row.items()}


def test_object_on_an_empty_path_needs_a_round_trip_and_its_packets() -> None:
    """Five packets of 1 ms: 105 ms. Without a delayed ACK, although five is odd."""
    row = quality(scenario(size="7300 B"))
    for level in ("mean", "median", "p95", "p99"):
        assert row[f"{level}_object_s"] == pytest.approx(0.1 + 5 * PACKET_S, abs=1e-6)
    assert row["objects"] == pytest.approx(100 / 0.105, abs=2)
    assert row["median_page_s"] == row["median_object_s"]


def test_page_is_the_sum_of_its_objects_and_is_followed_by_a_pause() -> None:
    row = quality(scenario(size="1460 B", objects=4, think="596 ms"))
    assert row["mean_page_s"] == pytest.approx(4 * (0.1 + PACKET_S), abs=1e-6)
    assert row["pages"] == pytest.approx(100, abs=1)
    assert row["objects"] == pytest.approx(4 * row["pages"], abs=4)


@pytest.mark.parametrize(
    ("keys", "page_s", "object_s"),
    [
        # One after the other: a round trip and a packet each.
        ({}, 6 * (0.1 + PACKET_S), 0.1 + PACKET_S),
        # All at once: the packets wait for each other.
        ({"connections": 6}, 0.1 + 6 * PACKET_S, 0.1 + 3.5 * PACKET_S),
        ({"streams": 6}, 0.1 + 6 * PACKET_S, 0.1 + 3.5 * PACKET_S),
        # Three at once, and each of the others when one is complete.
        ({"connections": 3}, 0.2 + 4 * PACKET_S, None),
        # The main object, then six at once.
        ({"connections": 6, "main": "1460 B"}, 0.2 + 7 * PACKET_S, None),
    ],
)
def test_page_of_six_packets_on_an_empty_path(
    keys: dict[str, Any], page_s: float, object_s: float | None
) -> None:
    made = scenario(count=keys.get("connections", 1), size="1460 B", objects=6, **keys)
    row = quality(made)
    for level in ("mean", "median", "p99"):
        assert row[f"{level}_page_s"] == pytest.approx(page_s, abs=1e-6)
    if object_s is not None:
        assert row["mean_object_s"] == pytest.approx(object_s, abs=1e-5)
    assert row["clients"] == 1


@pytest.mark.parametrize(
    ("keys", "rounds", "packets"),
    [
        # 10 + 20 packets in two rounds, then a round for each object: the window has grown.
        ({}, 7, 1 + 20 + 5 * 30),
        # Each connection needs two rounds.
        ({"connections": 6}, 2, 1 + 6 * 20),
        # 10 + 20 + 40 + 80 + 30 packets. The first packet delays each round by its transmission.
        ({"streams": 6}, 5, 4 + 30),
    ],
)
def test_page_of_six_objects_in_slow_start(keys: dict[str, Any], rounds: int, packets: int) -> None:
    """Objects of 30 packets, an initial window of 10, and a window that doubles in each round.

    In the last round each ACK releases two packets, so that the link is busy from the first ACK on.
    """
    tcp = {"initial_window": "14600 B", "receive_window": "1 MB", "handshake": False}
    tcp |= {"delayed_ack_segments": 1, "grow_unused": True}
    made = scenario(
        count=keys.get("connections", 1), warmup="0 s", size="43.8 kB", objects=6, **keys
    )
    changes = {"flows.0.tcp": tcp, "flows.0.requests.think": "1000 s"}
    made = made.replace({**changes, "bottleneck.link.rate": "1.2 Gbit/s"})
    row = quality(made)
    assert row["pages"] == 1
    assert row["mean_page_s"] == pytest.approx(0.1 * rounds + 1e-5 * packets, abs=1e-6)


def test_connections_open_with_their_first_request() -> None:
    """Two connections, one after the other: a round trip for the handshake and one for an object.

    The second SYN waits for the object's packet of the first connection.
    """
    keys: dict[str, Any] = {"connections": 2, "main": "1460 B", "think": "1000 s"}
    made = scenario(count=2, warmup="0 s", size="1460 B", objects=2, **keys)
    result = ap.simulate(made, reps=1)
    [row] = result.table("requests").to_dict("records")
    flows = result.table("flows")
    assert flows["start_s"].tolist() == pytest.approx([0, 0.2 + 40 * 8 / 12e6 + PACKET_S])
    handshakes = 2 * 40 * 8 / 12e6
    assert row["mean_page_s"] == pytest.approx(0.4 + handshakes + 3 * PACKET_S, abs=1e-6)


def test_clients_are_consecutive_flows() -> None:
    made = scenario(count=6, size="10 kB", objects=4, connections=3, think="1 s")
    result = ap.simulate(made, reps=1)
    [run] = result.replications
    assert [client["flow"] for client in run["requests"]] == [0, 3]
    [row] = result.table("requests").to_dict("records")
    assert row["clients"] == 2
    delivered = result.table("flows")["delivered_bytes"].tolist()
    assert all(delivered)
    assert delivered[0] > delivered[1]


def test_client_stops_with_the_flows() -> None:
    made = scenario(count=2, warmup="0 s", size="14600 B", connections=2, objects=4)
    result = ap.simulate(made.replace({"flows.0.stop": "10 s"}), reps=1)
    [row] = result.table("requests").to_dict("records")
    assert 0 < row["pages"] < 10 / 0.2
    assert result.table("flows")["delivered_bytes"].sum() < 4 * 14600 * 50


def test_connections_without_a_link_have_their_receivers() -> None:
    """Regression: all data went to the receiver of the first connection."""
    up = {"name": "uplink", "up": {"link": {"kind": "fixed", "rate": "1 Mbit/s"}}}
    requests: dict[str, Any] = {"size": "5 kB", "objects": 4, "connections": 2}
    flows = ap.flows(2, base_rtt="50 ms", requests=requests)
    hops = [up, {"name": "core", "wire": {"delay": "0 s"}}]
    result = ap.simulate(ap.Scenario(hops=hops, flows=flows, duration="5 s"), reps=1)
    first, second = result.table("flows")["delivered_bytes"]
    assert first == pytest.approx(second, rel=0.05)
    assert first % 5000 == 0


def test_clients_of_a_cell_have_a_user_each() -> None:
    cell = {
        "kind": "cell",
        "slot": "3 ms",
        "rate": {"kind": "shannon", "bandwidth": "4.3 MHz", "cap": "10 Mbit/s"},
        "snr": {"kind": "rayleigh", "mean": "6 dB", "doppler": "60 Hz"},
    }
    made = scenario(count=4, size="10 kB", objects=4, connections=2)
    wrong = r"flows\.0\.requests\.connections = 2: requires user: the connections"
    with pytest.raises(ap.errors.ScenarioError, match=wrong):
        made.replace({"bottleneck.link": cell})
    result = ap.simulate(made.replace({"flows.0.user": [0, 1], "bottleneck.link": cell}), reps=1)
    assert [row["user"] for row in result.table("users").to_dict("records")] == [0, 1]
    assert [flow.user for flow in result.resolved.flows] == [0, 0, 1, 1]
    assert result.table("requests")["clients"].tolist() == [2]


def test_quantiles_are_those_of_all_clients() -> None:
    result = ap.simulate(scenario(count=3, size={"exponential": "20 kB"}), reps=1)
    [run] = result.replications
    times = [time for client in run["requests"] for time in client["object_s"]]
    [row] = result.table("requests").to_dict("records")
    assert row["p95_object_s"] == pytest.approx(np.quantile(times, 0.95))
    assert (row["clients"], row["objects"]) == (3, len(times))


def test_results_by_group() -> None:
    result = ap.simulate(scenario(size="10 kB", think={"exponential": "1 s"}), reps=2)
    [row] = result.intervals("requests")
    assert (row["name"], row["mean_page_s"].reps) == ("web", 2)
    assert result.to_dict()["requests"][0]["p99_object_s"]["mean"] == row["p99_object_s"].mean
    assert "p99" in result.to_latex("requests")


def test_sweep_has_metrics_of_clients() -> None:
    grid = {"bottleneck.link.rate": ["1 Mbit/s", "4 Mbit/s"]}
    made = scenario(size="50 kB")
    points = ap.sweep(made, grid=grid, metrics=["requests.web.p95_page_s"], reps=1).points()
    slow, fast = points["mean"]
    assert slow > fast


def test_kernel_has_no_client() -> None:
    with pytest.raises(ap.errors.ScenarioError, match=r"flows\.0\.requests: a client of Airpath"):
        ap.emulate(scenario(size="1 kB"), reps=1)


def test_fixed_point_does_not_cover_a_client() -> None:
    with pytest.raises(ap.errors.BadValueError, match=r"flows\.0\.requests = .* does not cover"):
        ap.solve(scenario(size="1 kB"), model="fixed-point")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ('size = "0 B"', 'requests.size = "0 B": not above 0. Use a size above 0'),
        ('size = "1 kB", objects = 0', "requests.objects = 0: below 1. Use an integer from 1 on"),
        (
            'size = "1 kB", think = {exponential = "0 s"}',
            'requests.think.exponential = "0 s": not above 0. Use a duration above 0',
        ),
        ("objects = 2", "requests.size: missing."),
        (
            'size = "1 kB", connections = 101',
            "requests.connections = 101: above 100. Use an integer from 1 to 100",
        ),
        ('size = "1 kB", streams = 0', "requests.streams = 0: below 1. Use an integer from 1 on"),
        ('size = "1 kB", main = "0 B"', 'requests.main = "0 B": not above 0. Use a size above 0'),
        (
            'size = "1 kB", connections = 6',
            "requests.connections = 6: count is not a multiple of the connections of a client. "
            "Set count = 6.",
        ),
    ],
)
def test_wrong_values_are_rejected(keys: str, problem: str) -> None:
    text = f"""
duration = "9 s"
[bottleneck]
aqm = "droptail"
link = {{kind = "fixed", rate = "1 Mbit/s"}}
[[flows]]
base_rtt = "40 ms"
requests = {{{keys}}}
"""
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(text, place="web.toml")
    assert str(caught.value).removeprefix("web.toml: flows.0.").startswith(problem)


def test_connections_of_a_client_have_the_same_base_rtt() -> None:
    """Regression: the message called a count of 4 no multiple of 2."""

    def clients(*rtts: str) -> list[ap.traffic.Source]:
        requests = {"size": "1 kB", "connections": 2}
        return ap.flows(4, base_rtt=list(rtts), requests=requests)

    assert clients("10 ms", "10 ms", "20 ms", "20 ms")[0].flows_per_client == 2
    with pytest.raises(ap.errors.ScenarioError) as caught:
        clients("10 ms", "20 ms", "20 ms", "30 ms")
    assert str(caught.value).endswith(
        "requests.connections = 2: the base RTTs of a client's connections differ. "
        "Set the same base_rtt for the 2 consecutive flows of a client."
    )


def test_abort_of_a_connection_gives_up_the_page() -> None:
    """The link stops at 40 s. R2 = 1: expiries of the timer after 1 s and 2 s."""
    made = scenario(size="1460 B", tcp={"initial_window": "15 kB", "max_retries": 1}, stopped=True)
    row = quality(made)
    assert row["given_up_pages"] == 1
    # The request precedes the stop by at most a page.
    assert 3.0 <= row["mean_given_up_s"] <= 3.0 + 0.1 + PACKET_S
    assert row["pages"] == pytest.approx(30 / (0.1 + PACKET_S), abs=2)
    waiting = quality(scenario(size="1460 B", stopped=True))
    assert (waiting["given_up_pages"], waiting["pages"]) == (0, row["pages"])
    assert np.isnan(waiting["mean_given_up_s"])
