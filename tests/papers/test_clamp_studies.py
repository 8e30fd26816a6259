"""Beyond the clamp paper: every scenario is one, and what is cheap to check holds."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from airpath.reproduction.base import Cell
from airpath.reproduction.engine import Compiled
from airpath.reproduction.session import Session
from airpath_papers.clamp.scenarios import Case
from studies.clamp import PAPER
from studies.clamp.cells import CHANGED, VARIANTS, Combined, OnLink
from studies.clamp.fluid_map import DELAYS_MS, RATIOS, limits_at


def test_every_cell_has_a_scenario() -> None:
    found = Session(PAPER, PAPER.modes["full"], Compiled(), seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(found)]
    cells += [cell for claim in PAPER.claims for cell in claim.cells]
    assert {type(cell) for cell in cells} >= {OnLink, Combined}
    for cell in dict.fromkeys(cells):
        found.scenario(cell).resolve()


def test_every_variant_is_used() -> None:
    found = Session(PAPER, PAPER.modes["full"], Compiled(), seed=1)
    cells: list[Cell] = [cell for item in PAPER.items for cell in item.cells_of(found)]
    used = {cell.variant for cell in cells if hasattr(cell, "variant")}
    assert used == VARIANTS.keys()


@pytest.mark.parametrize("key", ["sender-equilibrium", "bottleneck-elsewhere", "many-flows"])
def test_on_a_link_of_constant_rate(key: str) -> None:
    (spec,) = (spec for spec in PAPER.claims if spec.key == key)
    session = Session(PAPER, PAPER.modes["quick"], Compiled(), seed=1)
    session.simulate(list(spec.cells))
    claim = spec.check(session)
    assert claim.holds, claim.measured


@pytest.mark.parametrize("delay_ms", DELAYS_MS)
def test_no_ratio_of_delays_makes_the_limit_smaller_than_half_pi(delay_ms: float) -> None:
    found = [limits_at(delay_ms, ratio).limits for ratio in RATIOS[::4]]
    for name in ("limit", "limit_constant_shares"):
        values = [limits[name] for limits in found]
        assert all(value is None or value > 0.99999 * math.pi / 2 for value in values), name
    averaged = [limits["limit_average"] for limits in found]
    assert all(value is not None and value > 1 for value in averaged)


@pytest.mark.parametrize("name", CHANGED)
def test_a_variant_changes_the_scenario_and_nothing_else(name: str) -> None:
    found = Session(PAPER, PAPER.modes["full"], Compiled(), seed=1)
    case = Case(True, False, True, 7000)
    chosen, changed = (
        json.loads(found.scenario(each).resolve()[0])
        for each in (case, case._replace(variant=name))
    )
    different = [key for key in chosen if chosen[key] != changed[key]]
    assert len(different) == 1, different


@pytest.mark.parametrize("mode", PAPER.modes)
def test_variants_have_half_of_the_measured_time(mode: Any) -> None:
    whole = PAPER.modes[mode]
    half = PAPER.effort_of(Case(True, False, True, 7000, "min-rto"), whole)
    times = [
        effort.replications * (effort.duration_s - effort.warmup_s) for effort in (whole, half)
    ]
    assert times[1] == times[0] / 2
    assert half.replications >= 2 or mode == "quick"
