"""What the text says about the scheduler, windows and queues (clamp-2008 §5.3, §5.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from airpath.reproduction.base import Cell
from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined, known
from airpath.reproduction.session import Session
from airpath_papers.clamp.claims.common import check
from airpath_papers.clamp.claims.rates import SPEEDS, placed
from airpath_papers.clamp.measures import QUEUES, Replication, control_lost, empty_share
from airpath_papers.clamp.scenarios import Saturated
from airpath_papers.clamp.sweeps import NAMES, sweep


def _best_share(replication: Replication) -> float:
    users = replication["users"]
    return float(sum(user["best_slot_share"] for user in users) / len(users))


@check("weighted-rr", lambda _spec: {name: Saturated(fast) for name, fast in SPEEDS.items()})
def _weighted_rr(session: Session, spec: ClaimSpec, cases: Mapping[str, Saturated]) -> Finding:
    shares = {name: known(session, case, _best_share).mean for name, case in cases.items()}
    shown = [f"{name} {share:.2f}" for name, share in shares.items()]
    holds = shares["fast"] >= spec["fast"] and shares["slow"] <= spec["slow"]
    return Finding(holds, [f"slots while nobody has a higher rate: {joined(shown)}"], shares)


def _lost(session: Session, spec: ClaimSpec, cells: Sequence[Cell], flow_ms: int) -> Finding:
    found = placed(cells, spec)
    shares = [found.at(session, ms / 1e3, control_lost(flow_ms)) for ms in spec["delays_ms"]]
    pairs = zip(spec["delays_ms"], shares, strict=True)
    shown = [f"{ms:g} ms {share:.1%}" for ms, share in pairs]
    holds = shares[0] <= spec["share"] and shares[1] > shares[0]
    return Finding(holds, [f"CWND below AWND: {joined(shown)} of the time"], {"shares": shares})


@check("windows", lambda _spec: sweep(fast=True, clamp=True))
def _windows(session: Session, spec: ClaimSpec, cells: Sequence[Cell]) -> Finding:
    return _lost(session, spec, cells, 30)


@check("windows-others", lambda _spec: sweep(fast=True, clamp=True))
def _windows_of_others(session: Session, spec: ClaimSpec, cells: Sequence[Cell]) -> Finding:
    def of_flow(flow_ms: int, cells: Sequence[Cell]) -> Finding:
        found = _lost(session, spec, cells, flow_ms)
        return found._replace(measured=[f"{flow_ms}: {line}" for line in found.measured])

    return gathered("flow", dict.fromkeys(spec["flows_ms"], cells), of_flow)


def _queue_of_130(replication: Replication) -> Mapping[str, Any]:
    found: Mapping[str, Any] = replication["queues"][list(QUEUES).index("130")]
    return found


def _mean(replication: Replication) -> float:
    return float(_queue_of_130(replication)["mean_packets"])


def _deviation(replication: Replication) -> float:
    pmf = _queue_of_130(replication)["pmf"]
    mean = sum(k * share for k, share in enumerate(pmf))
    return sqrt(sum((k - mean) ** 2 * share for k, share in enumerate(pmf)))


@check(
    "queues", lambda _spec: {NAMES[clamp]: sweep(fast=True, clamp=clamp) for clamp in (True, False)}
)
def _queues(session: Session, spec: ClaimSpec, sweeps: Mapping[str, Sequence[Cell]]) -> Finding:
    place = spec["delay_ms"] / 1e3
    measures = (_mean, empty_share("130"), _deviation)
    found = {
        name: [placed(cells).at(session, place, measure) for measure in measures]
        for name, cells in sweeps.items()
    }
    ours, theirs = found[NAMES[True]], found[NAMES[False]]
    return Finding(
        theirs[0] < ours[0] and theirs[1] > ours[1] and ours[2] >= spec["sd"] * theirs[2],
        [
            f"{name}: mean {mean:.1f} packets, empty {empty:.1%} of the time, sd {sd:.1f} packets"
            for name, (mean, empty, sd) in found.items()
        ],
        {
            name: {"mean_packets": mean, "empty_share": empty, "sd_packets": sd}
            for name, (mean, empty, sd) in found.items()
        },
    )
