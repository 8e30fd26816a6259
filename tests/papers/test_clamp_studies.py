"""Studies beyond the clamp paper: every scenario is valid, and properties that are cheap to check
hold."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from studies.clamp import PAPER
from studies.clamp.fluid_map import limits_at
from studies.clamp.scenarios import SWEEPS
from studies.clamp.sensitivity import points_with


def test_every_cell_has_a_scenario() -> None:
    found = Session(PAPER, PAPER.modes["full"], seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(found)]
    cells += [cell for claim in PAPER.claims for cell in claim.cells]
    functions = {cell.scenario for cell in cells if isinstance(cell, SweepPoint)}
    assert functions >= {"cell", "on_link", "combined", "scheduled", "today"}
    for cell in dict.fromkeys(cells):
        found.scenario(cell).resolve()


@pytest.mark.parametrize("key", ["sender-equilibrium", "bottleneck-elsewhere", "many-flows"])
def test_study_matches_theory_on_link_with_constant_rate(key: str) -> None:
    (spec,) = (spec for spec in PAPER.claims if spec.key == key)
    session = Session(PAPER, PAPER.modes["quick"], seed=1)
    session.simulate(list(spec.cells))
    claim = spec.check(session)
    assert claim.holds, claim.measured


@pytest.mark.parametrize("delay_ms", [10.0, 50.0])
def test_stability_limit_is_at_least_half_pi_for_every_delay_ratio(delay_ms: float) -> None:
    points = SWEEPS.cells("fluid-table", d1_ms=delay_ms)
    found = [limits_at(delay_ms, point.axes["ratio"]).limits for point in points]
    assert len(found) == 11
    for name in ("limit", "limit_constant_shares"):
        values = [limits[name] for limits in found]
        assert all(value is None or value > 0.99999 * math.pi / 2 for value in values), name
    averaged = [limits["limit_average"] for limits in found]
    assert all(value is not None and value > 1 for value in averaged)


CHANGES = SWEEPS.changes("sensitivity")


@pytest.mark.parametrize("name", CHANGES)
def test_change_modifies_one_part_of_the_scenario(name: str) -> None:
    found = Session(PAPER, PAPER.modes["full"], seed=1)
    chosen, changed = (
        json.loads(found.scenario(points_with(each, "fast", "CLAMP")[0].cell).resolve()[0])
        for each in ("", name)
    )
    different = [key for key in chosen if chosen[key] != changed[key]]
    assert len(different) == 1, different


@pytest.mark.parametrize("mode", PAPER.modes)
def test_changes_have_half_of_the_measured_time(mode: Any) -> None:
    full = PAPER.modes[mode]
    half = PAPER.sweeps.effort_of(points_with("min-rto", "fast", "CLAMP")[0].cell, full)
    times = [effort.replications * (effort.duration_s - effort.warmup_s) for effort in (full, half)]
    assert times[1] == times[0] / 2
    assert half.replications >= 2 or mode == "quick"
