"""What the text says about the scheduler, about runs over time (clamp-2008 §5.3, §5.7, §5.8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from airpath.papers.clamp.dynamics import Dynamics, fluctuation
from airpath.papers.clamp.measures import QUEUES, Replication, control_lost, empty_share
from airpath.papers.clamp.scenarios import Saturated
from airpath.papers.clamp.statements.common import SAYS
from airpath.papers.clamp.statements.rates import SPEEDS, placed
from airpath.papers.clamp.sweeps import NAMES, sweep
from airpath.papers.kit.base import Cell
from airpath.papers.kit.session import Session
from airpath.papers.kit.statements import Finding, Said, joined, known


def _best_share(replication: Replication) -> float:
    users = replication["users"]
    return float(sum(user["best_slot_share"] for user in users) / len(users))


@SAYS.check("weighted-rr", lambda _said: {name: Saturated(fast) for name, fast in SPEEDS.items()})
def _weighted_rr(session: Session, said: Said, cases: Mapping[str, Saturated]) -> Finding:
    shares = {name: known(session, case, _best_share).mean for name, case in cases.items()}
    shown = [f"{name} {share:.2f}" for name, share in shares.items()]
    holds = shares["fast"] >= said["fast"] and shares["slow"] <= said["slow"]
    return Finding(holds, [f"slots while nobody has a higher rate: {joined(shown)}"], shares)


@SAYS.check("windows", lambda _said: sweep(fast=True, clamp=True))
def _windows(session: Session, said: Said, cells: Sequence[Cell]) -> Finding:
    found = placed(cells)
    shares = [found.at(session, ms / 1e3, control_lost(30)) for ms in said["delays_ms"]]
    pairs = zip(said["delays_ms"], shares, strict=True)
    shown = [f"{ms:g} ms {share:.1%}" for ms, share in pairs]
    holds = shares[0] <= said["share"] and shares[1] > shares[0]
    return Finding(holds, [f"CWND below AWND: {joined(shown)} of the time"], {"shares": shares})


def _queue_of_130(replication: Replication) -> Mapping[str, Any]:
    found: Mapping[str, Any] = replication["queues"][list(QUEUES).index("130")]
    return found


def _mean(replication: Replication) -> float:
    return float(_queue_of_130(replication)["mean_packets"])


def _deviation(replication: Replication) -> float:
    pmf = _queue_of_130(replication)["pmf"]
    mean = sum(k * share for k, share in enumerate(pmf))
    return sqrt(sum((k - mean) ** 2 * share for k, share in enumerate(pmf)))


@SAYS.check(
    "queues", lambda _said: {NAMES[clamp]: sweep(fast=True, clamp=clamp) for clamp in (True, False)}
)
def _queues(session: Session, said: Said, sweeps: Mapping[str, Sequence[Cell]]) -> Finding:
    place = said["delay_ms"] / 1e3
    measures = (_mean, empty_share("130"), _deviation)
    found = {
        name: [placed(cells).at(session, place, measure) for measure in measures]
        for name, cells in sweeps.items()
    }
    ours, theirs = found[NAMES[True]], found[NAMES[False]]
    return Finding(
        theirs[0] < ours[0] and theirs[1] > ours[1] and ours[2] >= said["sd"] * theirs[2],
        [
            f"{name}: mean {mean:.1f} packets, empty {empty:.1%} of the time, sd {sd:.1f} packets"
            for name, (mean, empty, sd) in found.items()
        ],
        {
            name: {"mean_packets": mean, "empty_share": empty, "sd_packets": sd}
            for name, (mean, empty, sd) in found.items()
        },
    )


# --- flows that come and go (Fig. 8) -----------------------------------------------------------

A_BYTES = (20_000, 28_000, 40_000, 56_000)
"""Of which the one whose mean queue is nearest to New Reno's is compared with it."""


def _queue_over_time(session: Session, case: Dynamics, run: int, from_s: float = 10.0) -> Any:
    """Return packets in the queue every 0.1 s from then to the end of the arrivals."""
    times, levels = session.series(case, "queue", run).of(0)
    grid = np.arange(from_s, 100.0, 0.1)
    return levels[np.maximum(np.searchsorted(times, grid, "right") - 1, 0)]


