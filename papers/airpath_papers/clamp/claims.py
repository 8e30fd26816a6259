"""Measures for the formulas in ``claims.toml``, and one check that is a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, Final

from airpath.reproduction.base import Cell
from airpath.reproduction.claims import Claims, ClaimSpec, Finding, gathered, known
from airpath.reproduction.formulas import Measure, of_point, of_replication, of_run
from airpath.reproduction.quantities import bottleneck, ip_throughput_mbps
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.clamp import link_measures, measures, spikes
from airpath_papers.clamp.dynamics import fluctuation
from airpath_papers.clamp.link import fluid_queue_bytes
from airpath_papers.clamp.measures import QUEUES, Replication
from airpath_papers.clamp.sweeps import SWEEPS, sweep
from airpath_papers.paths import CLAMP

__all__ = ["CLAIMS", "MEASURES"]

# --- measures ----------------------------------------------------------------------------------


def _of_queue(queue: str, name: str) -> Any:
    place = list(QUEUES).index(queue)
    return lambda replication: replication["queues"][place][name]


def _queue_deviation(queue: str) -> Any:
    place = list(QUEUES).index(queue)

    def deviation(replication: Replication) -> float:
        pmf = replication["queues"][place]["pmf"]
        mean = sum(k * share for k, share in enumerate(pmf))
        return sqrt(sum((k - mean) ** 2 * share for k, share in enumerate(pmf)))

    return deviation


def _best_share(replication: Replication) -> float:
    users = replication["users"]
    return float(sum(user["best_slot_share"] for user in users) / len(users))


def _of_dynamics(session: Session, run: int, point: SweepPoint, what: str) -> float:
    """Return the mean, the standard deviation or the maximum of the queue from 10 s on, packets."""
    queue = spikes.queue_over_time(session, point, run, spikes.SETTLED_S)
    return float(getattr(queue, what)())


def _rate_deviation(session: Session, run: int, point: SweepPoint, *span_s: float) -> float:
    """Return the standard deviation of the long flow's rate about its mean, Mbit/s."""
    return fluctuation(session, point, run, *span_s) / 1e6


MEASURES: Final[Mapping[str, Measure]] = {
    "queueing_ms": of_replication(lambda run: 1e3 * measures.queueing_delay_s(run)),
    "sojourn_ms": of_replication(lambda run: 1e3 * measures.sojourn_time_s(run)),
    "rate_of": of_replication(measures.rate_mbps, has_arguments=True),
    "queue_rate": of_replication(measures.queue_mbps, has_arguments=True),
    "total_rate": of_replication(ip_throughput_mbps),
    "jain": of_replication(measures.fairness),
    "timeouts": of_replication(measures.timeouts_per_s, has_arguments=True),
    "control_lost": of_replication(measures.control_lost, has_arguments=True),
    "download_s": of_replication(measures.download_s),
    "empty": of_replication(measures.empty_share, has_arguments=True),
    "margin": of_replication(measures.margin),
    "waiting_bytes": of_replication(measures.waiting_bytes),
    "rtt_spread_s": of_replication(measures.rtt_spread_s, has_arguments=True),
    "mean_rtt_s": of_replication(measures.mean_rtt_s, has_arguments=True),
    "best_share": of_replication(_best_share),
    "of_queue": of_replication(_of_queue, has_arguments=True),
    "queue_deviation": of_replication(_queue_deviation, has_arguments=True),
    "averaged_queue_bytes": of_replication(
        lambda run: bottleneck(run)["measured"]["clamp_queue_bytes"]
    ),
    "link_sojourn_s": of_replication(lambda run: bottleneck(run)["mean_sojourn_s"]),
    "utilisation": of_replication(lambda run: run["links"][0]["utilisation"]),
    "fluid_bytes": of_point(lambda _session, point: fluid_queue_bytes(point.axes["flows"])),
    "shares_off": of_replication(link_measures.shares_off),
    "shares_off_between_changes": of_run(link_measures.shares_off_between_changes),
    "settling_s": of_run(link_measures.settling_s),
    "window_deviation": of_run(link_measures.window_deviation),
    "queue_from_10_s": of_run(_of_dynamics),
    "rate_deviation": of_run(_rate_deviation),
    "spike": of_run(spikes.spike),
    "highest_ratio": of_run(spikes.highest_ratio),
    "mutual_correlation": of_run(spikes.mutual_correlation),
    "flow_correlation": of_run(spikes.flow_correlation),
}

CLAIMS: Final = Claims(CLAMP, SWEEPS, MEASURES)

# --- delay of single queues --------------------------------------------------------------------


@CLAIMS.check(
    "self-clocking-own",
    lambda _spec: {
        rate: sweep(fast=False, clamp=True, low_rate=low)
        for rate, low in (("10 Mbit/s", False), ("1.44 Mbit/s", True))
    },
)
def _self_clocking_own(
    session: Session, spec: ClaimSpec, sweeps: Mapping[str, Sequence[Cell]]
) -> Finding:
    queues = {(rate, queue): cells for rate, cells in sweeps.items() for queue in QUEUES}
    return gathered("", queues, lambda at, cells: _drains(session, spec, at, cells))


def _drains(
    session: Session, spec: ClaimSpec, at: tuple[str, str], cells: Sequence[Cell]
) -> Finding:
    """Check the share of time with an empty queue, at the first point with a long enough delay."""
    rate, queue = at
    least = spec["factor"] * max(QUEUES[queue]) / 1e3
    for cell in cells:
        delay = known(session, cell, measures.own_delay_s(queue)).mean
        if delay < least:
            continue
        lost = max(known(session, cell, measures.control_lost(flow)).mean for flow in QUEUES[queue])
        if lost > spec["lost"]:
            break
        empty = known(session, cell, measures.empty_share(queue)).mean
        line = f"{rate}, {queue}: delay {1e3 * delay:.0f} ms, empty {empty:.1%} of the time"
        return Finding(empty <= spec["share"], [line], {"delay_s": delay, "empty": empty})
    return Finding(True, [f"{rate}, {queue}: no delay of {1e3 * least:.0f} ms under control"], {})
