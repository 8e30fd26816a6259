"""What the paper's text says about its results (§5), checked on ours."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from airpath.papers.kit.base import Cell, Statement, StatementSpec
from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import interval, known, listed, told
from airpath.papers.qawla.data import BOUNDARIES, published_table
from airpath.papers.qawla.measures import aggregate_throughput_mbps, pmf, probability_near

__all__ = ["AT_BOUNDARY", "ELSEWHERE", "FIG5_IDX", "FIG6_B", "OPTIMISTIC", "STATEMENTS"]

FIG5_IDX = 2
"""The scenario of Fig. 5, for every B."""

FIG6_B = 20
"""B of Fig. 6, packets."""

AT_BOUNDARY = (3, 4, 13, 14)
"""Scenarios of Fig. 6 whose solution is at the boundary."""

ELSEWHERE = (11, 18)
"""Scenarios of Fig. 6 whose solution is in R1 and in R2."""

OPTIMISTIC = (2, 11, 12, 17)
"""Scenarios for which the paper calls its model optimistic at B = 10."""

NEAR = 5
"""What counts as around the boundary: packets to either side. Our choice."""


AGREEMENT = 0.05
"""Largest mean difference between model and simulation that counts as remarkable agreement."""


def _empty_grows(session: Session) -> Statement:
    empty = {boundary: known(session, (FIG5_IDX, boundary), _empty) for boundary in BOUNDARIES}
    means = [empty[boundary].mean for boundary in sorted(BOUNDARIES)]
    return Statement(
        "empty-queue",
        f"For decreasing B the queue is empty more often (Fig. 5, idx {FIG5_IDX}).",
        "u_0, the fraction of time with no packet waiting, falls strictly from B = 10 to 20 to 30.",
        all(after < before for before, after in pairwise(means)),
        [f"B = {boundary}: u_0 = {interval(found)}" for boundary, found in empty.items()],
        {f"B={boundary}": told(found) for boundary, found in empty.items()},
    )


def _gathers(session: Session) -> Statement:
    near, mode = {}, {}
    for idx in (*AT_BOUNDARY, *ELSEWHERE):
        cell = (idx, FIG6_B)
        near[idx] = known(session, cell, _near_boundary)
        found = pmf(session, cell)
        assert found is not None
        mode[idx] = max(range(len(found.mean)), key=found.mean.__getitem__)
    contrast = max(near[idx].mean for idx in ELSEWHERE)
    holds = all(
        abs(mode[idx] - FIG6_B) <= NEAR and near[idx].mean > contrast for idx in AT_BOUNDARY
    )
    return Statement(
        "mass-at-boundary",
        "Where the solution is at the boundary, the queue length gathers around B "
        f"(Fig. 6, idx {listed(AT_BOUNDARY)}).",
        f"The most likely length is within {NEAR} packets of B = {FIG6_B}, and more time is spent "
        f"there than for idx {listed(ELSEWHERE)}, whose solutions are in R1 and R2.",
        holds,
        [
            f"idx {idx}{'' if idx in AT_BOUNDARY else ' (not at the boundary)'}: "
            f"{interval(near[idx])} of the time within {NEAR} packets of B, "
            f"most likely length {mode[idx]}"
            for idx in near
        ],
        {f"idx={idx}": {**told(near[idx]), "most_likely": mode[idx]} for idx in near},
    )


def _optimistic(session: Session) -> Statement:
    measured, values = [], {}
    holds = True
    for idx in OPTIMISTIC:
        cell = (idx, 10)
        simulated = known(session, cell, aggregate_throughput_mbps)
        analysed = session.solution(cell).throughput_bps / 1e6
        upper = simulated.high if simulated.replications > 1 else simulated.mean
        holds = holds and analysed > upper
        excess = analysed / simulated.mean - 1
        measured.append(
            f"idx {idx}: analysis {analysed:.4f}, simulation {interval(simulated)} Mbit/s: "
            f"{excess:+.1%}"
        )
        values[f"idx={idx}"] = {**told(simulated), "analysis": analysed, "excess": excess}
    return Statement(
        "optimistic-model",
        f"At B = 10 the model is optimistic for high PER_2 (Table 3, idx {listed(OPTIMISTIC)}).",
        "T of our solution lies above the 99 % interval of our simulation in each of them.",
        holds,
        measured,
        values,
    )


def _agreement(session: Session) -> Statement:
    differences = {
        boundary: {idx: _difference(session, (idx, boundary)) for idx in published_table(boundary)}
        for boundary in BOUNDARIES
    }
    means = {
        boundary: sum(map(abs, each.values())) / len(each) for boundary, each in differences.items()
    }
    closest, others = (20, 30), (10,)
    holds = all(
        means[boundary] <= AGREEMENT and means[boundary] < min(means[other] for other in others)
        for boundary in closest
    )
    measured, values = [], {}
    for boundary, each in differences.items():
        worst = max(each, key=lambda idx: abs(each[idx]))
        measured.append(
            f"B = {boundary}: mean |difference| {means[boundary]:.2%}, largest {each[worst]:+.1%} "
            f"(idx {worst})"
        )
        values[f"B={boundary}"] = {
            "mean_absolute_difference": means[boundary],
            "largest_difference": each[worst],
            "largest_difference_at": worst,
        }
    return Statement(
        "agreement",
        "Simulation and model agree remarkably in T, especially for B = 20 or 30 (Tables 3 to 5).",
        "The mean over the 18 scenarios of |analysis - simulation| / simulation, both ours, is at "
        f"most {AGREEMENT:.0%} for B = 20 and for B = 30, and smaller there than for B = 10.",
        holds,
        measured,
        values,
    )


def _difference(session: Session, cell: Cell) -> float:
    analysed_mbps = session.solution(cell).throughput_bps / 1e6
    return analysed_mbps / known(session, cell, aggregate_throughput_mbps).mean - 1


STATEMENTS: tuple[StatementSpec, ...] = (
    StatementSpec("empty-queue", [(FIG5_IDX, boundary) for boundary in BOUNDARIES], _empty_grows),
    StatementSpec(
        "mass-at-boundary", [(idx, FIG6_B) for idx in (*AT_BOUNDARY, *ELSEWHERE)], _gathers
    ),
    StatementSpec("optimistic-model", [(idx, 10) for idx in OPTIMISTIC], _optimistic),
    StatementSpec(
        "agreement",
        [(idx, boundary) for boundary in BOUNDARIES for idx in published_table(boundary)],
        _agreement,
    ),
)
"""Every statement that is checked."""


def _empty(replication: Mapping[str, Any]) -> float:
    return probability_near(replication, 0, 0)


def _near_boundary(replication: Mapping[str, Any]) -> float:
    return probability_near(replication, FIG6_B, NEAR)
