"""Estimate of the memory that a run requires, and rejection of runs that require too much.

The estimated number of packets is an upper bound: full-sized packets at the bottleneck's rate for
the entire duration.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from airpath.arguments import error_prefix
from airpath.engine import memory
from airpath.engine.resolved import ResolvedScenario
from airpath.engine.vocabulary import LEVELS
from airpath.errors import BadValueError
from airpath.scenario.units import Duration, quote

__all__ = ["memory_bytes", "needed", "refuse_too_much"]

_SAMPLE, _SS_ROW, _FLOW, _RUN, _PHASE = 24, 300, 4_000, 20_000, 900
"""Bytes of a recorded value, of a row of `ss`, and of statistics per flow, run and phase."""
_EVERY_PACKET = ("delivered", "sojourn", "seq_sent", "seq_received")
_OF_FLOWS = ("cwnd", "ssthresh", "rtt")
_FROM_ABOVE = ("record.interval", "record.series")
_PACKET_BITS = 12_000
_NS = 1e9


class Need(NamedTuple):
    """Memory required because of one key: value, number and kind of items, bytes, and a fix."""

    key: str
    value: str
    number: float
    what: str
    bytes: float
    instead: str


def memory_bytes() -> float:
    """Return the memory size of this machine, bytes."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return 16e9


def refuse_too_much(place: str, resolved: ResolvedScenario, reps: int) -> None:
    """Raise an error if the results of a run do not fit into memory.

    Parameters
    ----------
    place : str
        File or name of the scenario, with which the message begins.
    resolved : ResolvedScenario
        The resolved scenario.
    reps : int
        Number of replications.

    Raises
    ------
    BadValueError
        If they do not fit. The message has the key that requires the most memory, an estimate, and
        a fix.
    """
    needs = needed(resolved, reps)
    machine = memory_bytes()
    # There may be fewer recorded values than estimated; their memory is also checked during the
    # run.
    certain = [need for need in needs if need.key not in _FROM_ABOVE]
    for asked, there in ((certain, memory.available_bytes() or machine), (needs, machine)):
        if sum(need.bytes for need in asked) > there:
            most = max(asked, key=lambda need: need.bytes)
            runs = f"{reps} replication{'' if reps == 1 else 's'}"
            asks = (
                f"{most.key} = {most.value}" if most.key != "reps" else error_prefix("reps", reps)
            )
            raise BadValueError(
                f"{place}: {asks}: about {most.number:.2g} {most.what} in "
                f"{runs}, {_amount(most.bytes)} of memory, where there are {_amount(there)}. "
                f"Use {most.instead}."
            )


def needed(resolved: ResolvedScenario, reps: int) -> list[Need]:
    """Return the memory of each part of a result; parameters as in `refuse_too_much`."""
    record, duration_s = resolved.recording, resolved.duration_s
    flows = len(resolved.flows)
    shorter = "a longer interval, fewer replications or a shorter duration"
    rows = flows + _RUN / _FLOW
    fewer = "fewer replications or flows"
    needs = [Need("reps", str(reps), reps * rows, "rows", reps * rows * _FLOW, fewer)]
    events = len(resolved.phase_starts_s)
    if events:
        phases = reps * events * (flows + 1.0)
        needs.append(
            Need(
                "control",
                f"{events} events",
                phases,
                "statistics of flows between events",
                phases * _PHASE,
                "fewer events, replications or flows",
            )
        )
    interval_s = record.interval_ns / _NS
    packets = duration_s * _rate_bps(resolved) / _PACKET_BITS
    values = 0.0
    for name in record.series:
        if name in LEVELS:
            sources = flows if name in _OF_FLOWS else 1
            thinned = sources * duration_s / interval_s if interval_s else packets
            values += min(packets, thinned)
    interval = quote(str(Duration(record.interval_ns)))
    values *= reps
    needs.append(Need("record.interval", interval, values, "values", values * _SAMPLE, shorter))
    whole = [name for name in record.series if name in _EVERY_PACKET]
    if whole:
        values = reps * packets * len(whole)
        instead = "fewer series or replications, or a shorter duration"
        names = f"[{', '.join(map(quote, whole))}]"
        needs.append(Need("record.series", names, values, "values", values * _SAMPLE, instead))
    if record.has_ss:
        interval = quote(str(Duration(record.ss_interval_ns)))
        samples = reps * flows * resolved.duration_ns / record.ss_interval_ns
        needs.append(
            Need("record.ss_interval", interval, samples, "samples", samples * _SS_ROW, shorter)
        )
    return needs


def _rate_bps(resolved: ResolvedScenario) -> float:
    """Return the largest rate of the bottleneck; 0 if the scenario contains no rate."""
    changes = (change.rate_bps or 0 for change in resolved.changes_of_bottleneck)
    return float(max(resolved.link.largest_rate_bps, *changes, 0))


def _amount(count: float) -> str:
    """Return an amount of memory as text with two digits and a unit."""
    units = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"))
    size, unit = next((pair for pair in units if count >= pair[0]), units[-1])
    return f"{count / size:.{2 if count < 100 * size else 3}g} {unit}"
