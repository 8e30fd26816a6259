"""Jain's fairness index of the goodputs of comparable bulk flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from airpath import _airpath
from airpath.engine.flows import Flow
from airpath.engine.resolved import ResolvedScenario

__all__ = ["comparable", "jain", "jain_of"]

_KINDS = ("tcp", "cbr", "voice", "poisson")
"""Kinds of traffic sources, in the order of preference."""
_LATEST_START = 0.1
"""Bulk flows that start after this share of the measured time are not comparable."""


def comparable(resolved: ResolvedScenario, members: Iterable[int]) -> list[int]:
    """Return the flows for which Jain's index of the goodputs is meaningful.

    These are the bulk flows of one kind of source and one direction. If there are several, the
    first of `tcp`, `cbr`, `voice` and `poisson` is used, then forward before reverse. Datagram
    flows are comparable only with datagram flows of the same rate; the rate of the first flow is
    used. A bulk flow is active during the complete measured time: it has no size, no pauses, no
    random arrival and no stop before the end of the run, and starts within the first tenth of the
    measured time.

    Parameters
    ----------
    resolved : ResolvedScenario
        The resolved scenario.
    members : iterable of int
        Indices of the candidate flows.
    """
    wanted = set(members)
    by_kind: dict[tuple[int, str, float], list[int]] = {}
    for numbers, flow in resolved.flows.ranges():
        found = [number for number in numbers if number in wanted]
        if found and _is_bulk(resolved, flow):
            key = (_KINDS.index(flow.source.kind), flow.direction, flow.source.rate_bps)
            by_kind.setdefault(key, []).extend(found)
    # If datagram flows have several rates, use the rate of the first flow.
    first = min(by_kind, key=lambda key: (*key[:2], by_kind[key][0]), default=None)
    return [] if first is None else by_kind[first]


def jain_of(values: Iterable[float]) -> float:
    """Return Jain's index of values, in (0, 1]: 1 for equal values, 1/n if n - 1 of n are 0.

    Parameters
    ----------
    values : iterable of float
        At least one value; none is negative.
    """
    found: float = _airpath.jain_index(list(values))
    return found


def jain(run: Mapping[str, Any], members: Sequence[int]) -> float | None:
    """Return Jain's index of the goodputs of flows in a replication; None for no flows.

    Parameters
    ----------
    run : mapping
        Measurements of the replication.
    members : sequence of int
        Indices of the flows.
    """
    goodputs = [run["flows"][number]["goodput_bps"] for number in members]
    return jain_of(goodputs) if goodputs else None


def _is_bulk(resolved: ResolvedScenario, flow: Flow) -> bool:
    source, start = flow.source, flow.start
    if start.gap_ns is not None or source.is_transfer or source.has_pauses:
        return False
    ends = flow.stop_ns is None or flow.stop_ns >= resolved.duration_ns
    late_ns = start.latest_ns - resolved.warmup_ns
    return ends and late_ns <= _LATEST_START * resolved.measured_ns
