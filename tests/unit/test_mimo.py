"""The MIMO fading link: accepted keys, counters, and independence of directions and threads."""

from __future__ import annotations

import time
from typing import Any

import pytest

import airpath as ap
from airpath.scenario import loads

GOOD = """
duration = "4 s"
warmup = "1 s"
[bottleneck]
aqm = {kind = "droptail", limit = "100 packets"}
[bottleneck.link]
kind = "mimo"
rate = "10 Mbit/s"
delay = "32 ms"
tx = 2
rx = 2
snr_db = 18
[ack_path]
kind = "reverse"
[[flows]]
count = 4
base_rtt = "89.6 ms"
tcp = {mss = "1000 B"}
"""
RS = {"kind": "reed-solomon", "code_rate": 0.93, "symbol_bits": 8}


def problems(link: dict[str, Any], flows: dict[str, Any] | None = None) -> list[str]:
    """Return the problems of the scenario `GOOD` with changed keys of the link and of the flows."""
    table = {**loads(GOOD).bottleneck.link.given(), **link}
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.Scenario(
            duration="4 s",
            bottleneck={"aqm": "droptail", "link": table},
            ack_path="reverse",
            flows=[{"base_rtt": "89.6 ms", **(flows or {})}],
        )
    return [str(problem).partition(": ")[2] for problem in caught.value.problems]


def test_all_problems_of_a_link_are_reported_at_once() -> None:
    link = {
        "tx": 3,
        "rx": 0,
        "snr_db": 300,
        "modulation": "8psk",
        "bad_snr_offset_db": 1,
        "p_good_to_bad": 0,
        "p_bad_to_good": 0,
        "fec": {"code_rate": 0, "symbol_bits": 17},
    }
    assert problems(link) == [
        "bottleneck.link.p_bad_to_good = 0: 0 like p_good_to_bad: the state would never "
        "change. Use a number above 0 for one of them.",
        "bottleneck.link.snr_db = 300: above 200. Use a number from -200 to 200, for example 30.",
        "bottleneck.link.bad_snr_offset_db = 1: above 0. Use a number from -200 to 0, for "
        "example -10.",
        "bottleneck.link.tx = 3: beyond two transmitters no complex space-time block code has "
        "the full rate. Use an integer from 1 to 2.",
        "bottleneck.link.rx = 0: below 1. Use an integer from 1 to 8, for example 2.",
        "bottleneck.link.fec.code_rate = 0: below 0.001. Use a number from 0.001 to 1, for "
        "example 0.93.",
        "bottleneck.link.fec.symbol_bits = 17: not a multiple of the bits of a symbol of 8psk. "
        "Use 3 or a multiple up to 16.",
    ]


@pytest.mark.parametrize(
    ("link", "line"),
    [
        ({"tx": 0}, ".tx = 0: below 1. Use an integer from 1 to 2, for example 2."),
        ({"tx": 1.5}, ".tx = 1.5: not an integer. Use an integer, for example 2."),
        ({"tx": -1}, ".tx = -1: below 0. Use an integer from 0, for example 2."),
        (
            {"fec": {**RS, "symbol_bits": True}},
            ".fec.symbol_bits = true: not an integer. Use an integer, for example 8.",
        ),
        ({"rx": 9}, ".rx = 9: above 8. Use an integer from 1 to 8, for example 2."),
        (
            {"p_good_to_bad": 1.5},
            ".p_good_to_bad = 1.5: above 1. Use a number from 0 to 1, for example 0.00125.",
        ),
        (
            {"modulation": "8psk", "fec": RS},
            ".fec.symbol_bits = 8: not a multiple of the bits of a symbol of 8psk. Use 3 or a "
            "multiple up to 16.",
        ),
        (
            {"fec": {**RS, "max_block": 256}},
            ".fec.max_block = 256: above the symbols that a code of this field has. Use an "
            "integer from 1 to 255.",
        ),
        (
            {"fec": {**RS, "code_rate": 0.1, "max_block": 9}},
            ".fec.max_block = 9: too short for one symbol of data at this code rate. Use an "
            "integer from 10 to 255.",
        ),
        (
            {"fec": {**RS, "max_block": 3}, "small": {"up_to": "128 B", "code_rate": 0.1}},
            ".small.code_rate = 0.1: blocks of max_block are too short for one symbol of data. "
            "Use a larger code rate.",
        ),
        (
            {"small": {"up_to": "128 B", "code_rate": 0.5}},
            '.small = {up_to = "128 B", code_rate = 0.5}: there is no fec. Set fec too; its '
            "code_rate = 1 corrects nothing.",
        ),
        (
            {"fec": RS, "small": {"up_to": "70 kB", "code_rate": 0.5}},
            '.small.up_to = "70 kB": above 65535 B. Use a size above 0 and at most "65535 B", '
            'for example "128 B".',
        ),
        (
            {"fec": {"kind": "turbo", "code_rate": 0.5}},
            '.fec.kind = "turbo": not one of the accepted words. Expected one of: reed-solomon.',
        ),
        ({"fading": "rician"}, ".k_factor_db: missing. Set k_factor_db = 6."),
        (
            {"m": 2},
            ".m = 2: Rayleigh fading has no such parameter. Remove it.",
        ),
    ],
)
def test_invalid_value_is_reported(link: dict[str, Any], line: str) -> None:
    assert problems(link) == [f"bottleneck.link{line}"]


