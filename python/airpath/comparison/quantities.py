"""The quantities that are compared between engines, and functions that compute their values.

The name of a quantity is the name of a sweep metric (``goodput_bps``, ``flows.0.mean_rtt_s``,
``queues.bottleneck.mean_packets``), or of a derived quantity in `_DERIVED`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airpath.engine.path import DIRECTIONS, ResolvedHop
from airpath.engine.resolved import ResolvedScenario
from airpath.results.applications import APPLICATIONS, application_groups
from airpath.results.fairness import comparable
from airpath.results.labels import label_of_quantity, short_label
from airpath.results.overview import MOST_FLOWS, flow_name, source_name
from airpath.results.quantities import bounds, resolution
from airpath.results.transfers import transfer_groups
from airpath.sweeps.metrics import evaluate, solve_metrics

if TYPE_CHECKING:
    from airpath.results.result import Result
    from airpath.solutions import Solution

__all__ = [
    "ComparedQuantity",
    "compared_hops",
    "quantities",
    "result_values",
    "solution_values",
    "whole_runs",
]

Run = Mapping[str, Any]
"""Measurements of a replication."""

_MOST_QUEUES = 4
"""Largest number of compared queues of a hop. In a cell with more users: the first users' ones."""


@dataclass(frozen=True)
class ComparedQuantity:
    """Quantity that engines report.

    Parameters
    ----------
    name : str
        Name in the form of a metric's name, for example ``flows.0.goodput_bps``.
    label : str
        Label in tables, for example ``goodput``.
    of : str
        Measured object, for example ``flow 0 reno`` or ``bottleneck``.
    unit : str
        Displayed unit; empty for a dimensionless number.
    scale : float
        Factor that converts a value to the displayed unit.
    decimals : int
        Number of decimals in the displayed unit.
    """

    name: str
    label: str
    of: str
    unit: str
    scale: float
    decimals: int

    @property
    def last(self) -> str:
        """The name without the measured object, for example ``goodput_bps``."""
        return self.name.rpartition(".")[2]

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and largest possible value."""
        return bounds(self.last)

    @property
    def resolution(self) -> float:
        """Relative resolution of the values."""
        return resolution(self.last)

    @property
    def title(self) -> str:
        """Label and measured object, for a panel or a sentence, for example ``goodput, all 4``."""
        return f"{self.label}, {self.of}"


_RATE = ("Mbit/s", 1e-6, 3)
_TIME = ("ms", 1e3, 1)
_LONG = ("s", 1.0, 3)
_SHARE = ("%", 100.0, 3)
_USE = ("%", 100.0, 1)
_PACKETS = ("packets", 1.0, 2)
_COUNT = ("", 1.0, 1)

Format = tuple[str, float, int]
"""Unit, scale and number of decimals."""

_OF_FLOWS: Mapping[str, Format] = {
    "goodput_bps": _RATE,
    "ip_throughput_bps": _RATE,
    "mean_rtt_s": _TIME,
    "mean_delay_s": _TIME,
    "p50_delay_s": _TIME,
    "p95_delay_s": _TIME,
    "p99_delay_s": _TIME,
    "retransmissions": _COUNT,
    "timeouts": _COUNT,
}
_EACH_TOO = ("goodput_bps", "mean_rtt_s")
"""Quantities that also have a row for each flow or group."""
_OF_QUEUES: Mapping[str, Format] = {
    "mean_packets": _PACKETS,
    "p50_packets": _PACKETS,
    "p95_packets": _PACKETS,
    "p99_packets": _PACKETS,
    "mean_sojourn_s": _TIME,
    "p95_sojourn_s": _TIME,
    "drop_share": _SHARE,
    "mark_share": _SHARE,
}
_OF_TRANSFERS: Mapping[str, Format] = {"mean_s": _LONG, "p95_s": _LONG}
_NOT_COMPARED = ("calls", "clients")
"""Columns of applications that the scenario determines."""


def quantities(resolved: ResolvedScenario, runs: Sequence[Run]) -> list[ComparedQuantity]:
    """Return the quantities that apply to a scenario, in the order of the table.

    Parameters
    ----------
    resolved : ResolvedScenario
        The resolved scenario.
    runs : sequence of mapping
        Replications; their queues and links are compared. If empty, only links that carry data
        forward are compared.
    """
    found = [*_flow_quantities(resolved)]
    hops = compared_hops(resolved)
    names = [queue["name"] for run in runs[:1] for queue in run["queues"]]
    links = {link["name"]: link for run in runs[:1] for link in run["links"]}
    for hop in hops:
        of_hop = [name for name in names if name.partition("/")[0] in hop]
        for queue in of_hop[:_MOST_QUEUES] if runs else hop[:1]:
            found += [_made(f"queues.{queue}", row, queue) for row in _OF_QUEUES.items()]
    compared = [name for hop in hops for name in (hop if runs else hop[:1])]
    compared = [name for name in compared if not runs or name in links]
    for name in compared:
        found.append(_made(f"links.{name}", ("lost_share", _SHARE), name))
        found.append(_made(f"links.{name}", ("utilisation", _USE), name))
    for name in compared if runs else ():
        found += _regime_quantities(links[name])
    for group in transfer_groups(resolved):
        key, title = resolved.flows.group_key(group), resolved.flows.group_title(group)
        found += [_made(f"transfers.{key}", row, title) for row in _OF_TRANSFERS.items()]
    for name in APPLICATIONS:
        found += _application_quantities(resolved, name)
    return found


def _application_quantities(
    resolved: ResolvedScenario, application: str
) -> Iterator[ComparedQuantity]:
    """Yield the quantities of the table of an application, for each group that has it."""
    columns = APPLICATIONS[application].columns.values()
    for group in application_groups(resolved, application):
        key, title = resolved.flows.group_key(group), resolved.flows.group_title(group)
        for quantity, scale, decimals, unit in columns:
            if quantity not in _NOT_COMPARED:
                row = (quantity, (unit, scale, decimals))
                yield _made(f"{application}.{key}", row, title)


def compared_hops(resolved: ResolvedScenario) -> list[list[str]]:
    """Return the names of the links of each compared hop, in the order of results.

    In the short form of a path, the bottleneck is compared. In a list of hops, all hops with a link
    or a queue that data traverse are compared, in both directions.

    Parameters
    ----------
    resolved : ResolvedScenario
        The resolved scenario.
    """
    if resolved.is_short_form:
        return [["bottleneck", "reverse"]]
    path = resolved.path
    traversed = {
        (hop.name, flow.direction) for flow in resolved.flows.entries for hop in path.crossed(flow)
    }
    hops = []
    for hop in reversed(path.hops):
        names = {way: hop.name_of(way) for way in DIRECTIONS if _has_queue(hop, way)}
        if any((hop.name, way) in traversed for way in names):
            hops.append(list(names.values()))
    return hops


def _has_queue(hop: ResolvedHop, direction: str) -> bool:
    is_limited = hop.wire is not None and hop.wire.is_limited
    return is_limited or hop.direction(direction) is not None


def _flow_quantities(resolved: ResolvedScenario) -> Iterator[ComparedQuantity]:
    number, groups = len(resolved.flows), resolved.flows.groups
    everyone = f"all {number}" if number > 1 else f"flow 0 {flow_name(resolved, 0)}"
    each: list[tuple[str, str]] = []
    if len(groups) > 1 and len(groups) < number:
        each += [
            (
                f"groups.{resolved.flows.group_key(group)}",
                f"{resolved.flows.group_title(group)}: {len(of)} {source_name(resolved, of[0])}",
            )
            for group, of in groups.items()
        ]
    if 1 < number <= MOST_FLOWS:
        each += [
            (f"flows.{flow}", f"flow {flow} {flow_name(resolved, flow)}") for flow in range(number)
        ]
    for row in _OF_FLOWS.items():
        yield _made("", row, everyone)
        if row[0] in _EACH_TOO:
            yield from (_made(scope, row, of) for scope, of in each)
    fair = comparable(resolved, range(number))
    if len(fair) > 1:
        of = everyone if len(fair) == number else f"{len(fair)} of {number}"
        yield _made("", ("jain", ("", 1.0, 4)), of)


def _regime_quantities(link: Mapping[str, Any]) -> Iterator[ComparedQuantity]:
    name = link["name"]
    count = len(link["regime_packets"])
    if count > 1:
        for regime in range(2, 1 + count):
            yield _made(f"links.{name}", (f"regime_{regime}_share", _USE), name)


def _made(scope: str, row: tuple[str, Format], of: str) -> ComparedQuantity:
    name, (unit, scale, decimals) = row
    label = short_label(label_of_quantity(name))
    return ComparedQuantity(f"{scope}.{name}" if scope else name, label, of, unit, scale, decimals)


# --- values of a result ------------------------------------------------------------------------


def result_values(result: Result, wanted: Sequence[ComparedQuantity]) -> dict[str, list[float]]:
    """Return the values of each quantity by replication; unreported quantities are omitted.

    Parameters
    ----------
    result : Result
        Result of a simulation or an emulation.
    wanted : sequence of ComparedQuantity
        Quantities to return.
    """
    names = [each.name for each in wanted]
    found: dict[str, list[float]] = {}
    for run in whole_runs(result):
        values = evaluate([name for name in names if not _is_derived(name)], run, result.resolved)
        values |= {name: _derived(name, run) for name in names if _is_derived(name)}
        for name, value in values.items():
            if value is not None:
                found.setdefault(name, []).append(value)
    return found


def whole_runs(result: Result) -> list[Run]:
    """Return the complete replications; Ctrl-C may have cut an emulated replication short."""
    whole_s = 0.99 * (result.resolved.measured_ns / 1e9)
    return [run for run in result.replications if run["measured_s"] >= whole_s]


def _is_derived(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last in _DERIVED or (last.startswith("regime_") and last.endswith("_share"))


def _derived(name: str, run: Run) -> float | None:
    scope, _, rest = name.partition(".")
    of, _, last = rest.rpartition(".")
    entry = next((each for each in run[scope] if each["name"] == of), None)
    if entry is None:
        return None
    if last in _DERIVED:
        return _DERIVED[last](entry, run)
    counts = entry["regime_packets"]
    return _share(counts[int(last.split("_")[1]) - 1], sum(counts))


def _length(level: float) -> Callable[[Run, Run], float | None]:
    """Return the function for a quantile of the queue length over time, packets."""

    def quantile(queue: Run, _run: Run) -> float | None:
        reached = 0.0
        for packets, share in enumerate(queue["pmf"]):
            reached += share
            # The shares add up to 1, except for rounding.
            if reached >= level - 1e-12:
                return float(packets)
        return None

    return quantile


def _marked(queue: Run, _run: Run) -> float | None:
    return _share(queue["marks"], queue["arrived"])


def _lost(link: Run, run: Run) -> float | None:
    """Return the share of the packets offered to a link's queues that are lost."""
    name = link["name"]
    queues = [queue for queue in run["queues"] if queue["name"].partition("/")[0] == name]
    # Packets that a link discards after its retries are in both counts.
    dropped = sum(
        count for queue in queues for why, count in queue["drops"].items() if why != "retries"
    )
    return _share(dropped + link["lost_packets"], sum(queue["arrived"] for queue in queues))


