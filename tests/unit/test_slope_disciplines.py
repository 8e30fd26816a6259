"""SBD and RED for an RLC buffer in a scenario."""

from __future__ import annotations

import numpy as np
import pytest
from discipline_texts import DURATION, problem, resolved, scenario
from hypothesis import given
from hypothesis import strategies as st

import airpath as ap
from airpath.scenario import loads

ROW = '{rate = "384 kbit/s", min_th = 20, reaction_time = "200 ms"}'
RED_ROW = '{rate = "384 kbit/s", min_th = 20, max_p = 0.05}'


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (
            '{kind = "sbd", limit = 0}',
            ".limit = 0: below 1. Use an integer from 1 on, for example 40.",
        ),
        (
            '{kind = "sbd", min_th = 41}',
            ".min_th = 41: above limit. Use an integer up to 40, for example 20.",
        ),
        (
            '{kind = "sbd", alpha = 0}',
            ".alpha = 0: below 1. Use an integer from 1 on, for example 5.",
        ),
        (
            '{kind = "sbd", tick = "0 ms"}',
            '.tick = "0 ms": not above 0. Use a duration above 0, for example "10 ms".',
        ),
        (
            '{kind = "sbd", reaction_time = 0.2}',
            f".reaction_time = 0.2: no unit. {DURATION}",
        ),
        (
            '{kind = "sbd", expiry = "timers"}',
            '.expiry = "timers": not one of the accepted words. The nearest is timer; expected '
            "one of: timer, arrival.",
        ),
        (
            '{kind = "sbd", by_rate = 3}',
            f".by_rate = 3: not a list. Use a list in square brackets, for example [{ROW}].",
        ),
        (
            f'{{kind = "sbd", by_rate = [{ROW}, {ROW}]}}',
            '.by_rate.1.rate = "384 kbit/s": in the table twice. Use one row for each rate.',
        ),
        (
            f'{{kind = "sbd", limit = 10, min_th = 5, by_rate = [{ROW}]}}',
            ".by_rate.0.min_th = 20: above limit. Use an integer up to 10.",
        ),
        (
            '{kind = "sbd", by_rate = [{rate = "1 Mbit/s", min_th = 20}]}',
            '.by_rate.0.reaction_time: missing. Set reaction_time = "200 ms".',
        ),
        (
            f'{{kind = "sbd", by_rate = [{RED_ROW.replace("}", "")}, reaction_time = "1 s"}}]}}',
            ".by_rate.0.max_p = 0.05: unknown key. Expected one of: rate, min_th, reaction_time.",
        ),
        (
            '{kind = "rlc-red", min_th = 40}',
            ".min_th = 40: not below limit. Use an integer below 40, for example 20.",
        ),
        (
            '{kind = "rlc-red", max_p = 1.1}',
            ".max_p = 1.1: above 1. Use a number from 0 to 1, for example 0.05.",
        ),
        ('{kind = "rlc-red", count = 1}', ".count = 1: not a truth value. Use true or false."),
        (
            '{kind = "rlc-red", drop = "back"}',
            '.drop = "back": not one of the accepted words. Expected one of: front, arrival.',
        ),
        (
            f'{{kind = "rlc-red", limit = 20, min_th = 5, by_rate = [{RED_ROW}]}}',
            ".by_rate.0.min_th = 20: not below limit. Use an integer below 20.",
        ),
    ],
)
def test_invalid_sbd_and_rlc_red_values_are_reported(table: str, line: str) -> None:
    assert problem(table) == line


def test_tables_by_rate_are_read_and_resolved() -> None:
    sbd = ap.aqm.Sbd(by_rate=[ap.aqm.SbdRow(rate="384 kbit/s", min_th=20, reaction_time="0.2 s")])
    assert resolved(sbd)["by_rate"] == [
        {"rate_bps": 384_000, "min_th": 20, "reaction_time_ns": 200_000_000}
    ]
    red = ap.aqm.RlcRed(by_rate=[ap.aqm.RlcRedRow(rate="64 kbit/s", min_th=10, max_p=0.3)])
    assert resolved(red)["by_rate"] == [{"rate_bps": 64_000, "min_th": 10, "max_p": 0.3}]
    aqms: list[ap.aqm.QueueDisc] = [sbd, red]
    for aqm in aqms:
        assert loads(scenario(aqm).to_toml()).bottleneck.aqm == aqm


@given(
    limit=st.integers(1, 10**9),
    share=st.floats(0, 1),
    reaction_time=st.integers(1, 10**17),
    alpha=st.integers(1, 10**9),
    tick=st.integers(1, 10**17),
    rates=st.lists(st.integers(1, 10**12), max_size=4, unique=True),
)
def test_sbd_numbers_survive_a_round_trip(
    limit: int, share: float, reaction_time: int, alpha: int, tick: int, rates: list[int]
) -> None:
    min_th = int(limit * share)
    row = {"min_th": min_th, "reaction_time": f"{reaction_time} ns"}
    rows = [{"rate": f"{rate} bit/s", **row} for rate in rates]
    aqm = ap.aqm.Sbd(limit=limit, **row, alpha=alpha, tick=f"{tick} ns", by_rate=rows)
    expected = {"min_th": min_th, "reaction_time_ns": reaction_time}
    found = resolved(aqm)
    assert found["by_rate"] == [{"rate_bps": rate, **expected} for rate in rates]
    expected |= {"limit": limit, "alpha": alpha, "tick_ns": tick}
    assert {key: found[key] for key in expected} == expected
    assert loads(scenario(aqm).to_toml()).bottleneck.aqm == aqm


def test_sbd_follows_a_rate_change_of_the_control() -> None:
    """The reaction time of 384 kbit/s applies until the change, then that of 128 kbit/s."""
    rows = (
        '[{rate = "384 kbit/s", min_th = 20, reaction_time = "200 ms"}, '
        '{rate = "128 kbit/s", min_th = 15, reaction_time = "1.3 s"}]'
    )
    text = f"""\
duration = "100 s"
record = {{series = ["drop"]}}
[bottleneck]
aqm = {{kind = "sbd", by_rate = {rows}}}
link = {{kind = "fixed", rate = "384 kbit/s"}}
[[control]]
at = "50 s"
rate = "128 kbit/s"
[[flows]]
source = "cbr"
rate = "600 kbit/s"
base_rtt = "250 ms"
"""
    drops = ap.simulate(loads(text), reps=1).series("drop")
    early = drops[drops["value"] == 1]["time_s"].to_numpy()
    before, after = early[(early > 10) & (early < 50)], early[early > 50]
    assert len(before) > 100
    assert len(after) > 30
    # Constant overload with an arrival every 20 ms: one packet is dropped per reaction time.
    assert np.diff(before) == pytest.approx(0.2)
    assert np.diff(after) == pytest.approx(1.3)
