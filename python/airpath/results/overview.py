"""Overview tables of a result, for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airpath.engine.resolved import ResolvedScenario
from airpath.present.tables import Table
from airpath.results.applications import APPLICATIONS
from airpath.results.delay_parts import DELAYS, PARTS, delay_part_intervals
from airpath.results.fairness import comparable
from airpath.results.intervals import Interval, text
from airpath.results.statistics import ALL_FLOWS
from airpath.results.transfers import ALL_SIZES, SizeClass

if TYPE_CHECKING:
    from airpath.results.result import Result

__all__ = ["MOST_FLOWS", "TABLES", "flow_name", "heading", "source_name", "tables"]

MOST_FLOWS = 20
"""Largest number of flows that are listed individually."""
MOST_QUEUES = 2 * MOST_FLOWS
"""Largest number of queues that are listed: two for each of `MOST_FLOWS` users."""


def heading(result: Result) -> str:
    """Return a line with the number and duration of replications, seed and confidence level."""
    runs, warmup = len(result.replications), result.resolved.warmup_s
    return (
        f"{runs} {'replication' if runs == 1 else 'replications'} of "
        f"{result.resolved.duration_s:g} s"
        + (f", the first {warmup:g} s not counted" if warmup else "")
        + f"; seed {result.provenance['seed']}; "
        + (f"± is the {100 * result.confidence:g} % interval" if runs > 1 else "no intervals")
    )


def tables(result: Result, out_of_sight: str) -> Iterator[Table]:
    """Yield the tables of flows, queues, delays, links, users, stations, phases, transfers, ….

    Parameters
    ----------
    result : Result
        Result with at least one replication.
    out_of_sight : str
        Name of the table or file that contains all rows, for the note below a shortened table.
    """
    for made in TABLES.values():
        yield from made(result, out_of_sight)
    yield from emulation_tables(result)


def emulation_tables(result: Result) -> Iterator[Table]:
    """Yield the tables of validity reports and of TCP options that the kernel did not apply.

    Parameters
    ----------
    result : Result
        Result of an emulation. For a simulation, nothing is yielded.
    """
    if result.validity_reports:
        rows = [[str(number), *_validity(of)] for number, of in enumerate(result.validity_reports)]
        columns = ["replication", "valid", "late: median", "p99", "most", "dropped by devices"]
        columns += ["ACKs per packet", "class", "CPU"]
        yield Table("Validity", columns, rows)
    differs = result.kernel.get("not_applied", ())
    key = result.resolved.flows.group_key
    rows = [
        [
            line["option"],
            line["asked"],
            line["kernel"],
            ", ".join(map(key, line["flows"])),
        ]
        for line in differs
    ]
    if rows:
        columns = ["option", "asked", "the kernel's", "groups of flows"]
        yield Table("Settings that the kernel does not have", columns, rows)


def _validity(of: Mapping[str, Any]) -> list[str]:
    late = [of.get(f"lateness_{level}_s") for level in ("p50", "p99", "max")]
    ratio = of.get("ack_ratio")
    return [
        "yes" if of["valid"] else "NO",
        *("–" if value is None else f"{1e3 * value:.3f} ms" for value in late),
        str(of.get("device_drops", 0)),
        "–" if ratio is None else f"{ratio:.2f}",
        str(of.get("class", "–")),
        f"{100 * of.get('cpu_share', 0):.0f} %",
    ]


def _flows(result: Result, out_of_sight: str) -> Iterable[Table]:
    rows = {row["flow"]: row for row in result.intervals("flows")}
    together = rows.pop(ALL_FLOWS)
    shown = rows if len(rows) <= MOST_FLOWS else {}
    lines = [
        [f"{flow} {flow_name(result.resolved, flow)}", *_flow_row(row)]
        for flow, row in shown.items()
    ]
    groups = result.intervals("groups")
    if len(rows) > len(groups) > 1:
        lines += [[_group(result, group), *_flow_row(group)] for group in groups]
    if len(rows) != 1:
        lines.append([f"all {len(rows)}", *_flow_row(together)])
    columns = ["flow", "goodput", "IP throughput", "delay", "RTT", "retransmitted", "timeouts"]
    if together["loss_ratio"].reps:
        columns.append("datagrams lost")
    else:
        lines = [line[:-1] for line in lines]
    notes = []
    if len(rows) > MOST_FLOWS:
        notes.append(f"{len(rows)} flows: {out_of_sight} list them one by one.")
    if len(rows) > 1:
        fair = comparable(result.resolved, range(len(rows)))
        if len(fair) > 1:
            kind = result.resolved.flows[fair[0]].source.kind
            who = "" if len(fair) == len(rows) else f" of {len(fair)} bulk {kind} flows"
            notes.append(f"Jain's index of the goodputs{who}: {text(result.jain(), 1, 4)}")
    return [Table("Flows", columns, lines, notes)]


def _group(result: Result, group: Mapping[str, Any]) -> str:
    first = result.resolved.flows.groups[group["group"]][0]
    title = result.resolved.flows.group_title(group["group"])
    return f"{title}: {group['flows']} {source_name(result.resolved, first)}"


def flow_name(resolved: ResolvedScenario, flow: int | str) -> str:
    """Return the name of a flow's group, if any, and its traffic source: ``web, cubic``."""
    name = resolved.flows[int(flow)].group_name
    return f"{name}, {source_name(resolved, flow)}" if name else source_name(resolved, flow)


