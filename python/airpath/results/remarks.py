"""Advisories on the results of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airpath.engine.advisory import Advisory
from airpath.engine.flows import Flow
from airpath.engine.link import ResolvedLink
from airpath.engine.resolved import ResolvedScenario
from airpath.results.flow_table import FlowTable
from airpath.results.hop_queues import may_wait_elsewhere, queue_advisories
from airpath.results.window_limit import (
    LIMITED,
    limited_flows,
    window_limited,
)

__all__ = [
    "INVALID_CODE",
    "RunOutline",
    "count_advisories",
    "measurement_advisories",
    "remarks",
    "table_advisories",
    "unfinished_tables",
]

INVALID_CODE = "invalid-emulation"
"""Code of the advisory on invalid emulated replications."""

FEWEST_RUNS = 5
"""Intervals from fewer replications get an advisory: their width depends on few values."""

ALL_THE_SAME = (
    "Every replication gave the same, because nothing random changed the flows: the intervals "
    'of 0 mean nothing. Random starts do, start = {uniform = ["0 s", "1 s"]}.'
)
FEW_RUNS = (
    "The intervals come from {runs} replications: they are wide, and right only if the "
    "replications are normally distributed. Five or more are better, as --reps 10."
)
NOTHING_DELIVERED = (
    "nothing got through after the warm-up, {flows}in {bad} of {runs} replications. See the drops "
    "of the queues, the losses of the links, and start, stop and warmup."
)
ARRIVALS_ENDED = (
    "the last of its {count} flows arrived at {last:.4g} s, when count was reached; the end is at "
    "{end:.4g} s, and the load was less from then on. For arrivals until the end write "
    "count = {needed} or more."
)
OUTSIDE_TABLE = (
    "{share:.3g} % of the packets were sent while the SNR or its estimate was outside "
    "the error-rate table {table}, whose nearest value was used."
)
UNFINISHED_TABLE = (
    "{table}: points of this error-rate table are missing; its measurement was not finished"
)

INVALID = (
    "{bad} of {runs} emulated replications are invalid, after {attempts} attempts each; the first "
    "reason: {reason}. Run it on an idle machine, as root, or with a longer base RTT."
)

_OUTSIDE = "outside_table_packets"
_MOST_GAPS = 7
"""Shortest reported gap without arrivals, in mean gaps; its probability is below 0.001."""

Runs = Sequence[Mapping[str, Any]]


def remarks(
    resolved: ResolvedScenario,
    replications: Runs,
    tables: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Advisory]:
    """Return the advisories on replications of a resolved scenario.

    `tables` are the error-rate tables in the provenance of the result.
    """
    first, *others = [replication["flows"] for replication in replications] or [None]
    are_equal = all(flows == first for flows in others)
    return [
        *table_advisories(tables or {}),
        *count_advisories(len(replications), are_equal=are_equal),
        *measurement_advisories(resolved, replications),
    ]


def table_advisories(tables: Mapping[str, Mapping[str, Any]]) -> Iterator[Advisory]:
    """Yield the advisories on the error-rate tables in the provenance of a result."""
    for remark in unfinished_tables(tables):
        place, _, text = remark.partition(": ")
        yield Advisory("unfinished-table", f"{text}.", place)


def count_advisories(runs: int, *, are_equal: bool) -> Iterator[Advisory]:
    """Yield an advisory if there are too few replications, or if all of them are equal."""
    if runs > 1 and are_equal:
        yield Advisory("equal-replications", ALL_THE_SAME)
    elif 1 < runs < FEWEST_RUNS:
        yield Advisory("few-replications", FEW_RUNS.format(runs=runs))


def measurement_advisories(resolved: ResolvedScenario, replications: Runs) -> list[Advisory]:
    """Return the advisories on the measurements of replications.

    The list is empty if `may_concern` of the `RunOutline` of each replication is false.
    """
    noted: list[Advisory] = [*_invalid(replications)]
    limited = limited_flows(resolved, replications) if replications else {}
    for group, members in resolved.flows.groups.items() if replications else ():
        noted += _of_group(group, members, limited, resolved, replications)
    noted += queue_advisories(resolved, replications) if replications else ()
    for name, link in resolved.links():
        noted += _outside_table(name, link, replications)
    return noted


@dataclass(frozen=True)
class RunOutline:
    """Summary of a replication from which to decide whether its statistics must be kept.

    Parameters
    ----------
    flows : bytes
        Fingerprint of the flows, for `count_advisories`.
    may_concern : bool
        Whether `measurement_advisories` may have an advisory on this replication.
    """

    flows: bytes
    may_concern: bool

    @staticmethod
    def of(resolved: ResolvedScenario, run: Mapping[str, Any]) -> RunOutline:
        """Return the outline of a replication; `run["flows"]` must be a `FlowTable`."""
        flows: FlowTable = run["flows"]
        may_concern = (
            not run.get("validity", {"valid": True})["valid"]
            or bool((flows.column("delivered_bytes") <= 0).any())
            or bool((flows.column("delivered_packets") <= 0).any())
            or bool((flows.column("rwnd_limited_share") > LIMITED).any())
            or any(flow.start.gap_ns is not None for flow in resolved.flows.entries)
            or any(link.get("counters", {}).get(_OUTSIDE) for link in run["links"])
            or may_wait_elsewhere(resolved)
        )
        return RunOutline(flows.fingerprint(), may_concern)


def _invalid(runs: Runs) -> Iterator[Advisory]:
    """Yield a warning for emulated replications with an invalid validity report."""
    reports = [run["validity"] for run in runs if "validity" in run]
    if invalid := [report for report in reports if not report["valid"]]:
        first = invalid[0]
        reason = next(iter(first["reasons"]), "not given")
        counts = {"bad": len(invalid), "runs": len(reports), "attempts": first["attempts"]}
        yield Advisory(INVALID_CODE, INVALID.format(reason=reason, **counts))


def unfinished_tables(tables: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a sentence, without full stop, for each incomplete error-rate table of a result."""
    return [
        UNFINISHED_TABLE.format(table=name)
        for name, about in tables.items()
        if not about.get("complete", True)
    ]


