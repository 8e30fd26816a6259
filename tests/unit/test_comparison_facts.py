"""Verdicts on differences between engines, and the facts that support them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import airpath as ap
from airpath.comparison import kernel_facts
from airpath.comparison.answers import Answer, rows_of
from airpath.comparison.explain import facts_of, judged
from airpath.comparison.facts import EVERYTHING, Fact
from airpath.comparison.quantities import ComparedQuantity
from airpath.engine.resolved import ResolvedScenario
from engine_samples import emulation, scenario

GOODPUT = ComparedQuantity("goodput_bps", "goodput", "all 2", "Mbit/s", 1e-6, 3)


@pytest.fixture(scope="module")
def compared() -> ap.Comparison:
    return ap.compare(scenario(), engines="simulate,solve", reps=4, confidence=0.95)


def verdict(values: tuple[list[float], Any], *facts: Fact) -> tuple[str, list[str]]:
    answers = {
        "simulate": Answer("simulate", None, None, {GOODPUT.name: values[0]}),
        "solve": Answer("solve", None, None, {GOODPUT.name: values[1]}),
    }
    rows = rows_of(answers, [GOODPUT], "simulate", 0.95)
    [row] = judged(rows, facts, "simulate")
    return row.differences["solve"].verdict, list(row.differences["solve"].facts)


NEAR = [10.0, 10.2, 9.8, 10.1]


def test_difference_within_its_interval_is_noise() -> None:
    fact = Fact("any", "solve", "", EVERYTHING)
    assert verdict((NEAR, 10.05), fact) == ("within the noise", [])


def test_difference_of_the_known_size_is_explained() -> None:
    sized = Fact("window-oscillation", "solve", "", sizes={GOODPUT.name: 2.0})
    assert verdict((NEAR, 12.0), sized) == ("explained", ["window-oscillation"])
    assert verdict((NEAR, 15.0), sized) == ("not explained", [])
    # Facts of the base count with the opposite sign.
    of_base = Fact("window-oscillation", "simulate", "", sizes={GOODPUT.name: -2.0})
    assert verdict((NEAR, 12.0), of_base) == ("explained", ["window-oscillation"])


def test_facts_without_a_size_are_listed() -> None:
    fact = Fact("ack-ratio", "solve", "", ("goodput_bps",))
    other = Fact("loss-probes", "solve", "", ("retransmissions",))
    assert verdict((NEAR, 12.0), fact, other) == ("related", ["ack-ratio"])
    assert verdict((NEAR, 12.0), other) == ("not explained", [])


def test_smaller_effect_explains_nothing() -> None:
    small = Fact("lateness", "solve", "", ("goodput_bps",), most={"goodput_bps": 0.1})
    large = Fact("lateness", "solve", "", ("goodput_bps",), most={"goodput_bps": 5.0})
    assert verdict((NEAR, 12.0), small) == ("not explained", [])
    assert verdict((NEAR, 12.0), large) == ("related", ["lateness"])


def test_one_replication_gives_no_verdict() -> None:
    assert verdict(([10.0], 12.0)) == ("no interval", [])


def test_oscillation_of_the_fixed_point_is_a_fact_with_its_size(
    compared: ap.Comparison,
) -> None:
    solution = compared.answers["solve"].solution
    assert isinstance(solution, ap.solutions.FixedPoint)
    [oscillation] = [fact for fact in compared.facts if fact.code == "window-oscillation"]
    size = solution.queue_packets - solution.average_queue_packets
    assert oscillation.sizes["queues.bottleneck.mean_packets"] == size
    assert f"{solution.average_throughput_bps / 1e6:.4g} Mbit/s" in oscillation.text
    warned = [fact for fact in compared.facts if fact.code == "model-warning"]
    assert len(warned) == len(solution.warnings) > 0


def facts(validity: Mapping[str, Any] | None = None, **kernel: Any) -> dict[str, Fact]:
    made = scenario(duration="3 s", warmup="1 s")
    emulated = emulation(validity, **kernel)(made, seed=1, reps=2, confidence=0.9)
    answers = {"emulate": Answer("emulate", emulated, None, {})}
    return {fact.code: fact for fact in facts_of(answers, emulated.resolved)}


def test_valid_emulation_reports_only_its_lateness() -> None:
    found = facts()
    assert list(found) == ["lateness"]
    assert found["lateness"].text == (
        "packets left late by 0.020 ms (median, mean of the replications), the 99th percentile at "
        "most 0.100 ms, the latest 0.400 ms."
    )
    assert found["lateness"].most["mean_rtt_s"] == 2e-4


def test_invalid_validity_report_affects_every_quantity() -> None:
    bad = facts({"valid": False, "reasons": ["late by more than 5 % of the base RTT"]})
    assert bad["invalid-emulation"].text == (
        "2 of 2 replications are invalid: late by more than 5 % of the base RTT."
    )
    assert bad["invalid-emulation"].is_about("links.bottleneck.utilisation")


def test_packets_lost_outside_the_model_are_reported() -> None:
    found = facts({"device_drops": 3})["device-drops"]
    assert found.text.startswith("6 packets were dropped by the devices")


def test_deviating_ack_ratio_is_reported() -> None:
    assert "ack-ratio" not in facts({"ack_ratio": 0.53})
    text = facts({"ack_ratio": 0.95})["ack-ratio"].text
    assert "0.950 ACKs for each packet of data, the scenario has 0.500" in text
    assert "delayed_ack_segments = 2" in text


def line(option: str, configured: str, kernel: str) -> dict[str, Any]:
    return {"flows": [0], "option": option, "asked": configured, "kernel": kernel}


def test_settings_not_passed_to_the_kernel_are_listed() -> None:
    left = [
        line("tcp.exit_window", "burst-safe", "ssthresh"),
        line("tcp.initial_window", "4380 B", "4 segments"),
        line("tcp.rto_granularity", "0 s", "timers have ticks of 1/HZ, 1 to 10 ms"),
        line("tcp.delayed_ack_timeout", "200 ms", "40 to 200 ms, after the gaps"),
    ]
    found = facts(not_applied=left)
    assert found["not-applied:tcp.exit_window"].text == (
        "the scenario sets tcp.exit_window = burst-safe, the kernel has: ssthresh."
    )
    assert found["not-applied:tcp.exit_window"].is_about("timeouts")
    # Facts without effect explain no difference.
    for option, why in {
        "initial_window": "(that is over when the measurement begins).",
        "rto_granularity": "(no timer expired in either).",
        "delayed_ack_timeout": "(0.500 ACKs for each packet: few waited for it).",
    }.items():
        fact = found[f"not-applied:tcp.{option}"]
        assert not fact.is_about("goodput_bps")
        assert fact.text.endswith(why)


@pytest.mark.parametrize(
    ("option", "timeouts", "retransmissions", "why"),
    [
        ("exit_window", 1, 0, "nothing was retransmitted in either"),
        ("quick_acks", 1, 0, "nothing was retransmitted in either"),
        ("exit_window", 0, 3, ""),
        ("min_rto", 0, 3, "no timer expired in either"),
        ("min_rto", 1, 0, ""),
        ("pacing", 0, 0, ""),
    ],
)
def test_parameter_that_had_no_effect_explains_nothing(
    option: str, timeouts: float, retransmissions: float, why: str
) -> None:
    seen = kernel_facts._Seen(timeouts, retransmissions, ack_ratio=0.5, acks_as_asked=False)
    resolved = ResolvedScenario({"flows": [{"source": {}, "count": 1}], "warmup_ns": 1})
    assert kernel_facts._why_not(option, seen, resolved) == why


def test_kernel_behaviour_is_simulated_if_a_parameter_describes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The simulated replacement of the kernel has a small receive window, which no parameter of the
    scenario sets.
    """
    window = {"window_growth": "segments", "receive_window": "8000 B"}
    grows = scenario().replace({"flows.0.tcp": window})

    def emulate(made: ap.Scenario, **settings: Any) -> Any:
        growth = line("tcp.window_growth", "abc-1", "segments: by what was acknowledged")
        small = line("tcp.receive_window", "65535 B", "8000 B")
        others = [small, line("tcp.mss", "1460 B", "its own")]
        return emulation(not_applied=[growth, *others])(grows, **settings)

    monkeypatch.setattr(ap, "emulate", emulate, raising=False)
    found = ap.compare(scenario(), engines=["simulate", "emulate"], reps=4)
    tried = next(fact for fact in found.facts if fact.code == "as-the-kernel-does")
    assert "(tcp.window_growth = segments, tcp.receive_window = 8000 B), the goodput" in tried.text
    assert tried.settles == ("tcp.window_growth", "tcp.receive_window")
    again = ap.simulate(grows, reps=4).intervals("flows")[-1]["goodput_bps"].mean
    before = ap.simulate(scenario(), reps=4).intervals("flows")[-1]["goodput_bps"].mean
    assert tried.sizes["goodput_bps"] == pytest.approx(again - before)
    settled = next(fact for fact in found.facts if fact.code == "not-applied:tcp.window_growth")
    assert settled.text.endswith("(what that changes was simulated).")
    verdicts = {
        row.quantity.name: row.differences["emulate"].verdict
        for row in found.rows
        if row.differences["emulate"].verdict != "within the noise"
    }
    assert verdicts
    assert set(verdicts.values()) == {"explained"}


