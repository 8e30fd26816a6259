"""Facts about an emulation: validity, settings that the kernel did not apply, kernel counters.

The counters are read from ``/proc/net/netstat`` and ``/proc/net/snmp`` at both ends of the path,
and cover the measured time. The values of the two ends are added.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airpath.comparison.facts import EVERYTHING, Fact
from airpath.engine.flows import Source
from airpath.engine.resolved import ResolvedScenario
from airpath.results.intervals import mean_interval
from airpath.scenario.tcp.table import parameters

if TYPE_CHECKING:
    from airpath.comparison.answers import Answer

__all__ = ["facts_of_kernel"]

_ENGINE = "emulate"
_OF_TCP = (
    *("goodput_bps", "ip_throughput_bps", "mean_rtt_s", "mean_delay_s", "p50_delay_s"),
    *("p95_delay_s", "p99_delay_s", "retransmissions", "timeouts", "jain", "mean_packets"),
    *("p50_packets", "p95_packets", "p99_packets", "mean_sojourn_s", "p95_sojourn_s"),
    *("drop_share", "mark_share", "lost_share", "utilisation", "mean_s", "p95_s"),
)
"""Quantities that depend on the behaviour of TCP senders."""

_DIFFERENT_ACKS = 0.1
"""Relative differences of the ACK-to-data ratio below this value are not reported."""

ValidityReport = Mapping[str, Any]


def facts_of_kernel(
    result: Any,
    simulated: Answer | None,
    resolved: ResolvedScenario,
    settled: Sequence[str] = (),
) -> Iterator[Fact]:
    """Yield the facts of an emulation.

    Parameters
    ----------
    result : Result
        Result of the emulation, with `validity_reports` and `kernel`.
    simulated : Answer or None
        Answer of the simulation, whose ACKs are compared.
    resolved : ResolvedScenario
        The resolved scenario.
    settled : sequence of str
        Options whose effect was measured by a simulation with the kernel's setting.
    """
    validity_reports: Sequence[ValidityReport] = getattr(result, "validity_reports", None) or ()
    kernel: Mapping[str, Any] = getattr(result, "kernel", None) or {}
    yield from _invalid(validity_reports)
    yield from _late(validity_reports)
    yield from _lost_outside(validity_reports)
    tcp = [each.source for each in resolved.flows.entries if each.source.is_tcp]
    if tcp:
        seen = _seen(result, validity_reports, simulated, tcp)
        yield from _not_applied(kernel, seen, resolved, settled)
        yield from _acks(validity_reports, simulated, tcp)
        yield from _counted(kernel, len(result.replications), tcp)
        yield from _controls(kernel, tcp)


# --- validity ------------------------------------------------------------------------------------


def _invalid(validity_reports: Sequence[ValidityReport]) -> Iterator[Fact]:
    bad = [each for each in validity_reports if not each.get("valid", True)]
    if bad:
        reasons = dict.fromkeys(reason for each in bad for reason in each.get("reasons", ()))
        why = " ".join(str(reason).rstrip(".") + "." for reason in reasons)
        text = f"{len(bad)} of {len(validity_reports)} replications are invalid: {why}"
        yield Fact("invalid-emulation", _ENGINE, text, EVERYTHING)


def _late(validity_reports: Sequence[ValidityReport]) -> Iterator[Fact]:
    """Yield the lateness of packets. It is added once to each delay, and twice to each RTT."""
    p50, p99, longest = (
        _known(each.get(f"lateness_{of}_s") for each in validity_reports)
        for of in ("p50", "p99", "max")
    )
    if not (p50 and p99 and longest):
        return
    middle, most = _mean(p50), max(p99)
    text = (
        f"packets left late by {middle * 1e3:.3f} ms (median, mean of the replications), the 99th "
        f"percentile at most {most * 1e3:.3f} ms, the latest {max(longest) * 1e3:.3f} ms."
    )
    once = ("mean_delay_s", "p50_delay_s", "p95_delay_s", "p99_delay_s")
    bounds = {**dict.fromkeys(once, most), "mean_rtt_s": 2 * most}
    yield Fact("lateness", _ENGINE, text, (*once, "mean_rtt_s"), most=bounds)


def _lost_outside(validity_reports: Sequence[ValidityReport]) -> Iterator[Fact]:
    """Yield the packets that were lost outside the model."""
    names = {"device_drops": "dropped by the devices", "refused_packets": "not taken by a device"}
    for name, what in names.items():
        lost = sum(each.get(name) or 0 for each in validity_reports)
        if lost:
            text = f"{lost} packets were {what}, in all replications together: no model lost them."
            yield Fact(name.replace("_", "-"), _ENGINE, text, _OF_TCP)


# --- differences of the kernel -----------------------------------------------------------------


def _not_applied(
    kernel: Mapping[str, Any], seen: _Seen, resolved: ResolvedScenario, settled: Sequence[str]
) -> Iterator[Fact]:
    """Yield the options that the kernel does not support, and whether they had an effect."""
    for line in kernel.get("not_applied") or ():
        option = str(line["option"])
        text = f"the scenario sets {option} = {line['asked']}, the kernel has: {line['kernel']}"
        why = _why_not(option.rpartition(".")[2], seen, resolved)
        if option in settled:
            why = "what that changes was simulated"
        about = () if why else _OF_TCP
        yield Fact(f"not-applied:{option}", _ENGINE, f"{text}{f' ({why})' if why else ''}.", about)


def _why_not(option: str, seen: _Seen, resolved: ResolvedScenario) -> str:
    """Return the reason why an option cannot have had an effect; empty if it can."""
    row = parameters().get(option)
    acts = row.acts if row else ""
    endless = all(each.source.transfer_bytes is None for each in resolved.flows.entries)
    if acts == "start" and endless and resolved.warmup_ns > 0:
        return "that is over when the measurement begins"
    if acts == "timer" and seen.timeouts == 0:
        return "no timer expired in either"
    if acts == "loss" and seen.retransmissions == 0 and resolved.warmup_ns > 0:
        return "nothing was retransmitted in either"
    if acts == "waiting-ack" and seen.acks_as_asked:
        return f"{seen.ack_ratio:.3f} ACKs for each packet: few waited for it"
    return ""


@dataclass(frozen=True)
class _Seen:
    """Counts of events: of emulation and simulation together, or of the emulation only."""

    timeouts: float
    retransmissions: float
    ack_ratio: float
    acks_as_asked: bool


def _seen(
    result: Any,
    validity_reports: Sequence[ValidityReport],
    simulated: Answer | None,
    tcp: Sequence[Source],
) -> _Seen:
    runs = list(result.replications)
    if simulated is not None and simulated.result is not None:
        runs += simulated.result.replications
    # An unreported count is treated as possibly above 0.
    timeouts, again = (
        sum(
            math.inf if (count := flow[name]) is None else count
            for run in runs
            for flow in run["flows"]
            if flow["kind"] == "tcp"
        )
        for name in ("timeouts", "retransmissions")
    )
    measured = _known(each.get("ack_ratio") for each in validity_reports)
    ratio = _mean(measured) if measured else math.nan
    asked = [1 / source.tcp.delayed_ack_segments for source in tcp]
    close = bool(measured) and ratio <= (1 + _DIFFERENT_ACKS) * min(asked)
    return _Seen(timeouts, again, ratio, close)


def _acks(
    validity_reports: Sequence[ValidityReport], simulated: Answer | None, tcp: Sequence[Source]
) -> Iterator[Fact]:
    """Yield the number of ACKs per data packet, if it differs from the simulation."""
    measured = _known(each.get("ack_ratio") for each in validity_reports)
    if not measured:
        return
    ratio = _mean(measured)
    every = {source.tcp.delayed_ack_segments for source in tcp}
    other, whose = _simulated_acks(simulated), "simulated receivers sent"
    if other is None and len(every) == 1:
        other, whose = 1 / next(iter(every)), "the scenario has"
    if other is None or abs(ratio - other) <= _DIFFERENT_ACKS * max(ratio, other):
        return
    setting = ", ".join(map(str, sorted(every)))
    text = (
        f"the kernel's receivers sent {ratio:.3f} ACKs for each packet of data, {whose} "
        f"{other:.3f} (delayed_ack_segments = {setting})."
    )
    yield Fact("ack-ratio", _ENGINE, text, _OF_TCP)


def _simulated_acks(simulated: Answer | None) -> float | None:
    """Return the ACKs per data packet of a simulation, if a link carries only ACKs of all flows."""
    if simulated is None or simulated.result is None:
        return None
    result = simulated.result
    if any(flow.direction == "reverse" for flow in result.resolved.flows.entries):
        return None
    path, flows = result.resolved.path, result.resolved.flows.entries
    names = [
        hop.name
        for hop in reversed(path.hops)
        if hop.wire is None and hop.forward is None and all(hop in path.crossed(f) for f in flows)
    ]
    ratios = []
    for run in result.replications:
        acks = [queue["arrived"] for queue in run["queues"] if queue["name"] in names]
        packets = sum(flow["delivered_packets"] for flow in run["flows"])
        if acks and packets:
            ratios.append(acks[0] / packets)
    return _mean(ratios) if ratios else None


_COUNTERS: Mapping[str, tuple[str, str, Sequence[str]]] = {
    "TcpExt.TCPLossProbes": (
        "loss-probes",
        "tail loss probes were sent ({}), which repeat a segment without a timeout",
        ("retransmissions", "timeouts"),
    ),
    "TcpExt.TCPSpuriousRTOs": (
        "spurious-timeouts",
        "timeouts were found to be spurious ({}) and undone (F-RTO)",
        ("timeouts", "retransmissions"),
    ),
    "TcpExt.TCPSACKReorder": (
        "reordering",
        "reordering events detected by SACK ({}); only models with reordering cause them",
        ("retransmissions",),
    ),
    "TcpExt.TCPTSReorder": (
        "reordering-by-timestamps",
        "reordering events detected by timestamps ({}); only models with reordering cause them",
        ("retransmissions",),
    ),
}
"""Counters of events that simulated senders do not have: code, sentence, affected quantities."""

_AS_MANY = ("TcpExt.TCPLossProbes", "TcpExt.TCPSpuriousRTOs")
"""Counters whose events cause at most one segment or one timeout each."""


def _counted(kernel: Mapping[str, Any], replications: int, tcp: Sequence[Source]) -> Iterator[Fact]:
    """Yield the kernel's events that simulated senders do not have."""
    total = counters_of(kernel)
    # Simulated senders also have these events if a parameter is on.
    explained = {
        row.kernel.counter
        for row in parameters().values()
        if all(source.tcp.get(row.resolved) for source in tcp)
    }
    for name, (code, sentence, about) in _COUNTERS.items():
        count = total.get(name, 0.0) / max(replications, 1)
        if code in explained:
            continue
        if count:
            text = f"{count:.1f} {sentence.format(name)}, in the mean of the replications."
            most = dict.fromkeys(about, count) if name in _AS_MANY else {}
            yield Fact(code, _ENGINE, text, about, most=most)


def counters_of(kernel: Mapping[str, Any]) -> dict[str, float]:
    """Return the kernel's counters, summed over both sides and all replications.

    Parameters
    ----------
    kernel : mapping
        Mapping with `counters`, which maps a side and a counter's name to a list with one value for
        each replication.
    """
    found: dict[str, float] = {}
    for side in (kernel.get("counters") or {}).values():
        for name, values in side.items():
            found[name] = found.get(name, 0.0) + math.fsum(_known(values))
    return found


def _controls(kernel: Mapping[str, Any], tcp: Sequence[Source]) -> Iterator[Fact]:
    """Yield a fact about the kernel's version of BBR."""
    if any(source.congestion.kind == "bbr1" for source in tcp):
        release = kernel.get("release") or "(release not known)"
        text = f"bbr1 is the kernel's bbr, Linux {release}."
        yield Fact("kernels-own-control", _ENGINE, text)


def _known(values: Iterable[Any]) -> list[float]:
    return [float(value) for value in values if value is not None]


def _mean(values: Sequence[float]) -> float:
    return mean_interval(values, 0.99).mean
