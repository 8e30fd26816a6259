"""Advisory on flows that are limited by their receive window and would gain from a larger one.

If receive windows limit all flows, but the flows together fill the link, a larger window would only
make the queue longer. There is no advisory then. If flows that the receive window does not limit
use the rest of a full link, a larger window takes capacity from these flows. The advisory then
mentions it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from airpath.engine.advisory import Advisory
from airpath.engine.flows import Flow, Source
from airpath.engine.path import DIRECTIONS, ResolvedHop
from airpath.engine.resolved import ResolvedScenario
from airpath.scenario.units import Size

__all__ = [
    "FULL",
    "LIMITED",
    "limited_flows",
    "shared_loads",
    "unlimited_wires",
    "window_limited",
]

FULL = 0.95
"""Utilisation above which a link is considered full. The possible gain is then at most 5 %."""

LIMITED = 0.5
"""A flow counts as limited if the receive window limits it for more than this share of time."""

RECEIVE_WINDOW = (
    "the receive window, {window}, was the limit{flows} for {share:.0f} % of the time, not the "
    "congestion control. A larger one: tcp = {{receive_window = {example}}}{but}."
)
TAKES_FROM_OTHERS = "; the link was full, so it takes from the other flows"

Runs = Sequence[Mapping[str, Any]]


def limited_flows(resolved: ResolvedScenario, runs: Runs) -> dict[int, float]:
    """Return the flows that the receive window limited for most of the time.

    Parameters
    ----------
    resolved : ResolvedScenario
        The resolved scenario.
    runs : sequence of mapping
        Replications of the scenario, at least one.

    Returns
    -------
    shares : dict of int to float
        Maps the index of a flow to the share of time in which the receive window limited it,
        averaged over the replications. Only flows with a share above 0.5 are included. Flows that
        fill their own wire are excluded.
    """
    found = {}
    for number, flow in enumerate(resolved.flows):
        known = [run["flows"][number]["rwnd_limited_share"] for run in runs]
        share = _mean([share for share in known if share is not None])
        if share > LIMITED and not _fills_its_wire(resolved, flow, runs, number):
            found[number] = share
    return found


def window_limited(
    group: int,
    members: Sequence[int],
    limited: Mapping[int, float],
    resolved: ResolvedScenario,
    runs: Runs,
) -> Iterator[Advisory]:
    """Yield a warning for flows whose goodput a larger receive window would increase.

    Parameters
    ----------
    group : int
        Index of the group of flows.
    members : sequence of int
        Indices of the group's flows.
    limited : mapping of int to float
        Result of `limited_flows`.
    resolved, runs
        As in `limited_flows`.
    """
    shares = [limited[number] for number in members if number in limited]
    if not shares:
        return
    is_full = _is_full(resolved, runs)
    if is_full and not _others_have_a_part(limited, resolved, runs):
        return
    window = resolved.flows[members[0]].source.tcp.receive_window
    yield Advisory(
        "receive-window",
        RECEIVE_WINDOW.format(
            window=Size(window),
            share=100 * _mean(shares),
            flows=f" of {len(shares)} of its {len(members)} flows" if len(members) > 1 else "",
            example='"1 MB"' if window < 10**6 else f'"{Size(10 * window)}"',
            but=TAKES_FROM_OTHERS if is_full else "",
        ),
        f"flows.{resolved.flows.group_key(group)}",
    )


def _is_full(resolved: ResolvedScenario, runs: Runs) -> bool:
    """Return whether a link that all flows share was full while the flows were active."""
    return any(load >= FULL for load in shared_loads(resolved, runs).values())


def shared_loads(resolved: ResolvedScenario, runs: Runs) -> dict[str, float]:
    """Return the utilisation of the links that all flows share, while the flows were active.

    Parameters
    ----------
    resolved : ResolvedScenario
        The resolved scenario.
    runs : sequence of mapping
        Replications of the scenario, at least one.

    Returns
    -------
    loads : dict of str to float
        Maps the name of each link to its utilisation, averaged over the replications. Wires with a
        rate and without a limit (such as ``backhaul`` and ``backhaul_reverse``) are included,
        although the tables of results do not list them.
    """
    used: dict[str, list[float]] = {}
    for run in runs:
        described = list(zip(resolved.flows, run["flows"], strict=True))
        spans = [_span_s(resolved, run, given, found) for given, found in described]
        under_way_s = max(end for _, end in spans) - min(begin for begin, _ in spans)
        if under_way_s <= 0:
            continue
        part = under_way_s / run["measured_s"]
        for link in run["links"]:
            used.setdefault(link["name"], []).append(link["utilisation"] / part)
        for hop in unlimited_wires(resolved):
            for way in DIRECTIONS:
                carried_bps = math.fsum(
                    _carried_bps(given.source, found)
                    for given, found in described
                    if given.direction == way and hop in resolved.path.crossed(given)
                )
                load = carried_bps / part / _wire_bps(hop)
                used.setdefault(hop.name_of(way), []).append(load)
    return {name: _mean(shares) for name, shares in used.items()}


def unlimited_wires(resolved: ResolvedScenario) -> list[ResolvedHop]:
    """Return the hops that are wires with a rate but without a queue limit."""
    wired = [(hop, hop.wire) for hop in resolved.hops if hop.wire is not None]
    return [hop for hop, wire in wired if wire.rate_bps and not wire.is_limited]


def _wire_bps(hop: ResolvedHop) -> float:
    return float((hop.wire and hop.wire.rate_bps) or math.inf)


def _carried_bps(source: Source, found: Mapping[str, Any]) -> float:
    """Return the IP throughput of a flow, bit/s, including packets sent during the warm-up."""
    if not source.payload_bytes:
        return float(found["ip_throughput_bps"])
    return float(found["goodput_bps"]) * source.packet_bytes / source.payload_bytes


def _fills_its_wire(resolved: ResolvedScenario, flow: Flow, runs: Runs, number: int) -> bool:
    """Return whether a flow sent at the rate of its access or egress wire while it was active."""
    rates = [wire.rate_bps for wire in (flow.access, flow.egress) if wire.rate_bps]
    if not rates:
        return False
    used = []
    for run in runs:
        begin, end = _span_s(resolved, run, flow, run["flows"][number])
        if end > begin:
            sent_bits = run["flows"][number]["ip_throughput_bps"] * run["measured_s"]
            used.append(sent_bits / (end - begin) / min(rates))
    return _mean(used) >= FULL


def _others_have_a_part(
    limited: Mapping[int, float], resolved: ResolvedScenario, runs: Runs
) -> bool:
    """Return whether TCP flows not in `limited` have more than 5 % of the delivered bytes."""
    numbers = [
        number
        for number, flow in enumerate(resolved.flows)
        if number not in limited and flow.source.is_tcp
    ]
    everything = sum(flow["delivered_bytes"] for run in runs for flow in run["flows"])
    delivered = sum(run["flows"][number]["delivered_bytes"] for run in runs for number in numbers)
    return bool(delivered > (1 - FULL) * everything)


def _span_s(
    resolved: ResolvedScenario,
    run: Mapping[str, Any],
    given: Flow,
    found: Mapping[str, Any],
) -> tuple[float, float]:
    """Return the start and the end of a flow within the measured time, s."""
    begin_s, end_s = found["start_s"], resolved.duration_s
    if begin_s is None:  # For datagram flows and flows that never started.
        begin_s = given.start.earliest_ns / 1e9
    stops_s = end_s if given.stop_ns is None else given.stop_ns / 1e9
    done_s = end_s if found["completed_at_s"] is None else found["completed_at_s"]
    return max(begin_s, end_s - run["measured_s"]), min(end_s, stops_s, done_s)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0
