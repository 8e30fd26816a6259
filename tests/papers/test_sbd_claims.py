"""The later criteria of sbd-2006: their verdicts on synthetic numbers, and their computation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from one_by_one import OneByOne

from airpath.reproduction import Claim, load
from airpath.reproduction.engine import Simulated
from airpath.reproduction.session import Session
from airpath.scenario.units import Duration
from airpath_papers.sbd.claims import pseudovalues, rfc6298_rto_s
from airpath_papers.sbd.data import printed_average, printed_half_width

Made = Callable[[Any, int], dict[str, float]]
"""Function that returns goodput, delay and overflow drops of a replication of a scenario."""


class MadeUp(OneByOne):
    """An engine that returns synthetic numbers."""

    def __init__(self, made: Made) -> None:
        self.made = made

    def simulate_one(self, scenario: Any, *, replications: int, **_options: Any) -> Simulated:
        found = []
        for run in range(replications):
            made = {"goodput": 100.0, "delay": 1.0, "overflow": 0.0, **self.made(scenario, run)}
            flow = {
                "goodput_bps": 1e3 * made["goodput"],
                "mean_delay_s": made["delay"],
                "delivered_packets": 1,
            }
            queue = {"name": "bottleneck", "drops": {"overflow": made["overflow"]}}
            found.append({"flows": [flow], "queues": [queue]})
        return Simulated(found)


def outcome(key: str, made: Made) -> Claim:
    sbd = load("sbd")
    [spec] = [spec for spec in sbd.claims if spec.key == key]
    session = Session(sbd, sbd.modes["quick"])
    MadeUp(made).simulate(session, spec.cells)
    return spec.check(session)


@pytest.mark.parametrize(("lost_at_3", "holds"), [(0.10, True), (0.03, False)])
def test_alpha_rule_selects_least_delay_at_equal_goodput(lost_at_3: float, holds: bool) -> None:
    def made(scenario: Any, _run: int) -> dict[str, float]:
        alpha = scenario.bottleneck.aqm.alpha
        lost = 0.1 if alpha < 3 else lost_at_3 if alpha == 3 else 0.0
        return {"goodput": 100 * (1 - lost), "delay": 0.1 * alpha}

    assert outcome("alpha-rule", made).holds is holds


@pytest.mark.parametrize(("empty_runs", "holds"), [(51, True), (50, False)])
def test_slow_start_avoids_overflow_in_most_of_100_runs(empty_runs: int, holds: bool) -> None:
    def made(scenario: Any, run: int) -> dict[str, float]:
        kind = scenario.bottleneck.aqm.kind
        if kind == "sbd":
            return {"overflow": float(run >= empty_runs)}
        return {"overflow": 40.0 if kind == "droptail" else 20.0}

    assert outcome("slow-start-two-flows", made).holds is holds


def test_reconfiguration_needs_a_drop_tail_buffer_that_overflows() -> None:
    def made(overflow: float) -> Made:
        def results(scenario: Any, _run: int) -> dict[str, float]:
            aqm = scenario.bottleneck.aqm
            shorter = bool(getattr(aqm, "by_rate", []))
            lost = overflow if aqm.kind == "droptail" else 0.0
            return {"overflow": lost, "delay": 1.0 if shorter else 2.0}

        return results

    assert outcome("reconfiguration-most-runs", made(1.0)).holds
    assert not outcome("reconfiguration-most-runs", made(0.0)).holds


@pytest.mark.parametrize(("change", "holds"), [(-0.03, True), (-0.05, False), (-0.001, False)])
def test_proposal_range_has_two_ends(change: float, holds: bool) -> None:
    proposals = {Duration.parse(f"{t_r} ms") for t_r in (200, 500, 1300, 2500)}

    def made(scenario: Any, run: int) -> dict[str, float]:
        proposed = scenario.bottleneck.aqm.reaction_time in proposals
        noise = 0.01 * (run % 2) * proposed
        goodput = 100 * (1 + change * proposed) + noise
        return {"goodput": goodput, "delay": (0.6 if proposed else 1.0) + noise}

    assert outcome("proposal-range", made).holds is holds


def test_rto_follows_rfc6298() -> None:
    assert rfc6298_rto_s([1.0, 1.0, 2.0]) == pytest.approx([3.0, 2.5, 1.125 + 4 * 0.53125])
    assert rfc6298_rto_s([0.1] * 30)[-1] == 1.0


def test_pseudovalues_average_to_the_jackknife_estimate() -> None:
    assert pseudovalues(np.array([[1.0, 1.0, 1.0], [3.0, 3.0, 3.0]])) == pytest.approx([0.5] * 3)
    values = np.array([[1.0, 1.2], [3.0, 3.4]])
    one, other = (values[:, n].std() / values[:, n].mean() for n in (0, 1))
    full = values.mean(axis=1).std() / values.mean()
    assert pseudovalues(values) == pytest.approx([2 * full - other, 2 * full - one])


def test_printed_half_widths_follow_from_the_tables() -> None:
    one = 100 * 290.5 / 277.1 * math.hypot(4.2 / 290.5, 6.1 / 277.1)
    assert printed_half_width(
        {"bearer": 384, "flows": 1, "aqm": "SBD"}, "goodput"
    ) == pytest.approx(one)
    four = 100 * 1.03 * math.sqrt(2) * 4.8 / 298.6
    assert printed_half_width(
        {"bearer": 384, "flows": 4, "aqm": "RED"}, "goodput"
    ) == pytest.approx(four)
    assert 2.0 < printed_average("goodput") < one
