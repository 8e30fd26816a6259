"""Difference between `solve` and simulation, and the warning where it is large."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import airpath as ap
from airpath.errors import ModelWarning

MSS = 1460


def path(
    rate: str, base_rtt: str, tcp: dict[str, Any], *, loss: float = 0.0, **run: Any
) -> ap.Scenario:
    """Return a single flow with a buffer that never overflows."""
    return ap.Scenario(
        flows=ap.flows(cc="newreno", base_rtt=base_rtt, tcp=tcp),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="500 packets"), link=ap.link.Fixed(rate=rate, loss=loss)
        ),
        **({"duration": "30 s", "warmup": "10 s"} | run),
    )


def solved(scenario: ap.Scenario, **arguments: Any) -> ap.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return ap.solve(scenario, **arguments)


def simulated_bps(scenario: ap.Scenario, reps: int = 1) -> float:
    runs = ap.simulate(scenario, reps=reps, threads=1).table("flows")["ip_throughput_bps"]
    return float(runs.sum()) / reps


# --- windows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["20 B", "40 B", "60 B"])
@pytest.mark.parametrize("timestamps", [False, True])
@pytest.mark.parametrize("window", ["4 kB", "5 kB", "6 kB", "10 kB", "10.3 kB", "16 kB", "32 kB",
                                    "64 kB", "65535 B", "128 kB"])  # fmt: skip
def test_window_counts_whole_segments(window: str, timestamps: bool, header: str) -> None:
    # Regression: the window was divided by the packet size: a window of 10 kB was 6.67 packets, and
    # the throughput was 12 % too high (34 % with 4 kB).
    tcp = {"receive_window": window, "timestamps": timestamps, "header": header}
    scenario = path("50 Mbit/s", "80 ms", tcp)
    solution = solved(scenario)
    assert solution.throughput_bps == pytest.approx(simulated_bps(scenario), rel=0.012)
    assert not solution.warnings


def test_segments_of_an_incomplete_delayed_ack_do_not_count() -> None:
    # With delayed ACKs, a window of seven segments sends six segments per round trip.
    def throughput_bps(segments: int, delayed: int) -> float:
        tcp = {"receive_window": segments * MSS, "delayed_ack_segments": delayed}
        return solved(path("50 Mbit/s", "80 ms", tcp)).throughput_bps

    assert throughput_bps(7, 1) == pytest.approx(7 / 6 * throughput_bps(6, 1), rel=1e-9)
    assert throughput_bps(7, 2) == throughput_bps(6, 2) == throughput_bps(6, 1)
    assert throughput_bps(8, 3) == throughput_bps(6, 1)


@pytest.mark.parametrize(("given", "packets"), [({}, 44), ({"max_window_packets": 43.69}, 43.69)])
def test_largest_window_is_whole_segments_or_as_given(
    given: dict[str, float], packets: float
) -> None:
    solution = solved(path("10 Gbit/s", "1 s", {}), **given)
    assert solution.to_dict()["max_window_packets"] == packets
    assert solution.throughput_bps == pytest.approx(8 * 1500 * packets / (1 + 1.2e-6), rel=1e-9)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"max_window_packets": 0.5}, "0.5: below 1. Use a number of packets from 1 on."),
        (
            {"max_window_packets": 44, "model": "md1k"},
            "44: model md1k does not take it. Only fixed-point does.",
        ),
        (
            {"max_window_packets": 44, "trajectory": "1 s"},
            "44: only fixed-point takes it; trajectory is of clamp-fluid. Leave one out.",
        ),
    ],
)
def test_largest_window_out_of_range_is_reported_in_one_line(
    given: dict[str, Any], line: str
) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.solve(path("10 Gbit/s", "1 s", {}), **given)
    assert str(caught.value) == f"max_window_packets = {line}"


def test_window_smaller_than_one_ack_is_rejected() -> None:
    # Regression: the throughput was 3.5 times too high. Every round trip waits for the timer of
    # delayed ACKs.
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.solve(path("50 Mbit/s", "80 ms", {"receive_window": "2.9 kB"}))
    assert str(caught.value) == (
        'scenario: flows.0.tcp.receive_window = "2900 B": no analytic model covers it. Covered: '
        "2920 B and more, the 2 segments that an ACK is delayed for: less waits for its timer"
    )


@pytest.mark.parametrize("delayed", [1, 2, 4])
@pytest.mark.parametrize("segments", [4, 5, 6, 10])
@pytest.mark.parametrize("rate", ["500 kbit/s", "2 Mbit/s", "5 Mbit/s"])
@pytest.mark.parametrize("base_rtt", ["20 ms", "80 ms"])
def test_wait_of_acks_on_slow_links_is_reported(
    base_rtt: str, rate: str, segments: int, delayed: int
) -> None:
    # Regression: the throughput was up to 69 % too high, without a warning.
    tcp = {"receive_window": segments * MSS, "delayed_ack_segments": delayed}
    scenario = path(rate, base_rtt, tcp)
    solution, simulated = solved(scenario), simulated_bps(scenario)
    if solution.warnings:
        (line,) = solution.warnings
        found = re.fullmatch(
            r"ACKs wait [0-9.]+ ms for the next packets to come over the link: with that in each "
            r"round trip the throughput is about ([0-9.]+) Mbit/s \(-\d+ % from the fixed point\); "
            r"simulate",
            line,
        )
        assert found, line
        assert float(found[1]) * 1e6 == pytest.approx(simulated, rel=0.02)
        assert solution.throughput_bps > 1.04 * simulated
    else:
        assert solution.throughput_bps == pytest.approx(simulated, rel=0.06)


# --- losses ------------------------------------------------------------------------------------

LOSSES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.14, 0.2, 0.35, 0.5)


@pytest.mark.parametrize("recovery", ["newreno", "sack"])
@pytest.mark.parametrize("base_rtt", ["10 ms", "60 ms", "250 ms", "800 ms"])
def test_model_is_within_a_quarter_of_the_simulation_or_warns(base_rtt: str, recovery: str) -> None:
    # Regression: at a loss probability of 0.5 the throughput was nine times too high, without a
    # warning.
    tcp = {"receive_window": "1 MB", "recovery": recovery}
    for loss in LOSSES:
        scenario = path("200 Mbit/s", base_rtt, tcp, loss=loss, duration="410 s")
        solution, simulated = solved(scenario), simulated_bps(scenario, reps=2)
        off = solution.throughput_bps / simulated - 1
        assert solution.warnings or abs(off) < 0.25, f"loss {loss}: {off:+.0%}"


def test_low_loss_gives_no_warning() -> None:
    for loss, base_rtt in [(0.001, "60 ms"), (0.01, "120 ms"), (0.05, "400 ms"), (0.1, "900 ms")]:
        scenario = path("200 Mbit/s", base_rtt, {"receive_window": "1 MB"}, loss=loss)
        assert not solved(scenario).warnings


def test_high_loss_always_gives_a_warning() -> None:
    scenario = path("200 Mbit/s", "50 ms", {"receive_window": "1 MB"}, loss=0.5)
    with pytest.warns(ModelWarning) as caught:
        solution = ap.solve(scenario)
    assert [str(warning.message) for warning in caught] == list(solution.warnings)
    assert solution.to_dict()["warnings"] == [
        "the link loses 50 % of the packets: above 15 % neither the TCP formula nor the queue "
        "holds (profile rfc: half too much at 20 %, ten times as much at 50 %); simulate"
    ]


@pytest.mark.parametrize("loss", [0.0, 0.02, 0.1])
def test_throughput_with_a_queue_is_right_despite_timeouts(loss: float) -> None:
    # The warning is for an empty queue: here the queue compensates for errors of the formula.
    flows = ap.flows(40, cc="newreno", base_rtt="40 ms", start={"uniform": ["0 s", "3 s"]})
    bottleneck = ap.Bottleneck(aqm="gred", link=ap.link.Fixed(rate="2 Mbit/s", loss=loss))
    scenario = ap.Scenario(flows=flows, bottleneck=bottleneck, duration="200 s", warmup="50 s")
    solution = solved(scenario)
    assert solution.domain == "R1"
    assert not solution.warnings
    assert solution.throughput_bps == pytest.approx(simulated_bps(scenario), rel=0.01)


# --- written values ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flows.0.egress.rate": "3 Mbit/s"},
         'scenario: flows.0.egress.rate = "3 Mbit/s": no analytic model covers it. '
         "Covered: a wire that is faster than the bottleneck's link"),
        ({"control": [{"at": "5 s", "rate": "1 Mbit/s"}]},
         'scenario: control = [{at = "5 s", rate = "1 Mbit/s"}]: no analytic model covers it. '
         "Covered: rates that stay as they are, not those that [[control]] changes during the run"),
        ({"flows.0.tcp.rto_floor": "variance"},
         'scenario: flows.0.tcp.rto_floor = "variance": no analytic model covers it. '
         "Covered: total"),
        ({"flows.0.profile": "linux"},
         "scenario: flows.0.tcp.rto_floor = variance: no analytic model covers it. "
         "Covered: total"),
        ({"flows.0.cc": "cubic"},
         'scenario: flows.0.cc = "cubic": no analytic model covers it. Covered: reno'),
    ],
    ids=lambda case: next(iter(case)) if isinstance(case, dict) else "",
)  # fmt: skip
def test_rejection_shows_the_written_value(changes: dict[str, Any], message: str) -> None:
    scenario = path("10 Mbit/s", "80 ms", {"receive_window": "1 MB"}).replace(changes)
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.solve(scenario)
    assert str(caught.value) == message