def source_name(resolved: ResolvedScenario, flow: int | str) -> str:
    """Return a short description of a flow's traffic source: ``newreno (reverse)``.

    If flows with the same congestion control algorithm differ in loss recovery, the recovery is
    included: ``cubic (sack recovery)``.
    """
    about = resolved.flows[int(flow)]
    source = about.source
    way = " (reverse)" if about.direction == "reverse" else ""
    if not source.is_tcp:
        return f"{source.kind}{way}"
    cc, recovery = source.congestion.kind, source.tcp.recovery
    if cc == "reno":
        return f"{recovery}{way}"
    firsts = (each.source for each in resolved.flows.first_of_groups.values())
    recoveries = {of.tcp.recovery for of in firsts if of.is_tcp and of.congestion.kind == cc}
    return f"{cc} ({recovery} recovery){way}" if len(recoveries) > 1 else f"{cc}{way}"


def _flow_row(row: Mapping[str, Interval]) -> list[str]:
    return [
        text(row["goodput_bps"], 1e-6, 3, "Mbit/s"),
        text(row["ip_throughput_bps"], 1e-6, 3, "Mbit/s"),
        text(row["mean_delay_s"], 1e3, 1, "ms"),
        text(row["mean_rtt_s"], 1e3, 1, "ms"),
        text(row["retransmissions"], 1, 1),
        text(row["timeouts"], 1, 1),
        text(row["loss_ratio"], 100, 3, "%"),
    ]


def _queues(result: Result, out_of_sight: str) -> Iterable[Table]:
    found = result.intervals("queues")
    rows = [
        [
            queue["name"],
            text(queue["mean_packets"], 1, 2, "packets"),
            text(queue["mean_sojourn_s"], 1e3, 1, "ms"),
            text(queue["max_packets"], 1, 1),
            ", ".join(f"{text(n, 1, 1)} {why}" for why, n in queue["drops"].items()) or "none",
            text(queue["marks"], 1, 1),
        ]
        for queue in found[:MOST_QUEUES]
    ]
    columns = ["queue", "mean length", "mean sojourn", "longest", "drops", "marks"]
    others = f"{len(found)} queues: {out_of_sight} list the others."
    return [Table("Queues", columns, rows, [others] if len(found) > MOST_QUEUES else [])]


def _delays(result: Result, _out_of_sight: str) -> Iterable[Table]:
    rows = [
        [f"sojourn time, {queue['name']}", *_quantiles(queue, "sojourn_s")]
        for queue in result.intervals("queues")[:MOST_QUEUES]
    ]
    groups, number = result.intervals("groups"), len(result.resolved.flows)
    if len(groups) > 1:
        rows += [
            [f"one way, {_group(result, group)}", *_quantiles(group, "delay_s")] for group in groups
        ]
    together = f"all {number}" if number > 1 else f"0 {source_name(result.resolved, 0)}"
    everything = result.intervals("flows")[-1]
    rows.append([f"one way, {together}", *_quantiles(everything, "delay_s")])
    if everything["p50_ack_delay_s"].reps:
        rows.append(["one way, ACKs", *_quantiles(everything, "ack_delay_s")])
    return [Table("Delays of packets", ["delay", "median", "p95", "p99"], rows)]


def _quantiles(row: Mapping[str, Interval], of: str) -> list[str]:
    return [text(row[f"{level}_{of}"], 1e3, 1, "ms") for level in ("p50", "p95", "p99")]


