"""Advisories on hops whose queue is longer, or shorter, than the scenario suggests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from airpath.engine.advisory import Advisory
from airpath.engine.path import DIRECTIONS, ResolvedHop
from airpath.engine.resolved import ResolvedScenario
from airpath.results.window_limit import FULL, shared_loads, unlimited_wires

__all__ = ["may_wait_elsewhere", "queue_advisories"]

LONG_WAIT = (
    "packets wait {wait:.3g} ms on average for {name}{way} and {other:.3g} ms for the "
    "link next to it: {name} is the bottleneck. Set {key}.rate above the rate of that "
    "link."
)
FULL_WIRE = (
    "flows use {load:.0%} of {name}{way} and {other:.0%} of the link next to it: "
    "{name} is the bottleneck. Its queue has no limit and is in no table: set {key}.limit, or "
    "{key}.rate above the rate of that link."
)
IDLE_QUEUE = (
    "packets wait {wait:.3g} ms on average in the queue {name} ({kind}) and {other:.3g} ms in the "
    "queue {longest}: hop {hop} is the bottleneck in this direction. A discipline against delay "
    "belongs there."
)
_SHORT_WAIT_S = 1e-3
"""Largest mean sojourn time that is not reported, s."""
_IDLE = 0.05
"""Largest mean sojourn time of an idle queue, as a share of that of the longest queue."""

Runs = Sequence[Mapping[str, Any]]


def may_wait_elsewhere(resolved: ResolvedScenario) -> bool:
    """Return whether `queue_advisories` may have an advisory on replications of a scenario."""
    has_wire = any(hop.wire is not None and hop.wire.rate_bps for hop in resolved.hops)
    return has_wire or any(len(_queues(resolved, way)) > 1 for way in DIRECTIONS)


def queue_advisories(resolved: ResolvedScenario, runs: Runs) -> Iterator[Advisory]:
    """Yield the advisories on the queues of a path.

    Parameters
    ----------
    resolved : ResolvedScenario
        The resolved scenario.
    runs : sequence of mapping
        Replications of the scenario, at least one.
    """
    loads = shared_loads(resolved, runs) if unlimited_wires(resolved) else {}
    for hop in resolved.hops:
        if hop.wire is not None:
            for way in DIRECTIONS:
                yield from _wire(resolved, hop, way, runs, loads)
    for way in DIRECTIONS:
        yield from _idle_queues(resolved, way, runs)


def _wire(
    resolved: ResolvedScenario,
    hop: ResolvedHop,
    way: str,
    runs: Runs,
    loads: Mapping[str, float],
) -> Iterator[Advisory]:
    """Yield a warning if packets wait longer for a wire than for the links in this direction.

    The wait for an unlimited wire is not measured. Such a wire is reported if it is fully loaded,
    and its load is higher than the loads of the links.
    """
    name, others = hop.name_of(way), list(_queues(resolved, way))
    key = "backhaul" if resolved.is_short_form else f"hops.{hop.name}.wire"
    name_text = f"the {hop.name}" if resolved.is_short_form else f"hop {hop.name}"
    texts = {"name": name_text, "key": key}
    texts["way"] = "" if way == "forward" else " in reverse direction"
    other = max((loads.get(each, 0.0) for each in others), default=0.0)
    place = key.removesuffix(".wire")
    if loads.get(name, 0.0) >= max(FULL, other):
        text = FULL_WIRE.format(load=loads[name], other=other, **texts)
        yield Advisory("backhaul-queue", text, place)
    wait_s, other_s = _mean_wait_s(runs, (name,)), _mean_wait_s(runs, others)
    if wait_s > max(other_s, _SHORT_WAIT_S):
        text = LONG_WAIT.format(wait=1e3 * wait_s, other=1e3 * other_s, **texts)
        yield Advisory("backhaul-queue", text, place)


def _idle_queues(resolved: ResolvedScenario, way: str, runs: Runs) -> Iterator[Advisory]:
    """Yield a warning for each discipline other than drop-tail that has almost no queue.

    Packets in this direction wait for another hop instead.
    """
    queues = _queues(resolved, way)
    waits_s = {name: _mean_wait_s(runs, (name,)) for name in queues}
    longest = max(waits_s, key=lambda name: waits_s[name], default=None)
    if longest is None or waits_s[longest] <= _SHORT_WAIT_S:
        return
    for name, (hop, kind) in queues.items():
        if kind != "droptail" and waits_s[name] <= _IDLE * waits_s[longest]:
            waits = {"wait": 1e3 * waits_s[name], "other": 1e3 * waits_s[longest]}
            at = {"longest": longest, "hop": queues[longest][0]}
            text = IDLE_QUEUE.format(name=name, kind=kind, **waits, **at)
            yield Advisory("idle-queue", text, hop if resolved.is_short_form else f"hops.{hop}")


def _queues(resolved: ResolvedScenario, way: str) -> dict[str, tuple[str, str]]:
    """Map names of the queues of links in a direction to names of hops and kinds of disciplines."""
    found = ((hop, hop.direction(way)) for hop in resolved.hops)
    return {each.name: (hop.name, each.queue.kind) for hop, each in found if each is not None}


def _mean_wait_s(runs: Runs, links: Sequence[str]) -> float:
    """Return the mean sojourn time of the packets in all queues of the links, s."""
    queues = [queue for run in runs for queue in run["queues"]]
    found = [queue for queue in queues if queue["name"].partition("/")[0] in links]
    packets = sum(queue["departed"] for queue in found)
    waits = (queue["departed"] * (queue["mean_sojourn_s"] or 0.0) for queue in found)
    return math.fsum(waits) / packets if packets else 0.0
