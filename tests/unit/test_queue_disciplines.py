"""Queue disciplines in a scenario: resolved forms, defaults, exact messages."""

from __future__ import annotations

from typing import Any

import pytest
from discipline_texts import DURATION, FILE, problem, resolved, scenario
from hypothesis import given
from hypothesis import strategies as st

import airpath as ap
from airpath.scenario import loads

DEFAULTS: list[tuple[ap.aqm.QueueDisc, dict[str, Any]]] = [
    (
        ap.aqm.CoDel(),
        {
            "kind": "codel",
            "limit": 1000,
            "target_ns": 5_000_000,
            "interval_ns": 100_000_000,
            "mtu_bytes": 1500,
            "ecn": False,
        },
    ),
    (
        ap.aqm.Red(),
        {
            "kind": "red",
            "limit": 100,
            "min_th": 5,
            "max_th": 15,
            "max_p": 0.1,
            "weight": 0.002,
            "target_delay_ns": 5_000_000,
            "mean_packet_bytes": 500,
            "gentle": True,
            "wait": True,
            "ecn": False,
            "hard_drop": True,
            "variant": "red-1993",
        },
    ),
    (
        ap.aqm.Ared(),
        {
            "kind": "ared",
            "limit": 100,
            "min_th": None,
            "max_th": None,
            "max_p": 0.1,
            "weight": None,
            "target_delay_ns": 5_000_000,
            "mean_packet_bytes": 500,
            "interval_ns": 500_000_000,
            "wait": True,
            "ecn": False,
        },
    ),
    (
        ap.aqm.Pie(),
        {
            "kind": "pie",
            "limit": 1000,
            "target_ns": 15_000_000,
            "update_ns": 15_000_000,
            "alpha": 0.125,
            "beta": 1.25,
            "max_burst_ns": 150_000_000,
            "mean_packet_bytes": 1500,
            "delay_estimate": "timestamps",
            "derandomise": False,
            "ecn": False,
            "ecn_threshold": 0.1,
        },
    ),
    (
        ap.aqm.FqCoDel(),
        {
            "kind": "fq-codel",
            "limit": 10_240,
            "flows": 1024,
            "quantum_bytes": 1514,
            "target_ns": 5_000_000,
            "interval_ns": 100_000_000,
            "mtu_bytes": 1500,
            "ecn": True,
        },
    ),
    (
        ap.aqm.Sbd(),
        {
            "kind": "sbd",
            "limit": 40,
            "min_th": 20,
            "reaction_time_ns": 200_000_000,
            "alpha": 5,
            "tick_ns": 10_000_000,
            "expiry": "timer",
            "after_drop": "react",
            "ecn": False,
            "by_rate": [],
        },
    ),
    (
        ap.aqm.RlcRed(),
        {
            "kind": "rlc-red",
            "limit": 40,
            "min_th": 20,
            "max_p": 0.05,
            "count": True,
            "drop": "front",
            "ecn": False,
            "by_rate": [],
        },
    ),
]


@pytest.mark.parametrize(("aqm", "expected"), DEFAULTS, ids=lambda x: getattr(x, "kind", ""))
def test_defaults_are_resolved(aqm: ap.aqm.QueueDisc, expected: dict[str, Any]) -> None:
    assert resolved(aqm) == expected


@pytest.mark.parametrize("aqm", [aqm for aqm, _ in DEFAULTS], ids=lambda x: getattr(x, "kind", ""))
def test_written_values_are_read_back(aqm: ap.aqm.QueueDisc) -> None:
    assert loads(scenario(aqm).to_toml()).bottleneck.aqm == aqm
    by_name = loads(FILE.format(table=f'"{aqm.kind}"'))  # type: ignore[attr-defined]
    assert by_name.bottleneck.aqm == aqm


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (
            '{kind = "codel", limit = 0}',
            ".limit = 0: below 1. Use an integer from 1 on, for example 1000.",
        ),
        ('{kind = "codel", target = 5}', f".target = 5: no unit. {DURATION}"),
        (
            '{kind = "codel", target = "0 s"}',
            '.target = "0 s": not above 0. Use a duration above 0, for example "5 ms".',
        ),
        ('{kind = "codel", interval = "100"}', f'.interval = "100": no unit. {DURATION}'),
        (
            '{kind = "codel", intervall = "100 ms"}',
            '.intervall = "100 ms": unknown key. The nearest is interval; '
            "expected one of: kind, limit, target, interval, mtu, ecn, ce_threshold, "
            "ce_threshold_ect1.",
        ),
    ],
)
def test_invalid_codel_values_are_reported(table: str, line: str) -> None:
    assert problem(table) == line