def test_code_block_too_long_for_the_largest_packet_is_rejected() -> None:
    code = {"fec": {**RS, "code_rate": 0.1}, "small": {"up_to": "128 B", "code_rate": 0.001}}
    assert problems(code, {"tcp": {"mss": "8960 B"}}) == [
        "bottleneck.link.fec.code_rate = 0.1: a packet of 9000 B makes a block of 90000 symbols. "
        "Set max_block, a larger code rate or larger symbols.",
        "bottleneck.link.small.code_rate = 0.001: a packet of 128 B makes a block of 128000 "
        "symbols. Set max_block, a larger code rate or larger symbols.",
    ]
    assert loads(GOOD).replace("bottleneck.link.fec", {**RS, "code_rate": 0.1})


def corrects_nothing(link: dict[str, Any]) -> list[str]:
    changed = loads(GOOD).replace({f"bottleneck.link.{key}": link[key] for key in link})
    return [str(a) for a in ap.check(changed).advisories if a.code == "code-corrects-nothing"]


def test_code_that_corrects_nothing_is_rejected() -> None:
    """The number of correctable symbols t_C is 0: 40 symbols become 40 at rate 0.99 and 41 at 0.97;
    1040 symbols become 1051.
    """
    for code_rate in (0.99, 0.97):
        assert corrects_nothing({"fec": {**RS, "code_rate": code_rate}}) == [
            f"bottleneck.link: code_rate = {code_rate} leaves an ACK of 40 B without a symbol that "
            "can be corrected. A lower rate, or small = {up_to = …, code_rate = …}, helps."
        ]
    assert corrects_nothing({"fec": RS}) == corrects_nothing({"fec": {**RS, "code_rate": 1}}) == []
    small = {"up_to": "128 B", "code_rate": 0.5}
    assert corrects_nothing({"fec": {**RS, "code_rate": 0.99}, "small": small}) == []


def counters(result: ap.Result, name: str) -> dict[str, float]:
    links = {link["name"]: link for link in result.to_dict()["links"]}
    return {key: value["mean"] for key, value in links[name]["counters"].items()}


def test_failures_of_a_run_have_the_analytic_probability() -> None:
    """2×2, no code, 18 dB: 0.0424 for data, 0.00168 for ACKs (vcp-rem §6: 0.042)."""
    result = ap.simulate(loads(GOOD).replace("duration", "61 s"), reps=10)
    for name, size, law in (("bottleneck", "large", 0.0424), ("reverse", "small", 0.00168)):
        found = counters(result, name)
        packets, failed = 10 * found[f"{size}_packets"], 10 * found[f"{size}_failed"]
        # 3.29 standard deviations: 99.9 %.
        assert abs(failed - packets * law) < 3.29 * (packets * law) ** 0.5 + 5e-5 * packets


def cbr(direction: str) -> dict[str, Any]:
    return {"source": "cbr", "rate": "3 Mbit/s", "packet": "1040 B", "direction": direction}


def with_flows(*flows: dict[str, Any]) -> ap.Scenario:
    path = {"base_rtt": "89.6 ms"}
    return loads(GOOD).replace("flows", [{**flow, **path} for flow in flows])


def test_reverse_flow_does_not_change_losses_of_forward_flows() -> None:
    alone = ap.simulate(with_flows(cbr("forward")), reps=3)
    both = ap.simulate(with_flows(cbr("forward"), cbr("reverse")), reps=3)
    assert counters(both, "bottleneck") == counters(alone, "bottleneck")
    back = counters(both, "reverse")
    assert back["large_failed"] > 0
    assert back != counters(both, "bottleneck"), "each direction has a separate chain"


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    scenario = loads(GOOD).replace("bottleneck.link.fec", {**RS, "code_rate": 0.98})
    one, two = (ap.simulate(scenario, reps=6, threads=threads).to_dict() for threads in (1, 2))
    assert one["links"] == two["links"]
    assert one["flows"] == two["flows"]


@pytest.mark.parametrize("snr_db", [-50, 150])
@pytest.mark.parametrize("packet", ["1 B", "9000 B"])
@pytest.mark.parametrize(("p_good_to_bad", "p_bad_to_good"), [(0, 1), (1, 0), (1, 1), (1e-300, 0)])
def test_extreme_values_give_a_plausible_result(
    snr_db: float, packet: str, p_good_to_bad: float, p_bad_to_good: float
) -> None:
    began = time.process_time()
    scenario = with_flows({**cbr("forward"), "packet": packet, "rate": "500 kbit/s"}).replace(
        {
            "bottleneck.link.snr_db": snr_db,
            "bottleneck.link.p_good_to_bad": p_good_to_bad,
            "bottleneck.link.p_bad_to_good": p_bad_to_good,
            "bottleneck.link.fec": {**RS, "code_rate": 0.1, "max_block": 255},
            "duration": "2 s",
        }
    )
    found = counters(ap.simulate(scenario), "bottleneck")
    size = "small" if packet == "1 B" else "large"
    sent, failed = found[f"{size}_packets"], found[f"{size}_failed"]
    # With half of the symbols wrong, a block of ten bytes with four corrections rarely arrives.
    expected = (0, 0) if snr_db == 150 else (0.99, 1)
    assert sent > 0
    assert expected[0] <= failed / sent <= expected[1]
    assert time.process_time() - began < 10
