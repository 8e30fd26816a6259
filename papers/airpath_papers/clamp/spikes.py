"""Measures of the runs of Fig. 8: fluctuations, and the spike of CLAMP's queue (§5.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.clamp.dynamics import ARRIVALS_S, END_S, moving_mean, rates_bps
from airpath_papers.clamp.sweeps import DYNAMICS

__all__ = [
    "CLAMP",
    "NEWRENO",
    "SETTLED_S",
    "Excursion",
    "excursions",
    "flow_correlation",
    "highest_ratio",
    "is_one_start",
    "mutual_correlation",
    "queue_over_time",
    "spike",
]

STEP_S: Final = 0.1
SETTLED_S: Final = 10.0
"""Start time of the comparison of queues, s."""

NEWRENO: Final = DYNAMICS["newreno"]
CLAMP: Final = DYNAMICS["a=40000"]


def queue_over_time(session: Session, point: SweepPoint, run: int, from_s: float) -> Any:
    """Return the queue length every 0.1 s from `from_s` to the end of the arrivals, packets."""
    grid = np.arange(from_s, ARRIVALS_S, STEP_S)
    return session.series(point, "queue", run).levels(0, grid)


def _starts(session: Session, point: SweepPoint, run: int) -> list[float]:
    """Return the start times of the flows, s; the long flow first."""
    flows = session.replications(point)[run]["flows"]
    return [flow["start_s"] for flow in flows if flow["start_s"] is not None]


class Excursion(NamedTuple):
    """Time interval in which CLAMP's queue is above a limit, s, and its maximum, packets."""

    begin_s: float
    end_s: float
    most: float


def excursions(
    session: Session, point: SweepPoint, run: int, factor: float, from_s: float, apart_s: float
) -> list[Excursion]:
    """Return when CLAMP's queue is above `factor` times New Reno's maximum in the same run."""
    queue, other = (queue_over_time(session, each, run, from_s) for each in (point, NEWRENO))
    places = np.flatnonzero(queue > factor * other.max())
    if not len(places):
        return []
    parts = np.split(places, np.flatnonzero(np.diff(places) * STEP_S > apart_s) + 1)
    ends = [(from_s + STEP_S * float(part[0]), from_s + STEP_S * float(part[-1])) for part in parts]
    return [
        Excursion(*both, float(queue[part].max())) for both, part in zip(ends, parts, strict=True)
    ]


def is_one_start(found: Sequence[Excursion], starts: Sequence[float], start_s: float) -> bool:
    """Return whether there is one excursion, within `start_s` after the start of a flow."""
    return len(found) == 1 and any(
        start <= found[0].begin_s and found[0].end_s <= start + start_s for start in starts
    )


def spike(
    session: Session,
    run: int,
    point: SweepPoint,
    what: str,
    start_s: float,
    factor: float,
    from_s: float,
    apart_s: float,
) -> float:
    """Return a property of the excursions above `factor` times New Reno's maximum, same run.

    ``one``: whether there is one excursion, at the start of a flow; ``long``: whether that flow is
    the long flow; ``most``: maximum of the queue, packets.
    """
    found, starts = (
        excursions(session, point, run, factor, from_s, apart_s),
        _starts(session, point, run),
    )
    if what == "most":
        return max((each.most for each in found), default=0.0)
    is_one = is_one_start(found, starts, start_s)
    if what == "long":
        return is_one and found[0].end_s <= starts[0] + start_s
    return is_one


def highest_ratio(session: Session, run: int, point: SweepPoint) -> float:
    """Return the maximum queue length, divided by New Reno's in the same run."""
    queues = (queue_over_time(session, each, run, 0.0) for each in (point, NEWRENO))
    mine, newreno = (float(queue.max()) for queue in queues)
    return mine / newreno


# --- the long flow and the short flows ---------------------------------------------------------


def mutual_correlation(
    session: Session, run: int, point: SweepPoint, window_s: float, mean_s: float
) -> float:
    """Return the correlation of the long flow's rate with its rate under New Reno, same run."""
    width = round(mean_s / window_s)
    means = [
        moving_mean(rates_bps(session, each, run, window_s), width) for each in (point, NEWRENO)
    ]
    return float(np.corrcoef(*means)[0, 1])


def _open_flows(session: Session, point: SweepPoint, run: int, edges: Any) -> Any:
    """Return the mean number of open flows in each window of a run, including the long flow."""
    count = np.zeros(len(edges) - 1)
    for flow in session.replications(point)[run]["flows"]:
        if flow["start_s"] is None:
            continue
        end = END_S if flow["completed_at_s"] is None else flow["completed_at_s"]
        open_s = np.minimum(edges[1:], end) - np.maximum(edges[:-1], flow["start_s"])
        count += np.maximum(open_s, 0.0) / np.diff(edges)
    return count


def flow_correlation(
    session: Session, run: int, point: SweepPoint, window_s: float, mean_s: float
) -> float:
    """Return the correlation of the long flow's rate with 1 / (number of open flows)."""
    edges = np.arange(0.0, END_S + window_s / 2, window_s)
    rates = rates_bps(session, point, run, window_s)
    shares = 1 / np.maximum(_open_flows(session, point, run, edges), 1.0)
    means = (moving_mean(each, round(mean_s / window_s)) for each in (rates, shares))
    return float(np.corrcoef(*means)[0, 1])
