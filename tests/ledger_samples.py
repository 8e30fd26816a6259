"""Ledgers with synthetic replications, for tests that store, damage and show them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from airpath import _airpath
from airpath.sweeps.ledger import Ledger
from airpath.sweeps.plan import Plan, Point, Rule
from airpath.sweeps.runs import Run

OWN = (_airpath.version(), _airpath.commit())
OTHER = ("0.0.9", "feedbeef0123")


def digest(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def run(
    replication: int,
    job: int = 0,
    seed: int = 1,
    build: tuple[str, str] = OWN,
    packed: bytes | None = None,
) -> Run:
    packed = f"{job} {seed} {replication}".encode() * 60 if packed is None else packed
    return Run(digest(job), seed, replication, *build, cpu_s=0.25, packed=packed)


def metrics(replication: int, job: int = 0) -> dict[str, float | None]:
    return {"goodput_bps": 1e6 * job + replication / 3, "p95_sojourn_s": None}


def added(ledger: Ledger, count: int, job: int = 0, build: tuple[str, str] = OWN) -> None:
    ledger.add([(run(n, job, build=build), metrics(n, job)) for n in range(count)])


def plan(points: int = 2, least: int = 3, most: int = 3, seed: int = 1) -> Plan:
    return Plan(
        name="made up",
        axes=["n"],
        points=[Point(n, {"n": n}, {"n": str(n)}, digest(n)) for n in range(points)],
        rule=Rule(least, most),
        seed=seed,
        common_random_numbers=True,
        confidence=0.99,
        metrics=["goodput_bps", "p95_sojourn_s"],
        engines=["simulate"],
    )


def made(path: Path, jobs: int = 2, count: int = 3) -> Path:
    with Ledger.open(path) as ledger:
        ledger.set_plan(plan(jobs), {})
        for job in range(jobs):
            added(ledger, count, job)
    return path