def _links(result: Result, _out_of_sight: str) -> Iterable[Table]:
    rows = [
        [
            link["name"],
            text(link["utilisation"], 100, 1, "%"),
            text(link["delivered_packets"], 1, 0),
            text(link["lost_packets"], 1, 1),
            _shares([regime.mean for regime in link["regime_packets"]]),
        ]
        for link in result.intervals("links")
    ]
    columns = ["link", "used", "packets", "lost", "packets by regime"]
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    counters = _counters(result)
    return [Table("Links", columns, rows, list(_trace_offsets(result))), *counters]


def _trace_offsets(result: Result) -> Iterable[str]:
    """Yield a line of text for each link whose trace starts at an offset."""
    for link in result.intervals("links"):
        offsets = link.get("trace_offset_s", ())
        if offsets:
            first, last = min(offsets), max(offsets)
            where = f"at {first:g} s" if first == last else f"between {first:g} and {last:g} s"
            each = "" if first == last else ", elsewhere in each replication"
            yield f"{link['name']}: its trace begins {where}{each}"


def _shares(counts: Sequence[float]) -> str:
    if len(counts) < 2:
        return ""
    total = sum(counts) or 1
    return ", ".join(f"R{j} {100 * n / total:.1f} %" for j, n in enumerate(counts, start=1))


def _counters(result: Result) -> Iterable[Table]:
    """Return the tables of link-specific counters."""
    return [
        Table(
            f"Link {link['name']}",
            ["count", "mean"],
            [
                [name.removesuffix("_s").replace("_", " "), _counter(name, counter)]
                for name, counter in link["counters"].items()
            ],
        )
        for link in result.intervals("links")
        if link["counters"]
    ]


def _counter(name: str, counter: Interval) -> str:
    if name.endswith("_s"):
        return text(counter, 1e3, 1, "ms")
    return text(counter, 1, 3 if name.endswith("share") or name == "efficiency" else 1)


def _users(result: Result, out_of_sight: str) -> Iterable[Table]:
    """Return the table of users of each cell."""
    found = result.intervals("users")
    queues = {queue["name"]: queue for queue in result.intervals("queues")}
    rows = [
        [
            (name := f"{user['link']}/user {user['user']}"),
            text(user["throughput_bps"], 1e-6, 3, "Mbit/s"),
            text(queues[name]["mean_sojourn_s"], 1e3, 1, "ms"),
            text(queues[name]["mean_delay_s"], 1e3, 1, "ms"),
            text(user["slot_share"], 100, 1, "%"),
            text(user["slot_error_rate"], 100, 1, "%"),
            text(user["best_slot_share"], 100, 1, "%"),
            text(user["mean_rate_bps"], 1e-6, 2, "Mbit/s"),
            text(user["lost_packets"], 1, 1),
        ]
        for user in found[:MOST_FLOWS]
    ]
    columns = ["user", "throughput", "sojourn time", "delay in the cell", "slots", "failed"]
    columns += ["had the best rate", "rate", "lost"]
    notes = [
        f"Jain's index of the users' throughputs, {cell}: {text(jain, 1, 4)}"
        for cell, jain in result.jain_of_users().items()
    ]
    if len(found) > MOST_FLOWS:
        notes.insert(0, f"{len(found)} users: {out_of_sight} list the others.")
    return [Table("Users", columns, rows, notes)] if rows else []


def _stations(result: Result, out_of_sight: str) -> Iterable[Table]:
    """Return the tables of stations of TDD links, including uplink statistics."""
    found = result.intervals("stations")
    rows = [
        [
            f"{station['link']}/station {station['station']}",
            text(station["down_bytes"], 1e-3, 1, "kB"),
            text(station["up_bytes"], 1e-3, 1, "kB"),
            *(text(station[f"mac_delay_{of}_s"], 1e3, 1, "ms") for of in ("mean", "p50", "p90")),
            text(station["granted_bytes"], 1e-3, 1, "kB"),
            text(station["efficiency"], 100, 1, "%"),
            text(station["requests_contention"], 1, 1),
            text(station["requests_piggyback"], 1, 1),
            text(station["grants_proactive"], 1, 1),
        ]
        for station in found[:MOST_FLOWS]
    ]
    columns = ["station", "down", "up", "uplink delay", "median", "p90", "granted", "used"]
    columns += ["contended", "piggybacked", "proactive"]
    notes = []
    if len(found) > MOST_FLOWS:
        notes.append(f"{len(found)} stations: {out_of_sight} list the others.")
    return [Table("Stations", columns, rows, notes)] if rows else []


