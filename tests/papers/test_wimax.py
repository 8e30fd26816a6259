"""The wimax paper: printed numbers, what is read off runs, its scenarios, its timelines."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_by_one import OneByOne

from airpath.models import rtt_stages
from airpath.reproduction.base import Cell, Effort
from airpath.reproduction.engine import Compiled, Series, Simulated
from airpath.reproduction.session import Session
from airpath_papers.wimax import PAPER
from airpath_papers.wimax.analysis import (
    DEFAULTS,
    WindowRule,
    analysed,
    eq9_mbps,
    ideal_of,
    model1_mbps,
    model2_mbps,
    printed_ideal_mbps,
)
from airpath_papers.wimax.crowds import Crowd
from airpath_papers.wimax.data import BASE_RTTS_MS, GAINS, POLICIES, table1, table2
from airpath_papers.wimax.measures import (
    QUANTITIES,
    DelayDistribution,
    duplicate_acks,
    goodput_mbps,
    total_mbps,
)
from airpath_papers.wimax.radio import DISTANCES_M, THRESHOLDS_DB, schemes_at
from airpath_papers.wimax.scenarios import AS_CHOSEN, CLOCK, Case, build
from airpath_papers.wimax.tables import bound
from airpath_papers.wimax.timelines import RANGED, Ranged, TwoAcks, find_two_acks, messages
from airpath_papers.wimax.validation import SWEEPS, Validation, cell_of, on_top
from airpath_papers.wimax.variants import DISTANCES, SCHEDULERS, SIZING

ROOT = Path(__file__).parents[2]
VARIANTS = {**SIZING, **SCHEDULERS, **DISTANCES}


def session(cells: list[Cell], runs: int | None = None) -> Session:
    """Return a session with these cells, each run so often as it is or as `runs` says."""
    paper = PAPER
    if runs is not None:
        whole = PAPER.effort_of
        paper = replace(PAPER, effort_of=lambda c, e: replace(whole(c, e), replications=runs))
    made = Session(paper, PAPER.modes["quick"], Compiled(), seed=1)
    made.simulate(cells)
    return made


# --- printed numbers ---------------------------------------------------------------------------


def test_the_printed_efficiencies_follow_from_the_printed_bytes() -> None:
    for found in table1().values():
        share = found["used"] / found["allocated"]
        assert abs(share - found["efficiency"]) < 0.005


def test_tables_1_and_2_agree_within_the_papers_noise() -> None:
    for policy, found in table1().items():
        assert found["goodput"] == pytest.approx(table2()[100, policy]["goodput"], rel=0.02)


def test_the_gains_of_the_text_follow_from_the_tables() -> None:
    for gain in GAINS:
        if gain.item == "fig7":
            continue
        found = (
            {policy: table1()[policy] for policy in POLICIES}
            if gain.item == "table1"
            else {policy: table2()[gain.base_rtt_ms, policy] for policy in POLICIES}
        )
        ratio = found[gain.policy]["goodput"] / found[gain.over]["goodput"]
        assert abs(100 * (ratio - 1) - gain.gain) < 0.7


def test_the_printed_gains_are_beyond_what_the_printed_delays_allow() -> None:
    bounds = [bound(rtt) for rtt in BASE_RTTS_MS]
    assert bounds == pytest.approx([0.43, 0.34, 0.23, 0.17, 0.135], abs=0.006)
    for rtt, most in list(zip(BASE_RTTS_MS, bounds, strict=True))[1:]:
        found = table2()[rtt, "adapt-bi"]["goodput"] / table2()[rtt, "uni"]["goodput"] - 1
        assert found > most


# --- what is measured --------------------------------------------------------------------------


def test_goodput_is_size_over_completion_time() -> None:
    flow = {"start_s": 2.0, "completed_at_s": 10.0, "delivered_bytes": 1_000_000}
    assert goodput_mbps({"flows": [flow]}) == pytest.approx(1.0)
    unfinished = {**flow, "completed_at_s": None}
    assert goodput_mbps({"flows": [unfinished], "simulated_s": 42.0}) == pytest.approx(0.2)


def test_the_total_leaves_uploads_out() -> None:
    flows = [{"goodput_bps": rate} for rate in (1e6, 2e6, 7e6, 8e6)]
    assert total_mbps({"flows": flows, "stations": [{}, {}]}) == pytest.approx(3.0)


class Delays(OneByOne):
    """An engine whose runs have these uplink delays, s, and counts."""

    def __init__(self, *runs: dict[float, int]) -> None:
        self.runs = runs

    def simulate_one(self, _scenario: Any, **_more: Any) -> Simulated:
        """Return the runs."""
        other = {"link": "bottleneck", "delay_s": [9.0], "count": [9]}
        found = [
            {"link": "reverse", "delay_s": list(run), "count": list(run.values())}
            for run in self.runs
        ]
        return Simulated([{"mac_delays": [other, each]} for each in found], interrupted=False)


def test_the_distribution_is_that_of_all_runs_together() -> None:
    engine: Any = Delays({0.01: 3, 0.04: 1}, {0.01: 2, 0.07: 4})
    made = Session(PAPER, PAPER.modes["quick"], engine, seed=1)
    made.simulate([Case("uni")])
    found = DelayDistribution(made, Case("uni"))
    assert [found.at(ms) for ms in (9, 10, 39, 40, 100)] == pytest.approx([0, 0.5, 0.5, 0.6, 1])
    assert [found.quantile(share) for share in (0.5, 0.6, 0.61, 1)] == pytest.approx(
        [10, 40, 70, 70]
    )
    assert found.near([10, 70], 1.0) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("arrivals", "duplicates"),
    [([0, 1, 2, 3], 0), ([0, 2, 3, 1, 4], 2), ([0, 1, 1, 2], 1), ([0, 2, 3, 2, 1, 4], 3)],
)
def test_what_is_not_the_next_segment_is_acknowledged_at_once(
    arrivals: list[int], duplicates: int
) -> None:
    times = np.arange(len(arrivals), dtype=float)
    ids = np.zeros(len(arrivals), dtype=np.uint32)
    found = Series(times, ids, 1500.0 * np.array(arrivals))
    assert duplicate_acks(found, 1500) == duplicates


# --- scenarios ---------------------------------------------------------------------------------


def test_every_cell_has_a_scenario() -> None:
    found = Session(PAPER, PAPER.modes["full"], Compiled(), seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(found)]
    cells += [cell for claim in PAPER.claims for cell in claim.cells]
    assert {type(cell) for cell in cells} == {Case, Validation, Crowd, Ranged}
    for cell in dict.fromkeys(cells):
        found.scenario(cell).resolve()


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_changes_link_or_flow(name: str) -> None:
    effort, case = Effort(1, 60.0, 0.0), Case("adapt-bi")
    chosen, changed = (
        json.loads(build(case, effort, variant).resolve()[0])
        for variant in (AS_CHOSEN, VARIANTS[name])
    )
    different = {key for key in chosen if chosen[key] != changed[key]}
    same_setting = {"round-robin": {"bottleneck", "flows"}}
    assert different <= {"bottleneck", "flows"}
    assert different or name in same_setting


def test_the_tables_have_a_hundred_runs_in_every_mode() -> None:
    for mode in PAPER.modes.values():
        for cell in (Case("uni", 20), Case("uni", loss=0.01), Validation(30.0, 100.0, 0.01, 1000)):
            assert PAPER.effort_of(cell, mode).replications == 100


def test_schemes_get_slower_with_the_distance_and_are_of_their_direction() -> None:
    found = [schemes_at(distance) for distance in DISTANCES_M]
    order = list(THRESHOLDS_DB)
    for direction in ("downlink", "uplink"):
        places = [order.index(getattr(each, direction)) for each in found]
        assert places == sorted(places, reverse=True)
    assert not any(each.downlink == "16qam-3/4" for each in found)
    assert not any(each.uplink.startswith("64qam") for each in found)


# --- the model ---------------------------------------------------------------------------------

CHECKED: Any = [(10, 16, 0.88), (30, 16, 0.75), (60, 16, 0.61), (10, 64, 0.98), (60, 64, 0.68)]
"""T_ct, ms; W_th; Mbit/s of an independent evaluation, the bits of all runs over their time."""


@pytest.mark.parametrize(("contention_ms", "ssthresh", "mbps"), CHECKED)
def test_eq_8_as_an_independent_evaluation_has_it(
    contention_ms: float, ssthresh: float, mbps: float
) -> None:
    case = DEFAULTS._replace(contention_ms=contention_ms)
    found = analysed(case, WindowRule(ssthresh, "updated"))
    assert found.ratio_of_sums_bps / 1e6 == pytest.approx(mbps, rel=0.01)
    assert found.throughput_bps > found.ratio_of_sums_bps


def test_a_queue_that_builds_is_counted_by_hand() -> None:
    """R = 5 Mbit/s, 20 ms, no losses: from 16 packets on a window is more than the pipe holds."""
    queued_s = time_s = 0.0
    windows = (1, 2, 4, 8, 16, 32, 64, 64, 64)  # 191 packets before the last
    for window in windows:
        rtt_s = 0.0016 + queued_s + 0.02
        time_s += rtt_s
        queued_s = max(queued_s + 0.0016 * window - rtt_s, 0.0)
    found = rtt_stages(200_000, 1000, 5e6, 0.02, 0.0, 0.0, 0.0, 1, 64, 64, queue="draining")
    assert found.stages == len(windows)
    assert found.throughput_bps == pytest.approx(8000 * sum(windows) / time_s)
    assert found.goodput_bps == pytest.approx(8 * 200_000 / time_s)
    assert found.error_bps == 0


def test_eq_9_is_limited_by_the_window() -> None:
    """wimax-2009 Eq. 9 by hand: 64 packets of 8 kbit in 0.1 s; sqrt(150) of them."""
    assert eq9_mbps(0.1, 1e-6) == pytest.approx(5.12)
    assert eq9_mbps(0.1, 0.01) == pytest.approx(8e-3 * 12.247449 / 0.1)
    assert model2_mbps(DEFAULTS) == pytest.approx(0.8907, abs=1e-4)
    assert model1_mbps(DEFAULTS) < model2_mbps(DEFAULTS)


def test_the_ideal_of_the_tables_is_counted_by_hand() -> None:
    """Without losses, 100 ms: a window of 1·√2^k up to 12, then half a packet more, up to 16."""
    window, sent, time_s = 1.0, 0.0, 0.0
    packet_s = 8 * 1500 / (8 * 360 * 9 / 5e-3 * 1500 / 1546)
    while sent <= 700:
        sent += window
        time_s += max(packet_s + 0.1, window * packet_s)
        window = min(window * 2**0.5 if window < 12 else window + 0.5, 16.0)
    assert ideal_of(100).throughput_bps == pytest.approx(8 * 1500 * sent / time_s, rel=1e-3)


def test_the_printed_ideal_is_that_of_an_independent_evaluation() -> None:
    """Eqs. 1 to 8 with b = 2, 43 packets, W_th = 30, p_e = 0.8 %, R = 1.7 Mbit/s."""
    assert printed_ideal_mbps(20) == pytest.approx(1.70, abs=0.006)
    assert printed_ideal_mbps(150) == pytest.approx(0.83, abs=0.006)


def test_a_piggyback_request_takes_no_more_than_the_frames_in_fig_3() -> None:
    """wimax-2009 Eqs. 4 and 5: T_pb is the whole delay that it causes."""
    found = Session(PAPER, PAPER.modes["quick"], Compiled(), seed=1)
    case = DEFAULTS._replace(contention_ms=10.0)
    for cell, delay_ns in ((cell_of(case), 0), (on_top(case), 10_000_000)):
        link = json.loads(found.scenario(cell).resolve()[0])["bottleneck"]["link"]
        assert link["request"]["piggyback"] == {"low_ns": delay_ns, "high_ns": delay_ns}


def test_each_sweep_passes_the_defaults() -> None:
    assert all(DEFAULTS in cases or name == "size_kb" for name, cases in SWEEPS.items())


# --- runs --------------------------------------------------------------------------------------


def test_the_cells_of_table_1_by_a_few_runs() -> None:
    cases: list[Cell] = [Case(policy) for policy in POLICIES]
    found = session(cases, runs=10)
    for case in cases:
        printed = table1()[Case(*case).policy]
        for name in ("used", "efficiency"):
            estimate = QUANTITIES[name].estimate(found, case)
            assert estimate is not None
            assert estimate.mean == pytest.approx(printed[name], rel=0.05)


@pytest.fixture(scope="module")
def two_acks() -> TwoAcks:
    return find_two_acks(session([RANGED]), RANGED)


def test_the_two_acks_of_figure_1_ask_as_in_the_standard(two_acks: TwoAcks) -> None:
    steps = messages(two_acks)
    assert [step.upwards for step in steps] == [True, False, True, False, True, False, True]
    # The code is sent behind the first ACK's arrival, the second ACK waits as the first is sent.
    assert two_acks.arrivals[0] < steps[0].sent_ms
    assert two_acks.arrivals[1] < steps[4].sent_ms


def test_no_grant_of_figure_1_leaves_before_its_request_was_received(two_acks: TwoAcks) -> None:
    steps = messages(two_acks)
    answers = [(asked, given) for asked, given in pairwise(steps) if asked.upwards]
    assert [given.name for _asked, given in answers] == ["2 allocation", "4 grant", "grant"]
    assert all(given.sent_ms >= asked.received_ms for asked, given in answers)
    # What a station sends follows what it was told.
    told = [(given, sent) for given, sent in pairwise(steps) if sent.upwards]
    assert all(sent.sent_ms >= given.received_ms for given, sent in told)
    # The frames of both bursts are the run's. The map before that of the second grants it.
    _first, second = two_acks.frames
    assert (second - 1) * CLOCK.frame_ms >= two_acks.received_ms[0]
    # From the code on no map is missed: the window of the first back-off has two opportunities.
    waited = (steps[0].sent_ms - two_acks.arrivals[0]) / CLOCK.frame_ms
    assert 0 < waited <= 2
