"""Voice calls: playout, loss and the rating of the E-model by group."""

from __future__ import annotations

from typing import Any

import pytest

import airpath as ap
from airpath.scenario import loads

PACKET_NS = 200 * 8
"""Transmission time of a packet of G.711 at 1 Gbit/s, ns."""


def scenario(*, loss: float = 0.0, rate: str = "1 Gbit/s", **keys: Any) -> ap.Scenario:
    call = {"source": "voice", "base_rtt": "0 s", "jitter_buffer": "0 s", **keys}
    return ap.Scenario(
        flows=ap.flows(**call),
        bottleneck=ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate=rate, loss=loss)),
        duration="101 s",
        warmup="1 s",
    )


def quality(made: ap.Scenario) -> dict[str, Any]:
    [row] = ap.simulate(made, reps=1).table("voice").to_dict("records")
    return {str(key): value for key, value in row.items()}


def test_call_without_delay_and_loss_has_the_rating_of_g107() -> None:
    """20 ms of packet interval: TERV = 48.09, Idte = 0.395, Idle = 0.432, so that R = 93.2 + 0.149
    − 0.827 (0.149 is Idle at 0 ms).
    """
    row = quality(scenario())
    assert row["mouth_to_ear_s"] == pytest.approx(0.020 + PACKET_NS * 1e-9, abs=1e-12)
    assert row["rating"] == pytest.approx(92.53, abs=0.05)
    assert (row["loss_ratio"], row["late_ratio"]) == (0, 0)


@pytest.mark.parametrize(
    ("keys", "delay_s"),
    [
        ({"base_rtt": "100 ms"}, 0.070),
        ({"jitter_buffer": "80 ms"}, 0.100),
        ({"interval": "40 ms"}, 0.040),
        ({"codec": "g729a"}, 0.025),
        ({"codec": "g723.1", "interval": "30 ms"}, 0.0375),
    ],
)
def test_mouth_to_ear_delay_is_the_sum_of_its_parts(keys: dict[str, Any], delay_s: float) -> None:
    assert quality(scenario(**keys))["mouth_to_ear_s"] == pytest.approx(delay_s, abs=1e-5)


def test_losses_of_the_link_reduce_the_rating_by_ie_eff() -> None:
    """G.107 eq. 7-29 with the measured loss ratio and burst ratio."""
    row = quality(scenario(loss=0.02, codec="g729a"))
    percent = 100 * row["loss_ratio"]
    assert 1 < percent < 3
    clean = quality(scenario(codec="g729a"))
    lost = 84 * percent / (percent / max(row["burst_ratio"], 1.0) + 19)
    assert clean["rating"] - row["rating"] == pytest.approx(lost, abs=1e-6)
    assert row["mos"] < clean["mos"]


def test_codec_without_loss_differs_by_its_impairment() -> None:
    """Ie of GSM EFR is 5; the advantage factor of 10 compensates twice as much."""
    plain = quality(scenario())["rating"]
    assert plain - quality(scenario(codec="gsm-efr"))["rating"] == pytest.approx(5, abs=1e-3)
    assert quality(scenario(advantage=10))["rating"] - plain == pytest.approx(10, abs=1e-9)


def test_packets_behind_a_growing_queue_are_late() -> None:
    """80 kbit/s over a link of 76 kbit/s: the queue grows by 1 ms per packet. With a jitter buffer
    of 100 ms the packets after about the hundredth are late.
    """
    made = scenario(rate="76 kbit/s", jitter_buffer="100 ms")
    row = quality(made)
    assert row["loss_ratio"] > 0.95
    assert row["late_ratio"] > 0.8


def test_calls_of_a_group_share_a_row() -> None:
    made = scenario(count=3, name="calls", start={"uniform": ["0 s", "20 ms"]})
    result = ap.simulate(made, reps=2)
    [row] = result.intervals("voice")
    assert (row["name"], row["calls"].mean, row["mos"].reps) == ("calls", 3, 2)
    assert result.to_dict()["voice"][0]["rating"]["mean"] == row["rating"].mean
    assert "MOS" in result.to_latex("voice")


def test_sweep_has_metrics_of_calls() -> None:
    made = scenario(name="calls", loss=0.01)
    grid = {"flows.calls.codec": ["g711", "g711-plc"]}
    points = ap.sweep(made, grid=grid, metrics=["voice.calls.mos"], reps=1).points()
    plain, concealed = points["mean"]
    assert plain < concealed


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        (
            'codec = "g711x"',
            'flows.0.codec = "g711x": not one of the accepted words. The nearest is g711; expected '
            "one of: g711, g711-plc, g729a, g723.1, gsm-efr.",
        ),
        (
            'codec = "g729a"\ninterval = "15 ms"',
            'flows.0.interval = "15 ms": not a multiple of the frame of codec = "g729a". Use a '
            'multiple of 10 ms, at most 1 s, for example "10 ms".',
        ),
        (
            "advantage = 21",
            "flows.0.advantage = 21: above 20. Use a number from 0 to 20, for example 0.",
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
source = "voice"
{keys}
"""
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(text, place="call.toml")
    assert str(caught.value).removeprefix("call.toml: ") == problem


def test_fixed_point_does_not_cover_a_call() -> None:
    with pytest.raises(ap.errors.BadValueError, match='source = "voice"'):
        ap.solve(scenario(), model="fixed-point")