_DERIVED: Mapping[str, Callable[[Run, Run], float | None]] = {
    "p50_packets": _length(0.5),
    "p95_packets": _length(0.95),
    "p99_packets": _length(0.99),
    "mark_share": _marked,
    "lost_share": _lost,
}
"""Derived quantities that are not metrics. Maps names to functions of a queue's or link's entry."""


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


# --- values of a model -------------------------------------------------------------------------


def solution_values(
    solution: Solution, resolved: ResolvedScenario, wanted: Sequence[ComparedQuantity]
) -> dict[str, float]:
    """Return each quantity of an analytic model.

    Parameters
    ----------
    solution : Solution
        Solution of the model.
    resolved : ResolvedScenario
        The resolved scenario.
    wanted : sequence of ComparedQuantity
        Quantities to return.
    """
    names = [each.name for each in wanted]
    found = solve_metrics(names, solution, resolved)
    for name in names:
        if found[name] is None and name.startswith("groups."):
            found[name] = _group_value(name, solution, resolved)
    if "mean_rtt_s" in found and found["mean_rtt_s"] is None:
        found["mean_rtt_s"] = _mean_rtt(solution, resolved, range(len(solution.flows)))
    if (name := f"links.{_only_link(resolved)}.lost_share") in found:
        found[name] = _loss(solution, resolved)
    return {name: value for name, value in found.items() if value is not None}


