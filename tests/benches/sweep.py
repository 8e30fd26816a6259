"""Efficiency of a sweep: the share of each core that the engine uses.

The bare engine runs replications in one call on one thread; a sweep runs the same number on all
cores, with its tasks, metrics, packing and ledger. Both alternate. The efficiency per core is the
processor time of the bare engine for the same number of replications, divided by cores x seconds of
the sweep; if the machine has other load, the processor time of the sweep replaces cores x seconds.

    python tests/benches/sweep.py [SECONDS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import airpath as ap
from airpath import _airpath
from airpath.api import cores
from airpath.sweeps.coordinator import Coordinator
from airpath.sweeps.executors import workers_of
from airpath.sweeps.job import Job, job_of
from airpath.sweeps.ledger import FILE_NAME, Ledger
from airpath.sweeps.plan import Plan, Point, Rule
from airpath.sweeps.progress import Progress

GOALS = {5: 0.8, 50: 0.95}
"""Required efficiency, as a mapping from the duration of a replication, ms, to the efficiency."""
POINTS = 8
ROUNDS = 3


def jobs(simulated_s: float) -> list[Job]:
    made = []
    for place in range(POINTS):
        scenario = ap.Scenario(
            name="bench",
            flows=ap.flows(16, cc="newreno", base_rtt="40 ms"),
            bottleneck=ap.Bottleneck(
                aqm=ap.aqm.Gred(), link=ap.link.Fixed(rate=f"{10 + place / 10:.1f} Mbit/s")
            ),
            duration=simulated_s,
        )
        made.append(job_of(scenario)[0])
    return made


def bare(of: list[Job], reps: int) -> float:
    """Return the processor time of the engine in a loop, s."""
    began = time.process_time()
    for job in of:
        _airpath.simulate(job.text, {}, 1, 0, reps, 1)
    return time.process_time() - began


def swept(of: list[Job], reps: int) -> tuple[float, float]:
    """Return the time and the processor time of the same jobs as a sweep, s."""
    points = [Point(place, {}, {}, job.digest) for place, job in enumerate(of)]
    plan = Plan(
        "bench", [], points, Rule(reps, reps), 1, True, 0.99,
        ["goodput_bps", "p95_sojourn_s"], ["simulate"],
    )  # fmt: skip
    by_digest = {job.digest: job for job in of}
    with tempfile.TemporaryDirectory() as directory:
        wall, cpu = time.perf_counter(), time.process_time()
        workers = workers_of({}, None, None)
        with Ledger.open(Path(directory, FILE_NAME)) as ledger:
            ledger.set_plan(plan, by_digest)
            Coordinator(plan, by_digest, {}, ledger, workers, {}, progress=Progress()).run(
                lambda: False
            )
        workers.close()
        return time.perf_counter() - wall, time.process_time() - cpu


def main(seconds: float) -> None:
    print(f"{cores()} cores, {ROUNDS} rounds of about {seconds:g} s")
    print("replication   per core   goal   by processor time")
    for milliseconds, goal in GOALS.items():
        pilot = jobs(10.0)
        of = jobs(round(10.0 * milliseconds / 1e3 * POINTS * 20 / bare(pilot, 20), 3))
        reps = max(4, round(seconds * cores() * 1e3 / milliseconds / POINTS))
        walls, cpus = [], []
        for _ in range(ROUNDS):
            alone = bare(of, reps)
            wall, cpu = swept(of, reps)
            walls.append(alone / (cores() * wall))
            cpus.append(alone / cpu)
        real = alone / reps / POINTS * 1e3
        middle = ROUNDS // 2
        print(
            f"{real:8.1f} ms {sorted(walls)[middle]:10.2f} {goal:6.2f} {sorted(cpus)[middle]:12.2f}"
        )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0)
