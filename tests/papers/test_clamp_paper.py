"""The clamp paper: its scenarios, the quantities measured in them, and the link with a constant
rate."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from one_by_one import lasting

from airpath.reproduction.base import Cell, Effort
from airpath.reproduction.engine import Series
from airpath.reproduction.overview import kept_results
from airpath.reproduction.quantities import ip_throughput_mbps
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.clamp import PAPER, spikes
from airpath_papers.clamp.claims import CLAIMS
from airpath_papers.clamp.measures import (
    FLOWS_MS,
    control_lost,
    download_s,
    empty_share,
    fairness,
    margin,
    queue_mbps,
    queueing_delay_s,
    rate_mbps,
    rtt_spread_s,
    sojourn_time_s,
    timeouts_per_s,
)
from airpath_papers.clamp.sweeps import DYNAMICS, SWEEPS

NOT_HELD = {
    "clamp-slow": "differs",
    "less-fair-with-delay": "differs",
    "self-clocking": "airpath",
    "dynamics": "airpath",
    "knee": "reading",
    "larger-margin": "paper",
}
"""Claims whose first criterion does not hold, with the causes."""

SHORT = Effort(replications=1, duration_s=40.0, warmup_s=10.0)


def session(cells: list[Cell], effort: Effort | None = None) -> Session:
    """Return a session with these points, each with the effort of its sweep, or with `effort`."""
    paper = PAPER
    if effort is not None:
        paper = replace(PAPER, sweeps=lasting(PAPER.sweeps, **vars(effort)))
    made = Session(paper, PAPER.modes["quick"], seed=1)
    made.simulate(cells)
    return made


@pytest.mark.parametrize("clamp", [True, False])
@pytest.mark.parametrize("low_rate", [True, False])
@pytest.mark.parametrize("fast", [True, False])
def test_quantities_of_figures_are_measured_in_every_cell(
    fast: bool, low_rate: bool, clamp: bool
) -> None:
    place: dict[str, Any] = {
        "speed": "fast" if fast else "slow",
        "protocol": "CLAMP" if clamp else "New Reno",
    }
    knobs = SWEEPS.points("sweeps", **place, low_rate=low_rate)
    point = min(knobs, key=lambda point: abs(point.place["knob_bytes"] - 20_000)).cell
    (run,) = session([point], SHORT).replications(point)
    assert 0 < sojourn_time_s(run) < queueing_delay_s(run) < 10
    total = ip_throughput_mbps(run)
    assert 0 < total < (1.44 if low_rate else 10)
    assert sum(rate_mbps(flow)(run) for flow in FLOWS_MS) == pytest.approx(total)
    assert sum(queue_mbps(queue)(run) for queue in ("30", "130", "10+180")) == pytest.approx(total)
    assert 1 / 4 < fairness(run) <= 1
    assert download_s(run) >= 8 / total
    assert 0 <= empty_share("130")(run) <= 1
    assert 0 <= control_lost(30)(run) <= 1
    assert timeouts_per_s(10)(run) >= 0
    assert 0 < rtt_spread_s(10)(run) < 10
    assert -4 <= margin(run) <= 0.95


def test_flow_without_delivery_never_completes_download() -> None:
    flows = [{"ip_throughput_bps": 8e6}, {"ip_throughput_bps": 0.0}]
    assert download_s({"flows": flows[:1]}) == pytest.approx(1.0)
    assert download_s({"flows": flows}) == math.inf


def test_every_cell_has_a_scenario() -> None:
    found = Session(PAPER, PAPER.modes["full"], seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(found)]
    cells += [cell for claim in PAPER.claims for cell in claim.cells]
    kinds = {cell.scenario for cell in cells if isinstance(cell, SweepPoint)}
    assert kinds == {"cell", "link", "saturated", "dynamics"}
    for cell in dict.fromkeys(cells):
        found.scenario(cell).resolve()


def test_short_flows_arrive_at_the_rate_of_section_5_8() -> None:
    point = DYNAMICS["newreno"]
    runs = session([point]).replications(point)
    started = [sum(flow["start_s"] is not None for flow in run["flows"]) - 1 for run in runs]
    assert (
        abs(sum(started) / len(started) - 26) < 4
    )  # 26 = 0.26/s for 100 s; the tolerance is below four standard deviations, 4.6
    assert max(started) < 80


@pytest.mark.parametrize("key", ["queue", "shares", "tracks", "smooth"])
def test_link_with_constant_rate_matches_paper(key: str) -> None:
    (spec,) = (spec for spec in PAPER.claims if spec.key == key)
    claim = spec.check(session(list(spec.cells)))
    assert claim.holds, claim.measured


def test_kept_results_have_the_verdicts_of_the_first_claims() -> None:
    kept = kept_results("clamp")
    assert kept["provenance"]["mode"] == "full"
    held = {found["claim"]: found["holds"] for found in kept["claims"]}
    first = {key for key, spec in CLAIMS.specs.items() if "later" not in spec.about}
    assert {key: held[key] for key in first} == {key: key not in NOT_HELD for key in first}
    causes = {key: spec.about.get("cause") for key, spec in CLAIMS.specs.items() if key in NOT_HELD}
    assert causes == NOT_HELD


def test_later_criteria_name_earlier_criterion_of_their_sentence() -> None:
    later = {key: spec for key, spec in CLAIMS.specs.items() if "later" in spec.about}
    revised = {spec.about["revises"] for spec in later.values() if "revises" in spec.about}
    # The sentence on the margin has no other interpretation.
    assert revised == NOT_HELD.keys() - {"larger-margin"} | {"restricted-buffer", "tracks-alike"}


def test_delay_outside_sweep_is_accepted() -> None:
    (spec,) = (spec for spec in PAPER.claims if spec.key == "less-fair-wait")
    short = Effort(replications=1, duration_s=0.5, warmup_s=0.1)
    claim = spec.check(session(list(spec.cells), short))
    assert not claim.holds
    assert claim.measured[0].startswith("not evaluated: 40 is outside the points")


def test_gain_of_shorter_delay_keeps_equilibrium() -> None:
    found = Session(PAPER, PAPER.modes["full"], seed=1)
    _, shorter = CLAIMS.criterion("instability").points
    assert shorter.cell.axes == {"clamp": True, "flows": 1, "rtt_ms": 200, "gain": 4}
    made = json.loads(found.scenario(shorter.cell).resolve()[0])
    queue, window = made["bottleneck"]["queue"], made["flows"][0]["source"]["window"]
    assert (queue["a_bytes"], queue["b"], window["tau_bytes"]) == (22_000, 4, 2000)
    # (k tau + a) / b as in Fig. 2.
    assert (window["tau_bytes"] + queue["a_bytes"]) / queue["b"] == 6000


def test_restricted_buffer_equals_buffer_of_newreno() -> None:
    found = Session(PAPER, PAPER.modes["full"], seed=1)
    restricted, newreno = (
        found.scenario(DYNAMICS[name]).bottleneck.aqm for name in ("restricted", "newreno")
    )
    assert restricted.inner == newreno


class Queues:
    """A session with given queue lengths, one value in packets for each second."""

    def __init__(self, **levels: list[float]) -> None:
        self.levels = levels

    def series(self, point: SweepPoint, _name: str, _run: int) -> Series:
        levels = np.array(self.levels["newreno" if point == spikes.NEWRENO else "clamp"])
        times = np.arange(float(len(levels)))
        return Series(times, np.zeros(len(levels), dtype=np.uint32), levels)


def test_excursions_exceed_multiple_of_other_queue() -> None:
    newreno = [20.0, 40.0, *[30.0] * 98]
    clamp = [0.0, 90.0, 30.0, 100.0, *[50.0] * 20, 81.0, *[50.0] * 75]
    found: Any = Queues(newreno=newreno, clamp=clamp)
    first, second = spikes.excursions(found, spikes.CLAMP, 0, 2.0, 0.0, 5.0)
    assert list(first) == pytest.approx([1.0, 3.9, 100.0])
    assert list(second) == pytest.approx([24.0, 24.9, 81.0])
    # Numbers of a claim are written to JSON, which does not support the types of numpy.
    assert {type(number) for number in (*first, *second)} == {float}
    assert spikes.excursions(found, spikes.CLAMP, 0, 2.6, 0.0, 5.0) == []
    assert not spikes.is_one_start([first, second], [0.0], 5.0)
    assert spikes.is_one_start([first], [0.0, 80.0], 5.0)
    assert not spikes.is_one_start([first], [2.0, 80.0], 5.0)  # started before the flow