def _spikes_once(
    session: Session, cases: tuple[Dynamics, Dynamics], run: int, start_s: float, from_s: float
) -> bool:
    """Whether what is above New Reno's highest queue is there, and is the start of one flow's."""
    ours, theirs = (_queue_over_time(session, case, run, from_s) for case in cases)
    times = from_s + 0.1 * np.flatnonzero(ours > theirs.max())
    flows = session.replications(cases[0])[run]["flows"]
    starts = [flow["start_s"] for flow in flows if flow["start_s"] is not None]
    return len(times) > 0 and any(
        start <= times[0] and times[-1] <= start + start_s for start in starts
    )


def _of_runs(session: Session, case: Dynamics, said: Said) -> dict[str, float]:
    runs = range(len(session.replications(case)))
    queues = [_queue_over_time(session, case, run) for run in runs]
    span = (said["window_s"], said["mean_s"])
    rates = [fluctuation(session, case, run, *span) for run in runs]
    return {
        "queue_packets": float(np.mean([queue.mean() for queue in queues])),
        "queue_sd": float(np.mean([queue.std() for queue in queues])),
        "queue_most": float(np.mean([queue.max() for queue in queues])),
        "rate_sd_mbps": float(np.mean(rates)) / 1e6,
    }


def _dynamics(_said: Said) -> dict[str, list[Dynamics]]:
    return {
        "newreno": [Dynamics("newreno", 2000, 0)],
        "clamp": [Dynamics("clamp", 2000, a) for a in A_BYTES],
        "smaller": [Dynamics("newreno", 1, 0), Dynamics("clamp", 1, A_BYTES[-2])],
    }


@SAYS.check("dynamics", _dynamics)
def _fluctuates(session: Session, said: Said, cases: Mapping[str, list[Dynamics]]) -> Finding:
    theirs = _of_runs(session, cases["newreno"][0], said)
    tried = {case.a_bytes: _of_runs(session, case, said) for case in cases["clamp"]}
    a_bytes, ours = min(
        tried.items(), key=lambda each: abs(each[1]["queue_packets"] - theirs["queue_packets"])
    )
    smaller = [_of_runs(session, case, said) for case in cases["smaller"]]
    rate = ours["rate_sd_mbps"] / theirs["rate_sd_mbps"]
    queue = ours["queue_sd"] / theirs["queue_sd"]
    pair = (Dynamics("clamp", 2000, a_bytes), cases["newreno"][0])
    runs = range(len(session.replications(pair[0])))
    # From 10 s on is the criterion's; from the beginning was added after a look at the figure.
    spikes, whole = (
        sum(_spikes_once(session, pair, run, said["start_s"], from_s) for run in runs) / len(runs)
        for from_s in (10.0, 0.0)
    )
    return Finding(
        rate <= said["rate"]
        and 1 / (1 + said["queue"]) <= queue <= 1 + said["queue"]
        and spikes > 0.5,
        [
            f"one spike, in a slow start, from 10 s on in {spikes:.0%} of the runs, "
            f"from the beginning in {whole:.0%} (later)",
            *(
                f"{name}: sd of the rate {found['rate_sd_mbps']:.2f} Mbit/s; queue "
                f"{found['queue_packets']:.1f} packets, sd {found['queue_sd']:.1f}, "
                f"most {found['queue_most']:.0f}"
                for name, found in (
                    ("New Reno", theirs),
                    (f"CLAMP, a = {a_bytes / 1e3:g} kB", ours),
                    ("smaller flows (mode at 1 packet), New Reno", smaller[0]),
                    (f"smaller flows, CLAMP, a = {A_BYTES[-2] / 1e3:g} kB", smaller[1]),
                )
            ),
        ],
        {
            "newreno": theirs,
            "clamp": {**ours, "a_bytes": a_bytes},
            "one_spike_share": spikes,
            "smaller_flows": dict(zip(("newreno", "clamp"), smaller, strict=True)),
            "one_spike_share_from_0s": whole,
        },
    )
