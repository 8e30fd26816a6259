"""Video clients: bitrates, stalls, switches and start-up by group."""

from __future__ import annotations

import math
from typing import Any

import pytest

import airpath as ap
from airpath.scenario import loads

LADDER = ["0.5 Mbit/s", "1 Mbit/s", "2 Mbit/s", "4 Mbit/s"]


def scenario(rate: str, duration: str = "200 s", **video: Any) -> ap.Scenario:
    keys = {"ladder": LADDER, "limit": "40 s", **video}
    return ap.Scenario(
        flows=ap.flows(name="tv", base_rtt="40 ms", video=keys),
        bottleneck=ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate=rate)),
        duration=duration,
    )


def quality(made: ap.Scenario, reps: int = 1) -> dict[str, Any]:
    row = ap.simulate(made, reps=reps).table("video").to_dict("records")[0]
    return {str(key): value for key, value in row.items()}


@pytest.mark.parametrize("rule", ["buffer_based", "rate_based"])
def test_fast_link_carries_the_highest_rate_without_stalls(rule: str) -> None:
    choice: dict[str, Any] = {rule: {}}
    made = scenario("50 Mbit/s", **choice).replace({"warmup": "60 s"})
    row = quality(made)
    assert (row["bitrate_bps"], row["switches"], row["stalls"]) == (4e6, 0, 0)
    assert row["startup_s"] < 0.6


def test_rate_based_client_chooses_the_highest_rate_below_the_throughput() -> None:
    """0.85 of the goodput of 2.8 Mbit/s and of 2 Mbit/s: 2 and 1 Mbit/s, after some segments."""
    for rate, bitrate in (("2.8 Mbit/s", 2e6), ("2 Mbit/s", 1e6)):
        made = scenario(rate, rate_based={}).replace({"warmup": "60 s"})
        row = quality(made)
        assert (row["bitrate_bps"], row["switches"], row["stalls"]) == (bitrate, 0, 0), rate


def test_buffer_based_client_uses_the_link_between_two_rates() -> None:
    """A link of 1.5 Mbit/s between 1 and 2 Mbit/s: the mean bitrate is near the goodput, and the
    buffer never runs empty, because the cushion is longer than a segment at 2 Mbit/s.
    """
    row = quality(scenario("1.5 Mbit/s", duration="600 s"))
    goodput = 1.5e6 * 1460 / 1500
    assert row["stalls"] == 0
    assert 0.9 * goodput < row["bitrate_bps"] < 1.05 * goodput
    assert row["switches"] > 5


def test_link_below_the_lowest_rate_stalls_for_the_missing_share() -> None:
    """A goodput of 0.4 Mbit/s for 0.5 Mbit/s of video: playback takes 80 % of the time."""
    rate = f"{0.4 * 1500 / 1460:.6f} Mbit/s"
    row = quality(scenario(rate, duration="1000 s"))
    assert row["bitrate_bps"] == 500_000
    assert row["stall_ratio"] == pytest.approx(0.2, abs=0.01)
    assert row["stalls"] > 50


def test_segments_are_delivered_completely() -> None:
    """100 segments of 4 s at 0.5 Mbit/s are 25 MB."""
    made = scenario("50 Mbit/s", duration="500 s", ladder=["0.5 Mbit/s"], segments=100)
    result = ap.simulate(made, reps=1)
    [row] = result.table("video").to_dict("records")
    assert (row["segments"], row["stalls"]) == (100, 0)
    assert result.table("flows")["delivered_bytes"][0] == 100 * 250_000


def test_request_is_not_delayed_by_the_receivers_timer() -> None:
    """Segments of three packets; the last one would wait for the delayed ACK of 100 ms. The time to
    the start of playback is that of one segment: two round trips and three transmissions.
    """
    video: dict[str, Any] = {"ladder": ["8 kbit/s"], "segment": "4.38 s", "startup": "4 s"}
    row = quality(scenario("50 Mbit/s", **video))
    assert row["startup_s"] < 0.1


def test_results_by_group() -> None:
    made = scenario("5 Mbit/s")
    made = made.replace({"flows.tv.count": 3, "flows.tv.start": {"uniform": ["0 s", "2 s"]}})
    result = ap.simulate(made, reps=2)
    [row] = result.intervals("video")
    assert (row["name"], row["clients"].mean, row["bitrate_bps"].reps) == ("tv", 3, 2)
    assert result.to_dict()["video"][0]["stalls"]["mean"] == row["stalls"].mean
    assert "bitrate" in result.to_latex("video")
    assert math.isnan(result.jain().mean)


def test_same_seed_gives_the_same_results() -> None:
    made = scenario("3 Mbit/s")
    assert quality(made) == quality(made)


def test_sweep_has_metrics_of_clients() -> None:
    grid = {"bottleneck.link.rate": ["1 Mbit/s", "4 Mbit/s"]}
    points = ap.sweep(scenario("1 Mbit/s"), grid=grid, metrics=["video.tv.bitrate_bps"], reps=1)
    slow, fast = points.points()["mean"]
    assert slow < fast


def test_kernel_has_no_client() -> None:
    with pytest.raises(ap.errors.ScenarioError, match=r"flows\.0\.video: a client of Airpath"):
        ap.emulate(scenario("1 Mbit/s"), reps=1)


def test_fixed_point_does_not_cover_a_client() -> None:
    with pytest.raises(ap.errors.BadValueError, match=r"flows\.0\.video = .* does not cover it"):
        ap.solve(scenario("1 Mbit/s"), model="fixed-point")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("ladder = []", "video.ladder = []: no rates. Set at least one rate."),
        (
            'ladder = ["2 Mbit/s", "1 Mbit/s"]',
            'video.ladder.1 = "1 Mbit/s": not above the previous rate. Use ascending rates.',
        ),
        (
            'ladder = ["1 Mbit/s"], limit = "5 s"',
            'video.limit = "5 s": below startup plus a segment. Use a duration from "8 s" on, for '
            'example "240 s".',
        ),
        (
            'ladder = ["1 Mbit/s"], buffer_based = {cushion = "200 s"}',
            'video.buffer_based.cushion = "200 s": above the limit. Use a duration up to "150 s".',
        ),
        (
            'ladder = ["1 Mbit/s"], rate_based = {window = 0}',
            "video.rate_based.window = 0: below 1. Use an integer from 1 to 1000, for example 5.",
        ),
        (
            'ladder = ["1 Mbit/s"], rate_based = {}, buffer_based = {}',
            "video.rate_based = {}: given together with buffer_based. Use one of the two.",
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
video = {{{keys}}}
"""
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(text, place="tv.toml")
    assert str(caught.value).removeprefix("tv.toml: flows.0.") == problem