def _only_link(resolved: ResolvedScenario) -> str | None:
    """Return the name of the only link that data traverse; None if there are several."""
    if resolved.is_short_form:
        return "bottleneck"
    path, flows = resolved.path, resolved.flows.entries
    names = {each.name for flow in flows for each in path.data_directions(flow)}
    return names.pop() if len(names) == 1 else None


def _group_value(name: str, solution: Solution, resolved: ResolvedScenario) -> float | None:
    _, key, last = name.split(".")
    members = resolved.flows.groups[int(resolved.flows.group_of(key) or 0)]
    if last == "mean_rtt_s":
        return _mean_rtt(solution, resolved, members)
    each = solve_metrics([f"flows.{flow}.{last}" for flow in members], solution, resolved)
    values = [value for value in each.values() if value is not None]
    return math.fsum(values) if len(values) == len(members) else None


def _mean_rtt(
    solution: Solution, resolved: ResolvedScenario, members: Sequence[int]
) -> float | None:
    """Return the mean RTT over the packets of flows, as in a simulation."""
    flows = [flow for flow in solution.flows if flow.id in members]
    if not flows or not all(hasattr(flow, "rtt_s") for flow in flows):
        return None
    rates = [_packets_per_s(flow, resolved) for flow in flows]
    if not math.fsum(rates):
        return None
    weighted = (rate * flow.rtt_s for rate, flow in zip(rates, flows, strict=True))
    return math.fsum(weighted) / math.fsum(rates)


def _loss(solution: Solution, resolved: ResolvedScenario) -> float | None:
    """Return the share of all packets sent that are lost, from the loss of each flow."""
    flows = solution.flows
    has_loss = all(getattr(flow, "loss", None) is not None and flow.loss < 1 for flow in flows)
    # The rate of a download is a mean over the time of the download.
    if not flows or not has_loss or hasattr(flows[0], "completion_s"):
        return None
    arrive = [_packets_per_s(flow, resolved) for flow in flows]
    sent = math.fsum(rate / (1 - flow.loss) for rate, flow in zip(arrive, flows, strict=True))
    return 1 - math.fsum(arrive) / sent if sent else None


def _packets_per_s(flow: Any, resolved: ResolvedScenario) -> float:
    packet = resolved.flows[int(flow.id)].source.packet_bytes
    return float(flow.throughput_bps) / packet / 8