@given(
    limit=st.integers(1, 10**9),
    target=st.integers(1, 10**17),
    interval=st.integers(1, 10**17),
    mtu=st.integers(1, 10**18),
    ecn=st.booleans(),
)
def test_codel_numbers_survive_a_round_trip(
    limit: int, target: int, interval: int, mtu: int, ecn: bool
) -> None:
    aqm = ap.aqm.CoDel(
        limit=limit, target=f"{target} ns", interval=f"{interval} ns", mtu=f"{mtu} B", ecn=ecn
    )
    assert resolved(aqm) == {
        "kind": "codel",
        "limit": limit,
        "target_ns": target,
        "interval_ns": interval,
        "mtu_bytes": mtu,
        "ecn": ecn,
    }
    assert loads(scenario(aqm).to_toml()).bottleneck.aqm == aqm


# --- RED ---------------------------------------------------------------------------------------

AUTOMATIC = 'or "automatic"'


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (
            '{kind = "red", min_th = 15}',
            ".max_th = 15: not above min_th. Use an integer above 15.",
        ),
        (
            '{kind = "red", min_th = 0, max_th = "automatic"}',
            '.max_th = "automatic": three times min_th = 0. Set max_th above min_th.',
        ),
        (
            '{kind = "red", min_th = "automatic"}',
            ".max_th = 15: given with an automatic min_th. Set both thresholds or none.",
        ),
        (
            '{kind = "red", min_th = "auto"}',
            '.min_th = "auto": not an integer. Use an integer from 0 to 1000000000, '
            f"{AUTOMATIC}, for example 30.",
        ),
        (
            '{kind = "red", weight = 0}',
            ".weight = 0: not above 0. Use a number above 0 and at most 1, "
            f"{AUTOMATIC}, for example 0.002.",
        ),
        (
            '{kind = "red", max_p = 2}',
            ".max_p = 2: above 1. Use a number from 0 to 1, for example 0.1.",
        ),
        (
            '{kind = "red", mean_packet = "0 B"}',
            '.mean_packet = "0 B": not above 0. Use a size above 0, for example "500 B".',
        ),
        ('{kind = "red", wait = 1}', ".wait = 1: not a truth value. Use true or false."),
    ],
)
def test_invalid_red_values_are_reported(table: str, line: str) -> None:
    assert problem(table) == line


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (
            '{kind = "ared", max_th = 30}',
            ".max_th = 30: given with an automatic min_th. Set both thresholds or none.",
        ),
        (
            '{kind = "ared", interval = "0 s"}',
            '.interval = "0 s": not above 0. Use a duration above 0, for example "500 ms".',
        ),
        (
            '{kind = "ared", gentle = true}',
            ".gentle = true: unknown key. Expected one of: kind, limit, min_th, max_th, max_p, "
            "weight, target_delay, mean_packet, interval, wait, ecn.",
        ),
    ],
)
def test_invalid_ared_values_are_reported(table: str, line: str) -> None:
    assert problem(table) == line


@given(
    min_th=st.integers(0, 10**9 - 1) | st.just("automatic"),
    step=st.integers(1, 10**9) | st.just("automatic"),
    weight=st.floats(1e-12, 1.0) | st.just("automatic"),
    max_p=st.floats(0, 1),
)
def test_red_numbers_survive_a_round_trip(
    min_th: int | str, step: int | str, weight: float | str, max_p: float
) -> None:
    max_th: int | str = "automatic"
    if isinstance(min_th, int) and isinstance(step, int):
        max_th = min(min_th + step, 10**9)
    elif min_th == 0:
        min_th = 1
    aqm = ap.aqm.Red(min_th=min_th, max_th=max_th, weight=weight, max_p=max_p)
    found = resolved(aqm)
    expected = {"min_th": min_th, "max_th": max_th, "weight": weight, "max_p": max_p}
    assert {key: found[key] for key in expected} == {
        key: None if value == "automatic" else value for key, value in expected.items()
    }
    assert loads(scenario(aqm).to_toml()).bottleneck.aqm == aqm


