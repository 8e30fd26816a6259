"""Rows of a result's tables: one per replication and flow, queue, link, user, station, ..."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from airpath.results.applications import APPLICATIONS, application_rows
from airpath.results.cells import user_rows
from airpath.results.delay_parts import delay_part_rows
from airpath.results.fairness import comparable, jain
from airpath.results.phases import phase_rows
from airpath.results.quantities import (
    DELAY_QUANTILES,
    FLOW_QUANTITIES,
    LINK_QUANTITIES,
    QUEUE_QUANTITIES,
    together,
)
from airpath.results.stations import mac_delay_rows, station_rows
from airpath.results.transfers import (
    SIZE_EDGES,
    checked_edges,
    completions,
    size_classes,
    transfer_groups,
    transfers_of,
)

if TYPE_CHECKING:
    from airpath.engine.flows import Flow
    from airpath.engine.resolved import ResolvedScenario

__all__ = [
    "TABLES",
    "entries_by_name",
    "flow_kind",
    "group_quantities",
    "name_of",
    "queue_names",
    "size_class_rows",
]

Runs = Sequence[Mapping[str, Any]]
"""Statistics of each replication, as reported by the engine."""
Rows = Iterable[Mapping[str, Any]]


def _flows(resolved: ResolvedScenario, runs: Runs) -> Rows:
    more = resolved.flows.optional_quantities()
    return (
        {"replication": run["replication"], "flow": flow["id"], "kind": flow["kind"]}
        | {"direction": about.direction, **name_of(resolved, about.group)}
        | {name: flow[name] for name in ("start_s", *FLOW_QUANTITIES)}
        | {name: flow.get(name) for name in more}
        for run in runs
        for flow, about in zip(run["flows"], resolved.flows, strict=True)
    )


def _groups(resolved: ResolvedScenario, runs: Runs) -> Rows:
    groups = resolved.flows.groups
    fair = {of: comparable(resolved, members) for of, members in groups.items()}
    return (
        {
            "replication": run["replication"],
            "group": group,
            "flows": len(members),
            "kind": flow_kind(resolved.flows[members[0]]),
            "direction": resolved.flows[members[0]].direction,
            **name_of(resolved, group),
            **group_quantities(run, members, group),
            "jain": jain(run, fair[group]),
        }
        for run in runs
        for group, members in groups.items()
    )


def _queues(_resolved: ResolvedScenario, runs: Runs) -> Rows:
    found = [(run["replication"], queue) for run in runs for queue in run["queues"]]
    reasons = sorted({reason for _, queue in found for reason in queue["drops"]})
    return (
        {"replication": number, "queue": queue["name"]}
        | {name: queue[name] for name in QUEUE_QUANTITIES}
        | queue.get("measured", {})
        | {f"drops_{reason}": queue["drops"].get(reason, 0) for reason in reasons}
        for number, queue in found
    )


def _links(_resolved: ResolvedScenario, runs: Runs) -> Rows:
    return (
        {"replication": run["replication"], "link": link["name"]}
        | {name: link[name] for name in LINK_QUANTITIES}
        | {f"regime_{j}_packets": n for j, n in enumerate(link["regime_packets"], start=1)}
        | link.get("counters", {})
        for run in runs
        for link in run["links"]
    )


def _phases(resolved: ResolvedScenario, runs: Runs) -> Rows:
    bottleneck = resolved.bottleneck.name
    return (
        {"replication": run["replication"], **row}
        for run in runs
        for row in phase_rows(run, bottleneck)
    )


def _transfers(resolved: ResolvedScenario, runs: Runs) -> Rows:
    return (
        {
            "replication": run["replication"],
            "group": group,
            **name_of(resolved, group),
            **completions(resolved, run, members),
        }
        for run in runs
        for group, members in transfer_groups(resolved).items()
    )


def size_class_rows(resolved: ResolvedScenario, runs: Runs, edges: Sequence[int]) -> Rows:
    """Yield a row for each replication, group of transfers and size class; edges in bytes."""
    for run in runs:
        for group, members in transfer_groups(resolved).items():
            found = transfers_of(resolved, run, members)
            for which in size_classes(edges):
                yield {
                    "replication": run["replication"],
                    "group": group,
                    **name_of(resolved, group),
                    "size_class": which.name,
                    **found.of_class(which).quantities(),
                }


TABLES: Mapping[str, Callable[[ResolvedScenario, Runs], Rows]] = {
    "flows": _flows,
    "groups": _groups,
    "queues": _queues,
    "links": _links,
    "users": lambda _resolved, runs: user_rows(runs),
    "stations": lambda _resolved, runs: station_rows(runs),
    "mac_delays": lambda _resolved, runs: mac_delay_rows(runs),
    "phases": _phases,
    "delay_parts": lambda _resolved, runs: delay_part_rows(runs),
    "transfers": _transfers,
    "transfer_sizes": lambda resolved, runs: size_class_rows(
        resolved, runs, checked_edges(SIZE_EDGES)
    ),
    **{name: partial(application_rows, name=name) for name in APPLICATIONS},
}
"""Maps the name of each table to the function that yields its rows."""


def name_of(resolved: ResolvedScenario, group: int) -> dict[str, str]:
    """Return the column ``name`` of a group's row; empty if no group has a name."""
    names = resolved.flows.group_names
    return {"name": names.get(group, "")} if names else {}


def flow_kind(flow: Flow) -> str:
    """Return the kind of a flow: ``tcp`` or ``datagram``."""
    return "tcp" if flow.source.is_tcp else "datagram"


def group_quantities(
    run: Mapping[str, Any], members: Sequence[int], group: int | None
) -> dict[str, float | None]:
    """Aggregate the quantities of a group's flows, or of all flows if `group` is None."""
    flows = [run["flows"][number] for number in members]
    found = run["together"]
    if group is not None:
        found = {"all": next(of for of in found["groups"] if of["group"] == group)}
    merged = {name: found["all"][name] for name in DELAY_QUANTILES}
    return {name: together(flows, name, merged) for name in FLOW_QUANTITIES}


def entries_by_name(runs: Runs, table: str) -> dict[str, list[Mapping[str, Any]]]:
    """Map each name of a queue or link (`table`) to its entries, one for each replication."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        for entry in run[table]:
            found.setdefault(entry["name"], []).append(entry)
    return found


def queue_names(runs: Runs) -> Iterator[str]:
    """Yield the names of all queues, in the order of the table rows."""
    yield from dict.fromkeys(queue["name"] for run in runs for queue in run["queues"])
