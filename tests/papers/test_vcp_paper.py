"""The vcp paper: distribution of packet outcomes, points, measured quantities, claims on known
numbers."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from one_by_one import OneByOne

from airpath.reproduction.base import Effort
from airpath.reproduction.engine import Series, Simulated
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath.sweeps.axes import key_of
from airpath_papers.vcp import PAPER
from airpath_papers.vcp.claims import CLAIMS, SWEEPS, later_by
from airpath_papers.vcp.failures import (
    block_rate_of,
    failure,
    goodput_share,
    past_db,
    threshold_db,
)
from airpath_papers.vcp.measures import (
    delivered_packets,
    error_rate,
    first_acks_s,
)
from airpath_papers.vcp.quantities import QUANTITIES
from airpath_papers.vcp.scenarios import ACK_BYTES, path

NAMED = ("protocol", "antennas", "snr_db", "code_rate")
"""Axes of every point."""

# --- distribution of packet outcomes -----------------------------------------------------------


@pytest.mark.parametrize(
    ("antennas", "code_rate", "size", "snrs_db"),
    [
        ("1x1", 1.0, 1040, (35.14, 43.32, 53.53)),
        ("2x2", 1.0, 40, (6.40, 10.62, 15.30)),
        ("2x1", 0.93, 1040, (10.95, 11.55, 12.08)),
        ("2x2", 0.7, 40, (1.87, 2.98, 4.07)),
    ],
)
def test_packet_failures_match_independent_evaluation(
    antennas: str, code_rate: float, size: int, snrs_db: tuple[float, ...]
) -> None:
    found = [threshold_db(antennas, code_rate, least, size) for least in (0.5, 0.1, 0.01)]
    assert found == pytest.approx(snrs_db, abs=0.02)


def test_data_and_acks_arrive_above_the_threshold_snr() -> None:
    assert failure("2x2", 0.93, 10.0, ACK_BYTES) > 0.01
    assert 8.0 < past_db("2x2", 0.93) < 12.0


def test_smallest_code_for_failure_rate_is_minimal() -> None:
    rate, parity = block_rate_of("2x2", 6.0, 1040, 0.01)
    assert rate == pytest.approx(0.929, abs=1e-3)
    assert parity == 2 * round(parity / 2)
    assert rate == 1040 / (1040 + parity)


def test_goodput_share_follows_bytes_on_the_air() -> None:
    assert goodput_share("2x2", 0.93, 40.0) == pytest.approx(1040 / 1118)
    assert goodput_share("2x2", 1.0, 40.0) == pytest.approx(1.0)


# --- the points --------------------------------------------------------------------------------


def resolved(**axes: Any) -> Any:
    """Return the resolved scenario of the arguments of `path`."""
    return json.loads(
        path(**{"protocol": "vcp", "antennas": "2x2", "snr_db": 14.0, **axes}).resolve()[0]
    )


def test_every_point_has_a_scenario() -> None:
    found = Session(PAPER, PAPER.modes["full"], seed=1)
    cells = [cell for item in PAPER.items for cell in item.cells_of(found)]
    cells += [cell for claim in PAPER.claims for cell in claim.cells]
    assert {type(cell) for cell in cells} == {SweepPoint}
    for cell in dict.fromkeys(cells):
        found.scenario(cell).resolve()


CHANGED = {
    key_of(changed): changed
    for point in sorted(SWEEPS.known_cells(), key=lambda cell: cell.text)
    if (changed := {k: v for k, v in point.axes.items() if k not in NAMED and v})
}
"""Differences of the points from the choices of README.md."""


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
def test_change_has_an_effect(changed: dict[str, Any]) -> None:
    of = {"protocol": "tcp-rem" if "unlimited" in changed else "vcp"}
    assert resolved(**of, **changed) != resolved(**of)


def test_base_rtt_and_pipe_match_fig_2() -> None:
    """vcp-2008 section IV: 2 (32 + 2 x 6.4) ms, 107.7 packets of 1040 B."""
    flow = resolved()["flows"][0]
    wires = [flow[key] for key in ("access", "egress", "ack_access", "return_wire")]
    assert wires == [{"rate_bps": 20_000_000, "delay_ns": 6_400_000}] * 4
    assert sum(wire["delay_ns"] for wire in wires) + 2 * 32_000_000 == 89_600_000
    assert pytest.approx(107.7, abs=0.05) == 0.0896 * 10e6 / (8 * 1040)


@pytest.mark.parametrize("mode", PAPER.modes.values(), ids=[*PAPER.modes])
def test_points_of_claims_have_twenty_replications(mode: Effort) -> None:
    session = Session(PAPER, mode, seed=1)
    of_claims = {cell for claim in PAPER.claims for cell in claim.cells}
    assert {session.effort_of(cell).replications for cell in of_claims} == {20}
    scenarios = {key_of(session.scenario(cell).given()) for cell in of_claims}
    for item in PAPER.items:
        for cell in item.cells_of(session):
            shared = key_of(session.scenario(cell).given()) in scenarios
            runs = 20 if shared else mode.replications
            assert session.effort_of(cell).replications == runs


def test_points_past_threshold_match_fig_6() -> None:
    for place, point in SWEEPS.points("fig6"):
        antennas, rate = place["antennas"], place["code_rate"]
        same = {name: place[name] for name in ("antennas", "code_rate", "protocol", "snr_db")}
        is_past = place["snr_db"] > past_db(antennas, rate)
        # Panels end at 25 dB; only one panel has a claim at this value.
        is_claimed = place["snr_db"] < 25 or (antennas, rate) == ("2x1", 0.93)
        assert bool(SWEEPS.points("past", **same)) == (is_past and is_claimed), point.label


def test_links_and_lengths_are_compared_past_the_threshold() -> None:
    past = [point.place["snr_db"] for point in SWEEPS.points("past", panel="2x2 r=0.93")]
    assert {p.place["snr_db"] for p in SWEEPS.points("links")} == {min(past), max(past)}
    assert {p.place["snr_db"] for p in SWEEPS.points("lengths")} == set(past)


def test_one_percent_of_data_fails_at_points_of_claim() -> None:
    per = CLAIMS.specs["tcp-ahead-at-one-percent"]["per"]
    for place in (point.place for point in SWEEPS.points("at-per")):
        assert place["snr_db"] == round(threshold_db(place["antennas"], 1.0, per), 2)


def test_uniform_code_uses_bytes_of_compared_code() -> None:
    def rate_of(sweep: str, **place: Any) -> float:
        [rate] = {p.axes["code_rate"] for p in SWEEPS.cells(sweep, **place)} - {1.0}
        return float(rate)

    assert rate_of("acks-alone") == 1080 / (1040 + 80)
    assert rate_of("protection", code="uniform") == 1080 / (1118 + 80)


@pytest.mark.parametrize("point", SWEEPS.cells("splits", snr_db=6.0), ids=lambda p: p.label)
def test_split_moves_bytes_between_data_and_ack(point: SweepPoint) -> None:
    link = resolved(**point.axes)["bottleneck"]["link"]
    on_air = [round(1040 / link["fec"]["code_rate"]), round(40 / link["small"]["code_rate"])]
    ack = point.axes["split"]
    assert on_air == [1198 - ack, ack]


# --- measured quantities -----------------------------------------------------------------------


def test_delivered_packets_are_payload_of_both_directions() -> None:
    flows = [{"delivered_bytes": 3_000_000}, {"delivered_bytes": 500_000}]
    assert delivered_packets({"flows": flows}) == 3500


class Recordings(OneByOne):
    """An engine with two replications that have these times of first segments, s, by flow."""

    def simulate_one(self, _scenario: Any, **_more: Any) -> Simulated:
        """Return two replications of two flows; the second flow sends nothing in the second
        replication."""
        flows = [{"id": 0, "start_s": 0.1, "aborted_at_s": 9.2}, {"id": 1, "start_s": 0.2}]
        found = {
            0: Series(np.array([0.2, 0.25, 0.5]), np.array([0, 0, 1]), np.zeros(3)),
            1: Series(np.array([3.2]), np.array([0]), np.zeros(1)),
        }
        runs = [{"flows": flows, "simulated_s": 20.0}] * 2
        return Simulated(runs, lambda _name, run: found[run])


def test_first_ack_precedes_data() -> None:
    made = Session(PAPER, Effort(2, 20.0, 10.0))
    case = SWEEPS.cells("sessions", snr_db=18, protocol="vcp")[0]
    Recordings().simulate(made, [case])
    assert first_acks_s(made, case) == pytest.approx([0.1, 0.3, 3.1, 19.8])
    # From 0.2 to 9.2 s and from 0.5 to 20 s; from 3.2 to 9.2 s, and never.
    life_span: Any = QUANTITIES["life_span"]
    spans = life_span.values(made, case)
    assert spans == pytest.approx([(9.0 + 19.5) / 2, 6.0 / 2])
    aborted: Any = QUANTITIES["aborted_flows"]
    assert aborted.values(made, case) == [1, 1]
    sampled = {tuple(life_span.values(made.resampled(draw), case)) for draw in range(20)}
    assert sampled == {(first, second) for first in spans for second in spans}


def test_two_sample_difference_is_one_sided() -> None:
    early, late = [1.0, 2.0, 3.0, 4.0], [2.5, 3.5, 4.5, 5.5]
    assert later_by(late, early) == pytest.approx(0.5)
    assert later_by(early, late) == 0.0


# --- runs --------------------------------------------------------------------------------------


def point(**axes: Any) -> SweepPoint:
    """Return the point with these arguments of `path`."""
    return SweepPoint("path", key_of(axes))


@pytest.fixture(scope="module")
def made() -> Session:
    """Return a session with three points, four replications each."""
    found = Session(PAPER, Effort(4, 20.0, 10.0), seed=1)
    found.simulate(CELLS)
    return found


CELLS = [
    point(protocol="cubic-sack", antennas="2x2", code_rate=1.0, snr_db=19.0),
    point(protocol="vcp", antennas="1x1", code_rate=1.0, snr_db=38.0),
    point(protocol="tcp-rem", antennas="1x2", code_rate=0.93, snr_db=12.0),
]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.label)
def test_share_of_failed_data_matches_distribution(made: Session, cell: SweepPoint) -> None:
    """The tolerance is the 99.9 % range of a binomial distribution: bursts are too short to
    correlate packets.
    """
    found = error_rate(made, cell)
    assert found is not None
    axes = cell.axes
    law = failure(axes["antennas"], axes["code_rate"], axes["snr_db"])
    spread = math.sqrt(found.sent * law * (1 - law))
    assert abs(found.failed - found.sent * law) <= 3.3 * spread + 1


def test_every_claim_is_checked_on_simulated_cells() -> None:
    """Each check gives a verdict on points with one short replication."""
    assert len(PAPER.claims) == 27
    analytic = [spec for spec in PAPER.claims if not spec.cells]
    session = Session(PAPER, PAPER.modes["quick"], seed=1)
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
