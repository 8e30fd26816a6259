"""The wimax paper: printed numbers, measured quantities, scenarios, timelines."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_by_one import OneByOne, lasting

import airpath as ap
from airpath.models import rtt_stages
from airpath.reproduction.base import Cell
from airpath.reproduction.engine import Series, Simulated
from airpath.reproduction.session import Session
from airpath_papers.wimax import PAPER
from airpath_papers.wimax.analysis import (
    DEFAULTS,
    analysed,
    eq9_mbps,
    model1_mbps,
    model2_mbps,
    printed_ideal_mbps,
    tables_ideal_mbps,
)
from airpath_papers.wimax.claims import SWEEPS
from airpath_papers.wimax.data import GAINS, POLICIES, printed
from airpath_papers.wimax.measures import (
    QUANTITIES,
    DelayDistribution,
    duplicate_acks,
    goodput_mbps,
)
from airpath_papers.wimax.quantities import QUANTITIES as OF_ITEMS
from airpath_papers.wimax.quantities import bound
from airpath_papers.wimax.scenarios import FRAME_MS, MODEL, MODEL_SEGMENT, MODEL_WINDOW, PATH
from airpath_papers.wimax.timelines import RANGED, SERVER_MS, TwoAcks, find_two_acks, messages

ROOT = Path(__file__).parents[2]
BASE_RTTS_MS = (20, 50, 100, 150, 200)
CHANGES = ("sizing", "schedulers", "distances", "radio")
UNI, BLIND, ADAPT = SWEEPS.cells("table1")


def session(cells: list[Cell], runs: int | None = None) -> Session:
    """Return a session with these points, each with the replications of its sweep, or with
    `runs`.
    """
    paper = PAPER
    if runs is not None:
        paper = replace(PAPER, sweeps=lasting(PAPER.sweeps, replications=runs))
    made = Session(paper, PAPER.modes["quick"], seed=1)
    made.simulate(cells)
    return made


def resolved(cell: Any) -> Any:
    found = Session(PAPER, PAPER.modes["quick"], seed=1)
    return json.loads(found.scenario(cell).resolve()[0])


# --- printed numbers ---------------------------------------------------------------------------


def test_printed_efficiencies_follow_from_the_printed_bytes() -> None:
    for found in printed("table1").values():
        share = found["used"] / found["allocated"]
        assert abs(share - found["efficiency"]) < 0.005


def test_tables_1_and_2_agree_within_noise_of_paper() -> None:
    for place, found in printed("table1").items():
        assert found["goodput"] == pytest.approx(printed("table2")[place]["goodput"], rel=0.02)


def test_gains_of_the_text_follow_from_the_tables() -> None:
    for gain in GAINS:
        if gain["item"] == "fig7":
            continue
        found, rtt = printed(gain["item"]), int(gain["base_rtt_ms"])
        ratio = found[rtt, gain["policy"]]["goodput"] / found[rtt, gain["over"]]["goodput"]
        assert abs(100 * (ratio - 1) - float(gain["gain"])) < 0.7


def test_rows_of_gains_use_text_or_throughputs() -> None:
    found = {}
    for key, quantity in {"table1": "gain", "table2": "gain", "fig7": "gain_over_loss"}.items():
        points = SWEEPS.cells("gains", item=key)
        rows = [OF_ITEMS[quantity].row(session([]), point, point.axes) for point in points]
        assert [row.computed for row in rows] == [None] * len(points)
        found[key] = [round(row.published or 0.0, 1) for row in rows]
    # 1.35 over 0.98, 1.01 over 0.76, 0.74 over 0.60 Mbit/s.
    assert found == {
        "table1": [31, 5],
        "table2": [39, 37.8, 32.9, 23.3, 18],
        "fig7": [23, 40, 23, 40],
    }


def test_gain_of_change_is_gain_of_adapt_bi_at_its_point() -> None:
    made, uni = session([]), SWEEPS.cells("sizing", change="packing")[0]
    rates = {uni: 2.0, uni.at(policy="adapt-bi"): 2.5}
    vars(made)["values"] = lambda cell, _value: [rates[cell]] if cell in rates else []
    assert OF_ITEMS["gain_of_change"].text(made, uni) == "+25.0"
    assert OF_ITEMS["gain_of_change"].text(made, SWEEPS.cells("chosen")[0]) == ""


def test_printed_gains_exceed_gains_possible_with_printed_delays() -> None:
    bounds = [bound(rtt) for rtt in BASE_RTTS_MS]
    assert bounds == pytest.approx([0.43, 0.34, 0.23, 0.17, 0.135], abs=0.006)
    for rtt, most in list(zip(BASE_RTTS_MS, bounds, strict=True))[1:]:
        found = printed("table2")
        assert found[rtt, "adapt-bi"]["goodput"] / found[rtt, "uni"]["goodput"] - 1 > most


# --- measured quantities -----------------------------------------------------------------------


def test_goodput_is_size_over_completion_time() -> None:
    flow = {"start_s": 2.0, "completed_at_s": 10.0, "delivered_bytes": 1_000_000}
    assert goodput_mbps({"flows": [flow]}) == pytest.approx(1.0)
    unfinished = {**flow, "completed_at_s": None}
    assert goodput_mbps({"flows": [unfinished], "simulated_s": 42.0}) == pytest.approx(0.2)


class Delays(OneByOne):
    """An engine whose replications have these uplink delays (s) and counts."""

    def __init__(self, *runs: dict[float, int]) -> None:
        self.runs = runs

    def simulate_one(self, _scenario: Any, **_more: Any) -> Simulated:
        """Return the replications."""
        other = {"link": "bottleneck", "delay_s": [9.0], "count": [9]}
        found = [
            {"link": "reverse", "delay_s": list(run), "count": list(run.values())}
            for run in self.runs
        ]
        return Simulated([{"mac_delays": [other, each]} for each in found])


def test_distribution_combines_all_replications() -> None:
    engine = Delays({0.01: 3, 0.04: 1}, {0.01: 2, 0.07: 4})
    made = Session(PAPER, PAPER.modes["quick"])
    engine.simulate(made, [UNI])
    found = DelayDistribution(made, UNI)
    assert [found.at(ms) for ms in (9, 10, 39, 40, 100)] == pytest.approx([0, 0.5, 0.5, 0.6, 1])
    assert [found.quantile(share) for share in (0.5, 0.6, 0.61, 1)] == pytest.approx(
        [10, 40, 70, 70]
    )
    assert found.near([10, 70], 1.0) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("arrivals", "duplicates"),
    [([0, 1, 2, 3], 0), ([0, 2, 3, 1, 4], 2), ([0, 1, 1, 2], 1), ([0, 2, 3, 2, 1, 4], 3)],
)
def test_out_of_order_segment_is_acknowledged_at_once(arrivals: list[int], duplicates: int) -> None:
    times = np.arange(len(arrivals), dtype=float)
    ids = np.zeros(len(arrivals), dtype=np.uint32)
    found = Series(times, ids, 1500.0 * np.array(arrivals))
    assert duplicate_acks(found, 1500) == duplicates


# --- scenarios ---------------------------------------------------------------------------------


def test_every_cell_has_a_scenario() -> None:
    found = Session(PAPER, PAPER.modes["full"], seed=1)
    cells: list[Any] = [cell for item in PAPER.items for cell in item.cells_of(found)]
    cells += [cell for claim in PAPER.claims for cell in claim.cells]
    assert {cell.scenario for cell in cells} == {"download", "model", "crowd", "ranging.toml"}
    for cell in dict.fromkeys(cells):
        found.scenario(cell).resolve()


@pytest.mark.parametrize(
    ("sweep", "change"), [(sweep, change) for sweep in CHANGES for change in SWEEPS.changes(sweep)]
)
def test_change_modifies_link_or_flow(sweep: str, change: str) -> None:
    [cell, *_] = SWEEPS.cells(sweep, change=change, policy="adapt-bi")
    chosen, changed = resolved(SWEEPS.cells("table2", **_rtt(cell))[2]), resolved(cell)
    different = {key for key in chosen if chosen[key] != changed[key]}
    assert different
    assert different <= {"bottleneck", "flows"}


def _rtt(cell: Any) -> dict[str, Any]:
    return {"base_rtt_ms": cell.axes["base_rtt_ms"]}


def test_tables_and_figures_have_a_hundred_runs_in_every_mode() -> None:
    for mode in PAPER.modes.values():
        for sweep in ("table1", "table2", "fig3", "fig4", "fig7"):
            for cell in SWEEPS.cells(sweep):
                assert PAPER.sweeps.effort_of(cell, mode).replications == 100


def test_files_and_functions_have_the_same_numbers() -> None:
    flow: Any = MODEL.flows[0]
    tcp = flow.tcp
    assert int(tcp.mss) == MODEL_SEGMENT
    assert int(tcp.receive_window) == int(tcp.initial_ssthresh) == MODEL_WINDOW * MODEL_SEGMENT
    ranged: Any = ap.load(ROOT / "papers/airpath_papers/wimax/ranging.toml").flows[0]
    assert int(ranged.access.delay) == 1e6 * SERVER_MS
    assert ranged.given() == PATH.flows[0].given()


# --- schemes by distance -----------------------------------------------------------------------

THRESHOLDS_DB = {
    "qpsk-1/12": -5.0,
    "qpsk-1/8": -3.0,
    "qpsk-1/4": 0.0,
    "qpsk-1/2": 3.0,
    "qpsk-3/4": 6.0,
    "16qam-1/2": 8.5,
    "16qam-3/4": 12.0,
    "64qam-2/3": 16.0,
    "64qam-3/4": 17.5,
    "64qam-5/6": 20.0,
}
"""SNR from which an MCS is used: at this SNR one block in ten fails over an AWGN channel."""


def fastest(snr_db: float, is_left_out: Any) -> str:
    usable = [name for name, least in THRESHOLDS_DB.items() if least <= snr_db]
    return next((name for name in reversed(usable) if not is_left_out(name)), "qpsk-1/12")


@pytest.mark.parametrize("distance_m", [500, 1000, 1500, 2000, 3000])
def test_schemes_follow_from_the_link_budget_at_a_distance(distance_m: int) -> None:
    """Link budget with COST-231 Hata at 2.5 GHz; MCSs of the two lists of §5.1."""
    change = f"{distance_m}-m"
    radio = ap.link.Radio(distance=f"{distance_m} m")
    down_db = float(radio.mean_db())
    up_db = down_db + float(radio.uplink_db)
    down = fastest(down_db, lambda name: name == "16qam-3/4")
    up = fastest(up_db, lambda name: name.startswith("64qam"))
    axes = SWEEPS.cells("distances", change=change)[0].axes
    assert axes["bottleneck.link.downlink_mcs"] == down
    assert axes["bottleneck.link.uplink_mcs"] == up
    about = f"{distance_m} m: {down} at {down_db:.0f} dB down, {up} at {up_db:.0f} dB up"
    assert SWEEPS.changes("distances")[change] == about


# --- the model ---------------------------------------------------------------------------------

CHECKED: Any = [(10, 16, 0.88), (30, 16, 0.75), (60, 16, 0.61), (10, 64, 0.98), (60, 64, 0.68)]
"""T_ct in ms, W_th, and the throughput in Mbit/s from an independent evaluation: the bits of all
replications divided by their total time.
"""


@pytest.mark.parametrize(("contention_ms", "ssthresh", "mbps"), CHECKED)
def test_eq_8_matches_independent_evaluation(
    contention_ms: float, ssthresh: float, mbps: float
) -> None:
    found = analysed({**DEFAULTS, "contention_ms": contention_ms}, ssthresh)
    assert found.ratio_of_sums_bps / 1e6 == pytest.approx(mbps, rel=0.01)
    assert found.throughput_bps > found.ratio_of_sums_bps


def test_growing_queue_matches_hand_calculation() -> None:
    """Rate R = 5 Mbit/s, round trip 20 ms, no losses: a window of 16 packets or more exceeds the
    bandwidth-delay product.
    """
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
    """wimax-2009 Eq. 9 computed by hand: 64 packets of 8 kbit in 0.1 s; with losses sqrt(150)
    packets."""
    assert eq9_mbps(0.1, 1e-6) == pytest.approx(5.12)
    assert eq9_mbps(0.1, 0.01) == pytest.approx(8e-3 * 12.247449 / 0.1)
    assert model2_mbps(DEFAULTS) == pytest.approx(0.8907, abs=1e-4)
    assert model1_mbps(DEFAULTS) < model2_mbps(DEFAULTS)


def test_ideal_of_tables_matches_hand_calculation() -> None:
    """Without losses, 100 ms: a window of 1·√2^k up to 12, then half a packet more per round, up to
    16."""
    window, sent, time_s = 1.0, 0.0, 0.0
    packet_s = 8 * 1500 / (8 * 360 * 9 / 5e-3 * 1500 / 1546)
    while sent <= 700:
        sent += window
        time_s += max(packet_s + 0.1, window * packet_s)
        window = min(window * 2**0.5 if window < 12 else window + 0.5, 16.0)
    assert tables_ideal_mbps(100) == pytest.approx(8e-6 * 1500 * sent / time_s, rel=1e-3)


def test_printed_ideal_matches_independent_evaluation() -> None:
    """Eqs. 1 to 8 with b = 2, 43 packets, W_th = 30, p_e = 0.8 %, R = 1.7 Mbit/s."""
    assert printed_ideal_mbps(20) == pytest.approx(1.70, abs=0.006)
    assert printed_ideal_mbps(150) == pytest.approx(0.83, abs=0.006)


def test_piggyback_request_adds_no_delay_to_frames_in_fig_3() -> None:
    """wimax-2009 Eqs. 4 and 5: T_pb is the total delay that piggyback causes."""
    for cell in SWEEPS.cells("fig3"):
        request = resolved(cell)["bottleneck"]["link"]["request"]
        assert request["piggyback"] == {"low_ns": 0, "high_ns": 0}


def test_each_sweep_of_the_model_passes_the_defaults() -> None:
    varied = {"contention_ms": SWEEPS.cells("fig3")}
    varied |= {axis: SWEEPS.cells("fig4", over=axis) for axis in ("base_rtt_ms", "loss")}
    for cells in varied.values():
        assert DEFAULTS in [cell.axes for cell in cells]
    together = [*SWEEPS.cells("fig3"), *SWEEPS.cells("fig4")]
    assert sorted(dict.fromkeys(together)) == sorted(SWEEPS.cells("model"))


# --- runs --------------------------------------------------------------------------------------


def test_few_replications_match_table_1() -> None:
    cells: list[Cell] = [UNI, BLIND, ADAPT]
    found = session(cells, runs=10)
    for policy, cell in zip(POLICIES, cells, strict=True):
        for name in ("used", "efficiency"):
            estimate = QUANTITIES[name].estimate(found, cell)
            assert estimate is not None
            published = printed("table1")[100, policy][name]
            assert estimate.mean == pytest.approx(published, rel=0.05)


@pytest.fixture(scope="module")
def two_acks() -> TwoAcks:
    return find_two_acks(session([RANGED]))


def test_two_acks_of_figure_1_follow_standard(two_acks: TwoAcks) -> None:
    steps = messages(*two_acks.frames)
    assert [step.upwards for step in steps] == [True, False, True, False, True, False, True]
    # The ranging code is sent after the arrival of the first ACK; the second ACK waits in the queue
    # when the first ACK is sent.
    assert two_acks.arrivals[0] < steps[0].sent_ms
    assert two_acks.arrivals[1] < steps[4].sent_ms


def test_grants_of_figure_1_follow_reception_of_requests(two_acks: TwoAcks) -> None:
    steps = messages(*two_acks.frames)
    answers = [(request, given) for request, given in pairwise(steps) if request.upwards]
    assert [given.name for _asked, given in answers] == ["2 allocation", "4 grant", "grant"]
    assert all(given.sent_ms >= request.received_ms for request, given in answers)
    # A station learns the advertised values before it sends the packets.
    uplink_steps = [(given, sent) for given, sent in pairwise(steps) if sent.upwards]
    assert all(sent.sent_ms >= given.received_ms for given, sent in uplink_steps)
    # The frames of both bursts are those of the replication. The map before the second burst grants
    # it.
    _first, second = two_acks.frames
    assert (second - 1) * FRAME_MS >= two_acks.received_ms[0]
    # The code is sent in the frame of the next map: the first back-off window has two
    # opportunities.
    waited = (steps[0].sent_ms - two_acks.arrivals[0]) / FRAME_MS
    assert 0 < waited <= 2
