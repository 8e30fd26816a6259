"""The vcp paper: its law, its cells, what is read off runs, its claims on known numbers."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from one_by_one import OneByOne

from airpath.reproduction.base import Effort
from airpath.reproduction.engine import Compiled, Series, Simulated
from airpath.reproduction.session import Session
from airpath_papers.vcp import PAPER
from airpath_papers.vcp.claims import later_by
from airpath_papers.vcp.failures import block_rate_of, failure, goodput_share, is_past, threshold_db
from airpath_papers.vcp.grids import shown
from airpath_papers.vcp.measures import (
    aborted_flows,
    delivered_packets,
    first_acks_s,
    life_spans_s,
    simulated_per,
)
from airpath_papers.vcp.scenarios import ACK_BYTES, AS_CHOSEN, Case, build
from airpath_papers.vcp.variants import (
    CAPACITIES,
    LARGER,
    MEASURED,
    PROTECTED,
    SHORT,
    SPLIT,
    SPLITS,
    TEAR_DOWN,
    UNIFORM,
    split_rate,
    variant_of,
)

EFFORT = Effort(1, 20.0, 10.0)
VARIANTS = {
    **LARGER,
    **PROTECTED,
    **SPLIT,
    **TEAR_DOWN,
    **CAPACITIES,
    **MEASURED,
    **SHORT,
}

# --- the law -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("antennas", "code_rate", "size", "snrs_db"),
    [
        ("1x1", 1.0, 1040, (35.14, 43.32, 53.53)),
        ("2x2", 1.0, 40, (6.40, 10.62, 15.30)),
        ("2x1", 0.93, 1040, (10.95, 11.55, 12.08)),
        ("2x2", 0.7, 40, (1.87, 2.98, 4.07)),
    ],
)
def test_packets_fail_at_the_snrs_of_an_independent_evaluation(
    antennas: str, code_rate: float, size: int, snrs_db: tuple[float, ...]
) -> None:
    found = [threshold_db(antennas, code_rate, least, size) for least in (0.5, 0.1, 0.01)]
    assert found == pytest.approx(snrs_db, abs=0.02)


def test_past_the_threshold_data_and_acks_arrive() -> None:
    assert failure("2x2", 0.93, 10.0, ACK_BYTES) > 0.01
    assert not is_past("2x2", 0.93, 8.0)
    assert is_past("2x2", 0.93, 12.0)


def test_the_smallest_code_for_a_failure_is_the_smallest() -> None:
    rate, parity = block_rate_of("2x2", 6.0, 1040, 0.01)
    assert rate == pytest.approx(0.929, abs=1e-3)
    assert parity == 2 * round(parity / 2)
    assert rate == 1040 / (1040 + parity)


def test_the_goodput_share_is_that_of_the_bytes_on_the_air() -> None:
    assert goodput_share("2x2", 0.93, 40.0) == pytest.approx(1040 / 1118)
    assert goodput_share("2x2", 1.0, 40.0) == pytest.approx(1.0)


# --- the cells ---------------------------------------------------------------------------------


def test_every_cell_has_a_scenario() -> None:
    found = Session(PAPER, PAPER.modes["full"], Compiled(), seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(found)]
    cells += [cell for claim in PAPER.claims for cell in claim.cells]
    assert {type(cell) for cell in cells} == {Case}
    for cell in dict.fromkeys(cells):
        found.scenario(cell).resolve()


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_changes_what_it_is_meant_for(name: str) -> None:
    case = Case("vcp", "2x2", 0.93, 14.0)
    chosen, changed = (
        json.loads(build(case, EFFORT, variant).resolve()[0])
        for variant in (AS_CHOSEN, VARIANTS[name])
    )
    assert chosen != changed


def test_base_round_trip_and_pipe_are_those_of_fig_2() -> None:
    """vcp-2008 section IV: 2 (32 + 2 x 6.4) ms, 107.7 packets of 1040 B."""
    resolved = json.loads(build(Case("vcp", "2x2", 1.0, 40.0), EFFORT).resolve()[0])
    flow = resolved["flows"][0]
    wires = [flow[key] for key in ("access", "egress", "ack_access", "return_wire")]
    assert wires == [{"rate_bps": 20_000_000, "delay_ns": 6_400_000}] * 4
    assert sum(wire["delay_ns"] for wire in wires) + 2 * 32_000_000 == 89_600_000
    assert pytest.approx(107.7, abs=0.05) == 0.0896 * 10e6 / (8 * 1040)


def test_cells_of_the_papers_claims_have_twenty_runs_in_every_mode() -> None:
    for mode in PAPER.modes.values():
        assert PAPER.effort_of(Case("vcp", "2x2", 1.0, 20.0), mode).replications == 20
    assert PAPER.effort_of(Case("dctcp", "2x2", 1.0, 20.0), PAPER.modes["quick"]).replications == 5


def test_a_thinned_sweep_keeps_its_last_snr() -> None:
    session = Session(PAPER, Effort(1, 20.0, 10.0, grid_step=4), Compiled(), seed=1)
    assert shown(session, [1, 2, 3, 4, 5, 6]) == [1, 5, 6]
    assert shown(session, [1, 2, 3, 4, 5]) == [1, 5]


def test_a_uniform_code_has_the_bytes_of_what_it_is_compared_with() -> None:
    assert UNIFORM["acks"] == pytest.approx(1080 / 1120)
    assert (1040 + 40) / UNIFORM["acks-more"] == pytest.approx(1118 + 80)


@pytest.mark.parametrize("ack", SPLITS)
def test_a_split_moves_bytes_between_data_and_ack(ack: int) -> None:
    case = Case("vcp", "2x2", split_rate(ack), 6.0, f"split-{ack}")
    link = json.loads(build(case, EFFORT, variant_of(case)).resolve()[0])["bottleneck"]["link"]
    on_air = [round(1040 / link["fec"]["code_rate"]), round(40 / link["small"]["code_rate"])]
    assert on_air == [1198 - ack, ack]


# --- what is measured --------------------------------------------------------------------------


def test_delivered_packets_are_payload_of_both_directions() -> None:
    flows = [{"delivered_bytes": 3_000_000}, {"delivered_bytes": 500_000}]
    assert delivered_packets({"flows": flows}) == 3500


class Recordings(OneByOne):
    """An engine whose two runs have these first segments, s, by flow."""

    def simulate_one(self, _scenario: Any, **_more: Any) -> Simulated:
        """Return the runs: two flows, the second of which never sends in the second run."""
        flows = [{"id": 0, "start_s": 0.1, "aborted_at_s": 9.2}, {"id": 1, "start_s": 0.2}]
        found = {
            0: Series(np.array([0.2, 0.25, 0.5]), np.array([0, 0, 1]), np.zeros(3)),
            1: Series(np.array([3.2]), np.array([0]), np.zeros(1)),
        }
        runs = [{"flows": flows, "simulated_s": 20.0}] * 2
        return Simulated(runs, False, lambda _name, run: found[run])


def test_the_first_ack_is_where_data_begins() -> None:
    engine: Any = Recordings()
    made = Session(PAPER, Effort(2, 20.0, 10.0), engine, seed=1)
    case = Case("vcp", "2x2", 1.0, 18.0, "", ("seq_sent",))
    made.simulate([case])
    assert first_acks_s(made, case) == pytest.approx([0.1, 0.3, 3.1, 19.8])
    # From 0.2 to 9.2 and from 0.5 to 20 s; from 3.2 to 9.2 s and never.
    assert life_spans_s(made, case) == pytest.approx([(9.0 + 19.5) / 2, 6.0 / 2])
    assert made.values(case, aborted_flows) == [1, 1]
    spans = life_spans_s(made, case)
    drawn = {tuple(life_spans_s(made.resampled(draw), case)) for draw in range(20)}
    assert drawn == {(first, second) for first in spans for second in spans}


def test_the_two_sample_difference_is_one_sided() -> None:
    early, late = [1.0, 2.0, 3.0, 4.0], [2.5, 3.5, 4.5, 5.5]
    assert later_by(late, early) == pytest.approx(0.5)
    assert later_by(early, late) == 0.0


# --- runs --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made() -> Session:
    """Return a session with three cells, four runs each."""
    found = Session(PAPER, Effort(4, 20.0, 10.0), Compiled(), seed=1)
    found.simulate([Case(*each) for each in CELLS])
    return found


CELLS = [
    ("cubic-sack", "2x2", 1.0, 19.0),
    ("vcp", "1x1", 1.0, 38.0),
    ("tcp-rem", "1x2", 0.93, 12.0),
]


@pytest.mark.parametrize("cell", CELLS)
def test_the_share_of_failed_data_is_the_laws(made: Session, cell: Any) -> None:
    """99.9 % of a binomial count; bursts are too short for packets to depend on each other."""
    case = Case(*cell)
    found = simulated_per(made, case)
    assert found is not None
    _share, failed, sent = found
    law = failure(case.antennas, case.code_rate, case.snr_db)
    assert abs(failed - sent * law) <= 3.3 * math.sqrt(sent * law * (1 - law)) + 1


def test_every_claim_is_checked_on_simulated_cells() -> None:
    """The checks run through, and say something, on cells of one short run each."""
    assert len(PAPER.claims) == 27
    analytic = [spec for spec in PAPER.claims if not spec.cells]
    session = Session(PAPER, PAPER.modes["quick"], Compiled(), seed=1)
    for spec in analytic:
        found = spec.check(session)
        assert found.measured
        json.dumps(found.to_dict())
    holds = {spec.key: spec.check(session).holds for spec in analytic}
    assert holds == {
        "order-of-antennas": True,
        "little-helps": True,
        "little-helps-others": True,
        "order-with-codes": True,
        "acks-easier": False,
        "acks-easier-with-fec": True,
        "larger-packets-parity": True,
        "larger-packets-rate": False,
        "larger-packets-blocks": True,
        "larger-symbols": True,
        "state-times": True,
    }