def test_counters_of_both_sides_are_reported_per_replication() -> None:
    counters = {
        "server": {"TcpExt.TCPLossProbes": [4, 2], "TcpExt.TCPSpuriousRTOs": [0, 0]},
        "client": {"TcpExt.TCPLossProbes": [0, 1], "Tcp.RetransSegs": [9, 8]},
    }
    found = facts(counters=counters)
    assert set(found) == {"lateness", "loss-probes"}
    assert found["loss-probes"].text.startswith("3.5 tail loss probes were sent (TcpExt.TCPLoss")
    assert found["loss-probes"].most["retransmissions"] == 3.5


def test_probes_of_simulated_senders_are_no_difference() -> None:
    counters = {"server": {"TcpExt.TCPLossProbes": [4, 2]}}
    linux = scenario(
        duration="3 s",
        warmup="1 s",
        flows=ap.flows(1, cc="reno", profile="linux", base_rtt="30 ms"),
    )
    emulated = emulation(counters=counters)(linux, seed=1, reps=2, confidence=0.9)
    answers = {"emulate": Answer("emulate", emulated, None, {})}
    assert [fact.code for fact in facts_of(answers, emulated.resolved)] == ["lateness"]


def test_equal_replications_are_reported_as_a_fact() -> None:
    still = scenario(
        flows=ap.flows(2, cc="reno", base_rtt="30 ms"),
        bottleneck=ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="8 Mbit/s")),
    )
    found = ap.compare(still, engines="simulate,solve", reps=2)
    assert "equal-replications" in [fact.code for fact in found.facts]
    assert {row.differences["solve"].verdict for row in found.rows} <= {
        "related", "explained", "within the noise",
    }  # fmt: skip
