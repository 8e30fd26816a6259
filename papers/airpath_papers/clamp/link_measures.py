"""Measures of the runs of Fig. 2 (clamp-2008 §5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.clamp.link import JOINS_S

__all__ = ["settling_s", "shares_off", "shares_off_between_changes", "window_deviation"]

_CHANGES: Final = sorted({time for span in JOINS_S for time in span})
"""Times at which a flow of Fig. 2 starts or stops, s."""


def shares_off(replication: Any) -> float:
    """Return the largest relative deviation of the rates from equal shares."""
    return _off([flow["ip_throughput_bps"] for flow in replication["flows"]])


def _off(got: Sequence[float]) -> float:
    mean = sum(got) / len(got)
    return max(abs(each / mean - 1) for each in got) if mean > 0 else 1.0


def _delivered(
    session: Session, run: int, point: SweepPoint, begin: float, end: float
) -> list[float]:
    """Return the delivered bytes of each flow that is active from begin to end."""
    delivered = session.series(point, "delivered", run)
    found = []
    for flow, (start, stop) in enumerate(JOINS_S):
        if start <= begin and end <= stop:
            times, values = delivered.of(flow)
            found.append(float(values[(times >= begin) & (times < end)].sum()))
    return found


def settling_s(
    session: Session, run: int, point: SweepPoint, window_s: float, within: float
) -> float:
    """Return the longest time from a change to the last window with unequal shares, s.

    The first and the last change are excluded, because a single flow has no unequal shares.
    """
    changes = _CHANGES[1:-1]
    last = dict.fromkeys(changes, 0.0)
    for begin in np.arange(0.0, JOINS_S[0][1], window_s / 4):
        end = begin + window_s
        got = _delivered(session, run, point, begin, end)
        if not got or any(begin < time < end for time in _CHANGES) or _off(got) <= within:
            continue
        before = [change for change in changes if change <= begin]
        if before:
            last[before[-1]] = float(begin) - before[-1]
    return max(last.values())


def shares_off_between_changes(
    session: Session, run: int, point: SweepPoint, settled_s: float
) -> float:
    """Return the largest deviation from equal shares, from `settled_s` after each change on."""
    found = [
        _off(_delivered(session, run, point, begin + settled_s, end))
        for begin, end in pairwise(_CHANGES)
        if sum(start <= begin and end <= stop for start, stop in JOINS_S) > 1
    ]
    return max(found)


def window_deviation(
    session: Session, run: int, point: SweepPoint, series: str, of_mean: bool = False
) -> float:
    """Return the standard deviation over time of a flow's window from the warm-up on, bytes.

    With `of_mean`, as a share of the mean of the recorded values.
    """
    recorded = session.series(point, series, run)
    found = float(np.std(recorded.levels(0, np.arange(100.0, 300.0, 0.01))))
    return found / float(np.average(recorded.of(0)[1])) if of_mean else found
