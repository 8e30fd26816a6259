"""Clients that request objects: load times of objects and pages by group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.scenario import loads

PACKET_S = 1500 * 8 / 12e6
"""Transmission time of a full-sized packet at 12 Mbit/s, s."""


def scenario(*, warmup: str = "10 s", count: int = 1, **requests: Any) -> ap.Scenario:
    return ap.Scenario(
        flows=ap.flows(
            count, name="web", base_rtt="100 ms", requests=requests, tcp={"initial_window": "15 kB"}
        ),
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
