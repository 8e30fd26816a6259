"""Error processes of links: error messages, and effects in a run."""

from __future__ import annotations

from typing import Any

import pytest

import airpath as ap
from airpath.scenario import loads

GOOD = """\
duration = "30 s"
[bottleneck]
aqm = "droptail"
link = {kind = "fixed", rate = "1 Mbit/s"}
[[flows]]
source = "cbr"
rate = "800 kbit/s"
"""
KINDS = ", ".join(ap.frame_errors.ErrorProcess.registry)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (
            "5",
            f' = 5: not an error process. Expected one of: {KINDS}, for example "independent".',
        ),
        (
            '{kind = "bursts"}',
            '.kind = "bursts": not an error process. The nearest is burst; '
            f"expected one of: {KINDS}.",
        ),
        ('{kind = "independent"}', ".loss: missing. Set loss = 0.01."),
        (
            '{kind = "burst", frame_error_rate = 1, doppler = 0.01}',
            ".frame_error_rate = 1: not below 1. Use a number from 0 to below 1, for example 0.1.",
        ),
        (
            '{kind = "burst", frame_error_rate = 0.1, doppler = 0}',
            ".doppler = 0: below 1e-09. Use a number from 1e-09 to 1e+09, for example 0.01.",
        ),
        (
            '{kind = "burst", frame_error_rate = 0.1, doppler = nan}',
            ".doppler = nan: not a number. Use a number, for example 0.01.",
        ),
        (
            '{kind = "burst", frame_error_rate = 0.1, doppler = "1 Hz"}',
            '.doppler = "1 Hz": not a number. Use a number, for example 0.01.',
        ),
        (
            '{kind = "burst", frame_error_rate = 0.1, doppler = 0.01, slot = "0 s"}',
            '.slot = "0 s": not above 0. Use a duration above 0, for example "10 ms".',
        ),
        (
            '{kind = "gilbert-elliott", p_good_to_bad = 0, p_bad_to_good = 0, slot = "1 ms"}',
            ".p_bad_to_good = 0: 0 like p_good_to_bad: the state would never change. Use a "
            "number above 0 for one of them.",
        ),
    ],
)
def test_invalid_error_process_is_reported(value: str, problem: str) -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(GOOD, overrides=[("bottleneck.link.errors", value)])
    assert str(caught.value) == f"overrides: bottleneck.link.errors{problem}"


def lost(**errors: Any) -> float:
    """Return the share of corrupted packets."""
    scenario = ap.Scenario(
        flows=ap.flows(source="cbr", rate="800 kbit/s"),
        bottleneck=ap.Bottleneck(
            aqm="droptail", link=ap.link.Fixed(rate="1 Mbit/s", errors=errors)
        ),
        duration="200 s",
    )
    link = ap.simulate(scenario, reps=1, seed=1).table("links").iloc[0]
    return float(link["lost_packets"] / (link["lost_packets"] + link["delivered_packets"]))


def test_packet_in_several_slots_is_exposed_to_the_losses_of_each() -> None:
    """Packets of 12 ms, sent every 15 ms: each overlaps three slots of 5 ms, at the same offset."""
    slots = {"p_good_to_bad": 0, "p_bad_to_good": 1, "loss_good": 0.1}
    share = lost(kind="gilbert-elliott", slot="5 ms", **slots)
    # 13 333 packets; tolerance: five standard deviations.
    assert share == pytest.approx(1 - 0.9**3, abs=5 * (0.271 * 0.729 / 13_333) ** 0.5)


def test_losses_with_probability_zero_and_one_are_exact() -> None:
    assert lost(kind="independent", loss=0) == 0
    assert lost(kind="independent", loss=1) == 1
    assert lost(kind="burst", frame_error_rate=0, doppler=0.01) == 0


def test_every_link_accepts_an_error_process_in_both_directions() -> None:
    errors = ap.frame_errors.Independent(loss=0.2)
    scenario = ap.Scenario(
        flows=ap.flows(base_rtt="20 ms"),
        bottleneck=ap.Bottleneck(
            aqm="droptail",
            link=ap.link.MultiRegime(thresholds=[], regimes=[{"rate": "1 Mbit/s"}], errors=errors),
        ),
        ack_path="reverse",
        duration="60 s",
    )
    links = ap.simulate(scenario, reps=1).table("links")
    assert len(links) == 2
    assert (links["lost_packets"] > 0).all()


BURST = {"kind": "burst", "frame_error_rate": 0.1, "doppler": 0.01}


def test_problem_is_reported_with_the_key_of_the_error_process() -> None:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.link.Fixed(rate="1 Mbit/s", errors={"kind": "independent"})
    assert str(caught.value) == "link.Fixed: errors.loss: missing. Set loss = 0.01."


def test_overrides_and_copies_change_the_error_process() -> None:
    text = GOOD.replace('"1 Mbit/s"', '"1 Mbit/s", errors = {kind = "independent", loss = 0.1}')
    link = loads(text, overrides=[("bottleneck.link.errors.loss", "0.2")]).bottleneck.link
    assert link.errors == ap.frame_errors.Independent(loss=0.2)
    copied = link.model_copy(update={"errors": BURST})
    assert copied.errors == ap.frame_errors.Burst(frame_error_rate=0.1, doppler=0.01)
