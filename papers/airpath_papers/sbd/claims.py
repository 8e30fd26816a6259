"""Measures for the formulas in ``claims.toml``, and checks that are functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from airpath.reproduction.claims import Claims, ClaimSpec, Finding, gathered, joined, means
from airpath.reproduction.formulas import Measure, of_point, of_replication, of_run
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath_papers.paths import SBD
from airpath_papers.sbd import measures
from airpath_papers.sbd.data import (
    improvements,
    printed,
    printed_average,
    printed_half_width,
)
from airpath_papers.sbd.scenarios import path

__all__ = ["CLAIMS", "MEASURES", "SWEEPS", "pseudovalues", "rfc6298_rto_s"]

SWEEPS: Final = Sweeps(SBD, path)

# --- measures ----------------------------------------------------------------------------------


def _jitter_s(replication: Mapping[str, Any]) -> float:
    """Return the time from the median to the 95th percentile of the downlink delay, s."""
    found = replication["together"]["all"]
    return float(found["p95_delay_s"] - found["p50_delay_s"])


def _jain(session: Session, run: int, point: SweepPoint, window_s: float, *times_s: float) -> float:
    delivered = session.series(point, "delivered", run)
    return measures.jain_in_windows(delivered, point.axes["flows"], window_s, times_s)


def rfc6298_rto_s(samples_s: Sequence[float]) -> list[float]:
    """Return the RTO after each RTT sample, s: RFC 6298 §2, at least 1 s, without back-off."""
    found, srtt, rttvar = [], samples_s[0] if samples_s else 0.0, 0.0
    for number, sample in enumerate(samples_s):
        if number == 0:
            rttvar = sample / 2
        else:
            rttvar += (abs(srtt - sample) - rttvar) / 4
            srtt += (sample - srtt) / 8
        found.append(max(1.0, srtt + 4 * rttvar))
    return found


def _rto_s(session: Session, run: int, point: SweepPoint, low_s: float, high_s: float) -> float:
    """Return the mean RTO over the RTT samples of all flows in a part of a run, s."""
    series = session.series(point, "rtt", run)
    flows = [series.of(flow) for flow in range(point.axes["flows"])]
    times = np.concatenate([times for times, _ in flows])
    timeouts = np.concatenate([rfc6298_rto_s(samples.tolist()) for _, samples in flows])
    return float(timeouts[(times >= low_s) & (times < high_s)].mean())


def _improvement(_session: Session, point: SweepPoint, quantity: str) -> float:
    """Return a printed improvement of Table 6, per cent."""
    axes = point.axes
    return improvements()[axes["bearer"], axes["flows"], axes["aqm"], quantity]


MEASURES: Final[Mapping[str, Measure]] = {
    "goodput": of_replication(measures.goodput_kbps),
    "delay": of_replication(measures.delay_s),
    "rtt": of_replication(measures.rtt_s),
    "overflow": of_replication(measures.overflows),
    "timed_out": of_replication(measures.all_timed_out),
    "completion": of_replication(measures.completion_s),
    "jitter": of_replication(_jitter_s),
    "jain": of_run(_jain),
    "rto": of_run(_rto_s),
    "printed_goodput_half_width": of_point(lambda _, at: printed(at.axes, "goodput").half_width),
    "printed_improvement": of_point(_improvement),
    "printed_half_width": of_point(lambda _, at, of: printed_half_width(at.axes, of)),
    "printed_average": of_point(lambda _session, _point, quantity: printed_average(quantity)),
}

CLAIMS: Final = Claims(SBD, SWEEPS, MEASURES)

# --- claims about complete grids ---------------------------------------------------------------


def _by_bearer(name: str, line: str) -> Any:
    """Return a function that returns the points of a sweep, by bearer and by another axis."""

    def found(spec: ClaimSpec) -> dict[int, dict[int, list[SweepPoint]]]:
        by: dict[int, dict[int, list[SweepPoint]]] = {}
        for place, point in SWEEPS.points(name, spec.numbers):
            by.setdefault(place["bearer"], {}).setdefault(place[line], []).append(point)
        return by

    return found


@CLAIMS.check("minth-floor", _by_bearer("minth-floor", "minth"))
def _floor(session: Session, spec: ClaimSpec, points: Mapping[int, Any]) -> Finding:
    def at(bearer: int, rows: Mapping[int, list[SweepPoint]]) -> Finding:
        goodputs = [means(session, row, measures.goodput_kbps) for row in rows.values()]
        largest = max(map(max, goodputs))
        floors = [min(row[row.index(max(row)) :]) / largest for row in goodputs]
        delays = [min(means(session, row, measures.delay_s)) for row in rows.values()]
        kept = all(b > a or min(a, b) >= spec["near"] for a, b in pairwise(floors))
        return Finding(
            kept and all(b > a for a, b in pairwise(delays)),
            [
                f"{bearer} kbit/s, minth {joined(list(rows))}: lowest goodput "
                f"{joined(floors, '.1%')} of the largest, lowest delay {joined(delays, '.2f')} s"
            ],
            {"goodput_share": floors, "delay_s": delays},
        )

    return gathered("bearer", points, at)


def pseudovalues(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the jackknife pseudovalues of the coefficient of variation over settings, one per run.

    `values` has a row for each setting and a column for each run.
    """
    runs = values.shape[1]
    total = values.sum(axis=1, keepdims=True)
    without = (total - values) / (runs - 1)
    mean = total[:, 0] / runs
    left_out = without.std(axis=0) / without.mean(axis=0)
    found: np.ndarray[Any, Any] = runs * mean.std() / mean.mean() - (runs - 1) * left_out
    return found


@CLAIMS.check("red-responsive-interval", _by_bearer("red-grid", "flows"))
def _responsive(session: Session, _spec: ClaimSpec, points: Mapping[int, Any]) -> Finding:
    holds, lines, values = True, [], {}
    for bearer, grids in points.items():
        for name, measure in (("goodput", measures.goodput_kbps), ("delay", measures.delay_s)):
            one, four = (
                pseudovalues(np.array([session.values(point, measure) for point in grids[n]]))
                for n in (1, 4)
            )
            more = session.interval([float(each) for each in 100 * (one - four)])
            holds = holds and more.low > 0
            lines.append(
                f"{bearer} kbit/s, {name}: one flow {one.mean():.1%}, four {four.mean():.1%}; "
                f"difference {more.mean:+.1f} ± {more.half_width:.1f} points"
            )
            values[f"bearer={bearer}, {name}"] = {"more": more.mean, "half": more.half_width}
    return Finding(holds, lines, values)
