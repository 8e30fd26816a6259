"""M/D/1/K by `solve` compared with the simulation of the same scenario."""

from __future__ import annotations

import math
from typing import Any

import pytest

import airpath as ap
from airpath import _airpath
from airpath.scenario.examples import shipped_examples

CONFIDENCE = 1 - 1e-7
REPS = 16


def path(load: float, capacity: int, **link: Any) -> ap.Scenario:
    """Return two sources with total load `load` on a link that serves 1000 packets/s."""
    sources = [
        ap.flows(source="poisson", rate=share * load * 12e6, packet="1500 B",
                 egress={"delay": delay})
        for share, delay in ((0.75, "5 ms"), (0.25, "20 ms"))
    ]  # fmt: skip
    return ap.Scenario(
        flows=[source for group in sources for source in group],
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit=f"{capacity} packets"),
            link=ap.link.Fixed(rate="12 Mbit/s", **link),
        ),
        duration="60 s",
        warmup="5 s",
    )


def is_within(values: Any, expected: float) -> bool:
    mean, low, high = _airpath.mean_interval([float(value) for value in values], CONFIDENCE)
    # The interval must be narrow enough to reveal a wrong formula.
    assert high - low <= 0.4 * mean, (mean, low, high)
    return low <= expected <= high or math.isclose(mean, expected, rel_tol=1e-4, abs_tol=1e-12)


@pytest.mark.parametrize(
    ("load", "capacity"), [(0.3, 100), (0.8, 1), (0.8, 4), (0.8, 100), (1.0, 8), (3.0, 20)]
)
def test_queue_wait_and_drops_match_the_simulation(load: float, capacity: int) -> None:
    solution = ap.solve(path(load, capacity, loss=0.1))
    assert isinstance(solution, ap.solutions.Md1k)
    result = ap.simulate(path(load, capacity, loss=0.1), reps=REPS)
    queue = result.table("queues").query("queue == 'bottleneck'")
    link = result.table("links").query("link == 'bottleneck'")
    assert is_within(queue["mean_packets"], solution.queue_packets)
    assert is_within(queue["mean_sojourn_s"], solution.mean_sojourn_s)
    assert is_within(link["utilisation"], solution.utilisation)
    dropped = queue.filter(like="drops_").sum(axis=1) / queue["arrived"]
    if solution.drop_probability > 1e-9:
        assert is_within(dropped, solution.drop_probability)
    flows = result.table("flows")
    for flow in solution.flows:
        own = flows[flows["flow"] == flow.id]
        assert is_within(own["ip_throughput_bps"], flow.throughput_bps)


def test_one_way_delay_matches_the_simulation() -> None:
    scenario = path(0.8, 20, delay="3 ms", frame_overhead="100 B")
    solution = ap.solve(scenario)
    flows = ap.simulate(scenario, reps=REPS).table("flows")
    for flow in solution.flows:
        own = flows[flows["flow"] == flow.id]
        assert is_within(own["mean_delay_s"], flow.one_way_delay_s)


def test_example_has_the_results_in_its_comment() -> None:
    solution = ap.solve(shipped_examples() / "poisson-md1.toml")
    assert solution.queue_packets == pytest.approx(1.6, rel=1e-9)
    assert solution.lines() == [
        "throughput 8.000 Mbit/s (IP packets) of 8.000 offered, link in use 80.0 % of the time",
        "queue 1.60 packets, sojourn time 2.40 ms, 0 % dropped",
    ]
    assert "one-way delay" in solution._repr_html_()


def test_reasons_come_from_the_model_with_fewer_problems() -> None:
    scenario = path(0.8, 10).replace({"flows.0.access": {"rate": "1 Gbit/s"}})
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.solve(scenario)
    (line,) = str(caught.value).splitlines()
    assert "flows.0.access.rate = " in line
    assert line.endswith("Covered: no rate: one would space the packets out")