# --- PIE ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (
            '{kind = "pie", target = "0 s"}',
            '.target = "0 s": not above 0. Use a duration above 0, for example "15 ms".',
        ),
        (
            '{kind = "pie", alpha = -1}',
            ".alpha = -1: below 0. Use a number from 0 on, for example 0.125.",
        ),
        (
            '{kind = "pie", beta = "1"}',
            '.beta = "1": not a number. Use a number, for example 1.25.',
        ),
        (
            '{kind = "pie", beta = inf}',
            ".beta = inf: not a number that can be used. Use a number, for example 1.25.",
        ),
        (
            '{kind = "pie", beta = nan}',
            ".beta = nan: not a number. Use a number, for example 1.25.",
        ),
        (
            '{kind = "pie", delay_estimate = "timestamp"}',
            '.delay_estimate = "timestamp": not one of the accepted words. '
            "The nearest is timestamps; expected one of: timestamps, departure-rate.",
        ),
        (
            '{kind = "pie", ecn_threshold = 10}',
            ".ecn_threshold = 10: above 1. Use a number from 0 to 1, for example 0.1.",
        ),
    ],
)
def test_invalid_pie_values_are_reported(table: str, line: str) -> None:
    assert problem(table) == line


@given(
    alpha=st.floats(0, 1e9),
    beta=st.floats(0, 1e9) | st.integers(0, 10**9),
    max_burst=st.integers(0, 10**17),
    mean_packet=st.integers(0, 10**18),
    delay_estimate=st.sampled_from(["timestamps", "departure-rate"]),
)
def test_pie_numbers_survive_a_round_trip(
    alpha: float, beta: float, max_burst: int, mean_packet: int, delay_estimate: str
) -> None:
    aqm = ap.aqm.Pie(
        alpha=alpha,
        beta=beta,
        max_burst=f"{max_burst} ns",
        mean_packet=f"{mean_packet} B",
        delay_estimate=delay_estimate,
    )
    found = resolved(aqm)
    expected = {
        "alpha": alpha,
        "beta": beta,
        "max_burst_ns": max_burst,
        "mean_packet_bytes": mean_packet,
        "delay_estimate": delay_estimate,
    }
    assert {key: found[key] for key in expected} == expected
    assert loads(scenario(aqm).to_toml()).bottleneck.aqm == aqm


# --- FQ-CoDel ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (
            '{kind = "fq-codel", flows = 0}',
            ".flows = 0: below 1. Use an integer from 1 to 65535, for example 1024.",
        ),
        (
            '{kind = "fq-codel", flows = 65536}',
            ".flows = 65536: above 65535. Use an integer from 1 to 65535, for example 1024.",
        ),
        (
            '{kind = "fq-codel", quantum = "255 B"}',
            '.quantum = "255 B": below 256 B. Use a size from "256 B" to "4 GB", for example '
            '"1514 B".',
        ),
        (
            '{kind = "fq-codel", quantum = "5 GB"}',
            '.quantum = "5 GB": above 4 GB. Use a size from "256 B" to "4 GB", for example '
            '"1514 B".',
        ),
        (
            '{kind = "fq-codel", limit = 1.5}',
            ".limit = 1.5: not an integer. Use an integer from 0 to 1000000000, for example 30.",
        ),
        (
            '{kind = "fq-codel", target = "0 ms"}',
            '.target = "0 ms": not above 0. Use a duration above 0, for example "5 ms".',
        ),
    ],
)
def test_invalid_fq_codel_values_are_reported(table: str, line: str) -> None:
    assert problem(table) == line


@given(
    limit=st.integers(1, 10**9),
    queues=st.integers(1, 65_535),
    quantum=st.integers(256, 4 * 10**9),
    target=st.integers(1, 10**17),
)
def test_fq_codel_numbers_survive_a_round_trip(
    limit: int, queues: int, quantum: int, target: int
) -> None:
    aqm = ap.aqm.FqCoDel(limit=limit, flows=queues, quantum=f"{quantum} B", target=f"{target} ns")
    found = resolved(aqm)
    expected = {
        "limit": limit,
        "flows": queues,
        "quantum_bytes": quantum,
        "target_ns": target,
    }
    assert {key: found[key] for key in expected} == expected
    assert loads(scenario(aqm).to_toml()).bottleneck.aqm == aqm