def _phases(result: Result, _out_of_sight: str) -> Iterable[Table]:
    rows = [
        [
            f"{phase['from_s']:g} to {phase['until_s']:g} s",
            text(phase["goodput_bps"], 1e-6, 3, "Mbit/s"),
            text(phase["mean_delay_s"], 1e3, 1, "ms"),
            text(phase["mean_packets"], 1, 2, "packets"),
            text(phase["mean_sojourn_s"], 1e3, 1, "ms"),
            text(phase["drops"], 1, 1),
            text(phase["utilisation"], 100, 1, "%"),
        ]
        for phase in result.intervals("phases")
    ]
    columns = ["phase", "goodput", "delay", "mean length", "mean sojourn", "drops", "used"]
    title = "Phases between changes"
    if not result.resolved.is_short_form:
        title += f", queue and link of {result.resolved.bottleneck.name}"
    return [Table(title, columns, rows)] if rows else []


def _delay_parts(result: Result, _out_of_sight: str) -> Iterable[Table]:
    """Return the parts of the mean delays of each group, with a row for each hop."""
    groups = result.resolved.flows.group_key
    rows: dict[tuple[int, str, str, str], dict[str, Interval]] = {}
    for part in delay_part_intervals(result.replications, "group", result.confidence):
        key = (part["group"], part["delay"], part["hop"], part["direction"])
        rows.setdefault(key, {})[part["part"]] = part["mean_s"]
    occur = [name for name in PARTS if any(name in of_hop for of_hop in rows.values())]
    lines = []
    for (group, delay, hop, direction), parts in rows.items():
        found = (parts.get(name) for name in occur)
        values = [text(part, 1e3, 3, "ms") if part else "" for part in found]
        lines.append([groups(group), DELAYS[delay], hop, direction, *values])
    columns = ["group", "delay", "hop", "direction", *(PARTS[name] for name in occur)]
    return [Table("Parts of the mean delays", columns, lines)] if lines else []


def _transfers(result: Result, _out_of_sight: str) -> Iterable[Table]:
    """Return the table of transfers by group, and by size class if sizes differ."""
    flows = result.resolved.flows
    sizes = result.intervals("transfer_sizes")
    rows = []
    for group in result.intervals("transfers"):
        title = flows.group_key(group["group"])
        rows.append([title, "all", *_transfer_row(group)])
        classes = [of for of in sizes if of["group"] == group["group"] and of["started"].mean]
        if len(classes) > 1:
            named = ((SizeClass.named(of["size_class"]) or ALL_SIZES, of) for of in classes)
            rows += [[title, which.title, *_transfer_row(of)] for which, of in named]
    columns = ["group", "size", "started", "unfinished", "mean time", "median", "p95", "p99"]
    columns += ["median slowdown", "p99 slowdown"]
    return [Table("Transfers", columns, rows)] if rows else []


def _transfer_row(found: Mapping[str, Interval]) -> list[str]:
    return [
        *(text(found[name], 1, 1) for name in ("started", "unfinished")),
        *(text(found[name], 1, 3, "s") for name in ("mean_s", "median_s", "p95_s", "p99_s")),
        *(text(found[name], 1, 2) for name in ("median_slowdown", "p99_slowdown")),
    ]


def _application(name: str) -> Callable[[Result, str], Iterable[Table]]:
    """Return the function that creates the table of an application by group."""
    application = APPLICATIONS[name]

    def made(result: Result, _out_of_sight: str) -> Iterable[Table]:
        rows = [
            [
                result.resolved.flows.group_key(group["group"]),
                *(
                    text(group[quantity], factor, decimals, unit)
                    for quantity, factor, decimals, unit in application.columns.values()
                ),
            ]
            for group in result.intervals(name)
        ]
        columns = ["group", *application.columns]
        return [Table(application.title, columns, rows)] if rows else []

    return made


TABLES: Mapping[str, Callable[[Result, str], Iterable[Table]]] = {
    "flows": _flows,
    "queues": _queues,
    "delays": _delays,
    "links": _links,
    "users": _users,
    "stations": _stations,
    "phases": _phases,
    "delay_parts": _delay_parts,
    "transfers": _transfers,
    **{name: _application(name) for name in APPLICATIONS},
}
"""Maps the name of each table to the function that creates it."""
