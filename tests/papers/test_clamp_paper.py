"""The clamp paper: its scenarios, what is read off them, and the link of constant rate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from airpath.papers.clamp import PAPER
from airpath.papers.clamp.dynamics import Dynamics
from airpath.papers.clamp.link import LinkCase
from airpath.papers.clamp.measures import (
    FLOWS_MS,
    control_lost,
    download_s,
    empty_share,
    fairness,
    margin,
    queue_mbps,
    queueing_delay_s,
    rate_mbps,
    timeouts_per_s,
    total_mbps,
)
from airpath.papers.clamp.scenarios import Case, Saturated
from airpath.papers.clamp.sensitivity import VARIANTS, variant_of
from airpath.papers.kit.base import Cell, Effort
from airpath.papers.kit.engine import Compiled
from airpath.papers.kit.session import Session

ROOT = Path(__file__).parents[2]
NOT_HELD = {
    "clamp-slow": "10 gets 1.9 times what 180 gets: no small advantage",
    "less-fair-with-delay": "they share more fairly",
    "self-clocking": "at 250 ms the queue of 130 is empty for 5 % of the time",
    "dynamics": "the highest points of CLAMP's queue are in several slow starts, not in one",
    "knee": "at 1.44 Mbit/s a packet of 1500 bytes takes longer than a slot",
    "larger-margin": "the margin of fast fading is negative",
}
"""Statements that our numbers contradict, and why."""

SHORT = Effort(replications=1, duration_s=40.0, warmup_s=10.0)


def session(cells: list[Cell], effort: Effort | None = None) -> Session:
    """Return a session with these cells, each as long as it is or as `effort` says."""
    paper = PAPER if effort is None else replace(PAPER, effort_of=lambda _cell, _effort: effort)
    made = Session(paper, PAPER.modes["quick"], Compiled(), seed=1)
    made.simulate(cells)
    return made


@pytest.mark.parametrize("clamp", [True, False])
@pytest.mark.parametrize("low_rate", [True, False])
@pytest.mark.parametrize("fast", [True, False])
def test_what_the_figures_show_is_measured_in_every_cell(
    fast: bool, low_rate: bool, clamp: bool
) -> None:
    case = Case(fast, low_rate, clamp, 20_000)
    (run,) = session([case], SHORT).replications(case)
    assert 0 < queueing_delay_s(run) < 10
    total = total_mbps(run)
    assert 0 < total < (1.44 if low_rate else 10)
    assert sum(rate_mbps(flow)(run) for flow in FLOWS_MS) == pytest.approx(total)
    assert sum(queue_mbps(queue)(run) for queue in ("30", "130", "10+180")) == pytest.approx(total)
    assert 1 / 4 < fairness(run) <= 1
    assert download_s(run) >= 8 / total
    assert 0 <= empty_share("130")(run) <= 1
    assert 0 <= control_lost(30)(run) <= 1
    assert timeouts_per_s(10)(run) >= 0
    assert -4 <= margin(run) <= 0.95


def test_every_cell_has_a_scenario() -> None:
    found = Session(PAPER, PAPER.modes["full"], Compiled(), seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(found)]
    cells += [cell for statement in PAPER.statements for cell in statement.cells]
    kinds = {type(cell) for cell in cells}
    assert kinds == {Case, LinkCase, Saturated, Dynamics}
    for cell in dict.fromkeys(cells):
        found.scenario(cell).resolve()


def test_short_flows_arrive_at_the_rate_of_section_5_8() -> None:
    case = Dynamics("newreno", 2000, 0)
    runs = session([case]).replications(case)
    started = [sum(flow["start_s"] is not None for flow in run["flows"]) - 1 for run in runs]
    assert abs(sum(started) / len(started) - 26) < 4  # 0.26/s for 100 s; four of its sd are 4.6
    assert max(started) < 80


@pytest.mark.parametrize("key", ["queue", "shares", "tracks", "smooth"])
def test_the_link_of_constant_rate(key: str) -> None:
    (spec,) = (spec for spec in PAPER.statements if spec.key == key)
    statement = spec.check(session(list(spec.cells)))
    assert statement.holds, statement.measured


def test_the_committed_page_says_what_does_not_hold() -> None:
    text = (ROOT / "docs/reference/papers/clamp.md").read_text(encoding="utf-8")
    claims = len(PAPER.statements)
    assert f"{claims - len(NOT_HELD)} of {claims} statements hold" in text
    assert all(f"Does not hold: {key}." in text for key in NOT_HELD)
    assert text.count(" It holds.") == claims - len(NOT_HELD)


def test_what_is_kept_has_every_statement() -> None:
    kept = json.loads((ROOT / "docs/reference/papers/clamp.json").read_text(encoding="utf-8"))
    assert kept["provenance"]["mode"] == "full"
    held = {found["statement"]: found["holds"] for found in kept["statements"]}
    assert held == {spec.key: spec.key not in NOT_HELD for spec in PAPER.statements}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_changes_the_scenario_and_nothing_else(name: str) -> None:
    found = Session(PAPER, PAPER.modes["default"], Compiled(), seed=1)
    case = Case(True, False, True, 7000)
    chosen, changed = (
        json.loads(found.scenario(each).resolve()[0])
        for each in (case, case._replace(variant=name))
    )
    different = [key for key in chosen if chosen[key] != changed[key]]
    assert len(different) == 1, different
    assert variant_of(case._replace(variant=name)) == VARIANTS[name]


@pytest.mark.parametrize("mode", PAPER.modes)
def test_variants_have_half_of_the_measured_time(mode: str) -> None:
    whole = PAPER.modes[mode]
    half = PAPER.effort_of(Case(True, False, True, 7000, "min-rto"), whole)
    times = [
        effort.replications * (effort.duration_s - effort.warmup_s) for effort in (whole, half)
    ]
    assert times[1] == times[0] / 2
    assert half.replications >= 2