def _of_group(
    group: int,
    members: Sequence[int],
    limited: Mapping[int, float],
    resolved: ResolvedScenario,
    runs: Runs,
) -> Iterator[Advisory]:
    place = f"flows.{resolved.flows.group_key(group)}"
    first = resolved.flows[members[0]]
    yield from _nothing_delivered(place, members, resolved, runs)
    if first.source.is_tcp and first.source.window == "fixed":
        yield from window_limited(group, members, limited, resolved, runs)
    if first.start.gap_ns is not None:
        yield from _arrivals_ended(place, members, resolved, runs)


def _nothing_delivered(
    place: str, members: Sequence[int], resolved: ResolvedScenario, runs: Runs
) -> Iterator[Advisory]:
    """Yield a warning for flows that could send for half the time but delivered nothing."""
    long_enough = [n for n in members if _could_send(resolved, resolved.flows[n])]
    starved = [
        [
            number
            for number in long_enough
            if _got_nothing(run["flows"][number]) and _is_active(resolved, run, number)
        ]
        for run in runs
    ]
    bad = sum(1 for found in starved if found)
    if bad:
        most = max(map(len, starved))
        flows = f"for {most} of its {len(members)} flows " if len(members) > 1 else ""
        text = NOTHING_DELIVERED.format(flows=flows, bad=bad, runs=len(runs))
        yield Advisory("nothing-delivered", text, place)


def _got_nothing(flow: Mapping[str, Any]) -> bool:
    """Return whether no data of a flow arrived; datagrams may be too small for payload bytes."""
    counted = "delivered_bytes" if flow["kind"] == "tcp" else "delivered_packets"
    return bool(flow[counted] == 0)


def _could_send(resolved: ResolvedScenario, flow: Flow) -> bool:
    stop, end = flow.stop_ns, resolved.duration_ns
    ends = end if stop is None else min(stop, end)
    return 2 * (ends - max(flow.start.latest_ns, resolved.warmup_ns)) >= resolved.measured_ns


def _is_active(resolved: ResolvedScenario, run: Mapping[str, Any], number: int) -> bool:
    """Return whether a flow ran for half the measured time and did not complete."""
    flow, end_s = run["flows"][number], resolved.duration_s
    began = max(flow["start_s"] or 0.0, end_s - run["measured_s"])
    return flow["completed_at_s"] is None and 2 * (end_s - began) >= run["measured_s"]


def _arrivals_ended(
    place: str, members: Sequence[int], resolved: ResolvedScenario, runs: Runs
) -> Iterator[Advisory]:
    """Yield a warning for Poisson arrivals that ended because `count` was reached."""
    flow = resolved.flows[members[0]]
    gap_s = (flow.start.gap_ns or 0) / 1e9
    ends = (resolved.duration_ns, flow.stop_ns, flow.start.until_ns)
    end_s = min(end for end in ends if end is not None) / 1e9
    starts = [[run["flows"][number]["start_s"] for number in members] for run in runs]
    # The start is None for datagram flows and for flows that never started.
    last = min(max(math.inf if start is None else start for start in run) for run in starts)
    if end_s - last > _MOST_GAPS * gap_s:
        expected = (end_s - flow.start.earliest_ns / 1e9) / gap_s
        yield Advisory(
            "arrivals-ended",
            ARRIVALS_ENDED.format(
                count=len(members),
                last=last,
                end=end_s,
                needed=math.ceil(expected + 5 * math.sqrt(expected)),
            ),
            place,
        )


def _outside_table(name: str, link: ResolvedLink, replications: Runs) -> Iterator[Advisory]:
    """Yield a warning for an adaptive link whose SNR was outside its error-rate table."""
    of_link = [run for each in replications for run in each["links"] if run["name"] == name]
    outside = sum(run.get("counters", {}).get(_OUTSIDE, 0) for run in of_link)
    if outside:
        share = 100 * outside / sum(sum(run["regime_packets"]) for run in of_link)
        text = OUTSIDE_TABLE.format(share=share, table=link.table)
        yield Advisory("outside-table", text, name)
