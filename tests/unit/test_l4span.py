"""L4Span end to end: messages, result columns, and one queue for each user of a cell."""

from __future__ import annotations

import pytest

import airpath as ap
from airpath.errors import ScenarioError
from airpath.scenario import loads

WINDOW = {"receive_window": "4 MB"}


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (
            '{kind = "l4span", target = "0 s"}',
            '.target = "0 s": not above 0. Use a duration above 0, for example "10 ms".',
        ),
        (
            '{kind = "l4span", packets = 0}',
            ".packets = 0: below 1. Use an integer from 1 to 1000, for example 50.",
        ),
        (
            '{kind = "l4span", packets = 1001}',
            ".packets = 1001: above 1000. Use an integer from 1 to 1000, for example 50.",
        ),
        (
            '{kind = "l4span", classic_constant = 0}',
            ".classic_constant = 0: not above 0. Use a number above 0, for example 7.",
        ),
        (
            '{kind = "l4span", mss = "0 B"}',
            '.mss = "0 B": not above 0. Use a size above 0, for example "1460 B".',
        ),
    ],
)
def test_invalid_values_are_reported(table: str, line: str) -> None:
    with pytest.raises(ScenarioError) as found:
        loads(
            f'duration = "1 s"\n[bottleneck]\naqm = {table}\n'
            'link = {kind = "fixed", rate = "1 Mbit/s"}\n[[flows]]\nbase_rtt = "10 ms"\n'
        )
    assert str(found.value).splitlines()[-1].endswith("bottleneck.aqm" + line)


def test_predicted_sojourn_time_is_that_of_a_backlogged_link() -> None:
    """Prague over 20 Mbit/s: the predicted time is the measured one within 10 %."""
    scenario = ap.Scenario(
        duration="20 s",
        warmup="5 s",
        flows=ap.flows(1, cc="prague", base_rtt="20 ms", tcp=WINDOW),
        bottleneck=ap.Bottleneck(aqm="l4span", link=ap.link.Fixed(rate="20 Mbit/s")),
    )
    [row] = ap.simulate(scenario, reps=1, seed=1).table("queues").to_dict("records")
    assert row["predicted_sojourn_s"] == pytest.approx(row["mean_sojourn_s"], rel=0.1)
    assert row["marks"] > 0
    assert row["predicted_sojourn_s"] < 0.012


def test_every_user_of_a_cell_has_a_separate_marker() -> None:
    """A Prague flow and a CUBIC flow of two users: the queue of CUBIC does not starve Prague."""
    cell = ap.link.Cell(
        slot="1 ms",
        rate={"kind": "shannon", "bandwidth": "10 MHz", "cap": "40 Mbit/s"},
        snr={"kind": "constant", "mean": "10 dB"},
    )
    flows = [
        ap.traffic.Tcp(cc="prague", base_rtt="40 ms", user=0, tcp=WINDOW),
        ap.traffic.Tcp(
            cc="cubic", profile="linux", base_rtt="40 ms", user=1, tcp={**WINDOW, "ecn": "on"}
        ),
    ]
    scenario = ap.Scenario(
        duration="20 s",
        warmup="5 s",
        flows=flows,
        bottleneck=ap.Bottleneck(aqm="l4span", link=cell),
    )
    result = ap.simulate(scenario, reps=1, seed=1)
    prague, cubic = result.table("flows")["goodput_bps"]
    assert 0.8 < prague / cubic < 1.25
    first, second = result.table("queues")["predicted_sojourn_s"]
    assert first < 0.02 < second
