"""Criteria added later, on rates over the mean queueing delay (clamp-2008 §5.5, §5.10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from airpath.reproduction.base import Cell
from airpath.reproduction.claims import ClaimSpec, Finding, gathered, joined, known
from airpath.reproduction.session import Session
from airpath_papers.clamp.claims.common import check
from airpath_papers.clamp.claims.rates import (
    Sweeps,
    along_delays,
    at_delay,
    both,
    both_rates,
    by_flow,
    is_fairer,
    knee,
    largest_difference,
    rates_at,
    shown_rates,
)
from airpath_papers.clamp.measures import (
    FLOWS_MS,
    QUEUES,
    control_lost,
    empty_share,
    mean_rtt_s,
    own_delay_s,
    rate_mbps,
    rtt_spread_s,
    timeouts_per_s,
    total_mbps,
    waiting_bytes,
)
from airpath_papers.clamp.scenarios import Case
from airpath_papers.clamp.sweeps import NAMES, fewer, sweep
from airpath_papers.clamp.tradeoff import Tradeoff

# --- queues ------------------------------------------------------------------------------------


@check(
    "self-clocking-own",
    lambda _spec: {
        rate: sweep(fast=False, clamp=True, low_rate=low)
        for rate, low in (("10 Mbit/s", False), ("1.44 Mbit/s", True))
    },
)
def _self_clocking_own(session: Session, spec: ClaimSpec, sweeps: Sweeps) -> Finding:
    asked = {(rate, queue): cells for rate, cells in sweeps.items() for queue in QUEUES}
    return gathered("", asked, lambda at, cells: _drains(session, spec, at, cells))


def _drains(
    session: Session, spec: ClaimSpec, at: tuple[str, str], cells: Sequence[Cell]
) -> Finding:
    """Return how often a queue is empty at the first point whose own delay is long enough."""
    rate, queue = at
    least = spec["factor"] * max(QUEUES[queue]) / 1e3
    for cell in cells:
        delay = known(session, cell, own_delay_s(queue)).mean
        if delay < least:
            continue
        lost = max(known(session, cell, control_lost(flow)).mean for flow in QUEUES[queue])
        if lost > spec["lost"]:
            break
        empty = known(session, cell, empty_share(queue)).mean
        line = f"{rate}, {queue}: delay {1e3 * delay:.0f} ms, empty {empty:.1%} of the time"
        return Finding(empty <= spec["share"], [line], {"delay_s": delay, "empty": empty})
    return Finding(True, [f"{rate}, {queue}: no delay of {1e3 * least:.0f} ms under control"], {})


@check("propagation-slow", lambda _spec: sweep(fast=False, clamp=True))
def _propagation(session: Session, spec: ClaimSpec, cells: Sequence[Cell]) -> Finding:
    found = {ms: rates_at(session, spec, cells, ms) for ms in spec["delays_ms"]}
    ratios = [(rates[30] / rates[130], rates[10] / rates[180]) for rates in found.values()]
    is_ordered = all(min(each) > 1 for each in ratios)
    falls = all(
        after < before
        for first, second in pairwise(ratios)
        for before, after in zip(first, second, strict=True)
    )
    shown = [
        f"{ms:g} ms: 30 over 130 {apart:.2f}, 10 over 180 {shared:.2f}"
        for ms, (apart, shared) in zip(found, ratios, strict=True)
    ]
    return Finding(is_ordered and falls, shown, {f"delay_ms={ms:g}": r for ms, r in found.items()})


@check("variable-rtt", lambda _spec: sweep(fast=True, clamp=True))
def _variable_rtt(session: Session, spec: ClaimSpec, cells: Sequence[Cell]) -> Finding:
    def at(delay_ms: float, cells: Sequence[Cell]) -> Finding:
        spreads = by_flow(session, spec, cells, delay_ms, rtt_spread_s)
        means = by_flow(session, spec, cells, delay_ms, mean_rtt_s)
        shown = [f"{flow} {1e3 * spread:.0f}" for flow, spread in spreads.items()]
        over = [f"{flow} {spreads[flow] / means[flow]:.2f}" for flow in FLOWS_MS]
        return Finding(
            spreads[10] > max(spread for flow, spread in spreads.items() if flow != 10),
            [f"{delay_ms:g} ms: {joined(shown)} ms; over the mean RTT {joined(over)}"],
            {"spread_s": spreads, "mean_rtt_s": means},
        )

    return gathered("delay_ms", dict.fromkeys(spec["delays_ms"], cells), at)


# --- time-outs of the 10 ms flow ---------------------------------------------------------------


@check("rate-improves", lambda _spec: {"CLAMP": sweep(fast=True, clamp=True)})
def _rate_improves(session: Session, spec: ClaimSpec, sweeps: Sweeps) -> Finding:
    (rates,) = along_delays(session, spec, sweeps, spec["delays_ms"], rate_mbps(10)).values()
    pairs = zip(spec["delays_ms"], rates, strict=True)
    shown = joined([f"{ms:g} ms {rate:.3f}" for ms, rate in pairs])
    return Finding(min(rates[1:]) > rates[0], [f"rate of 10: {shown} Mbit/s"], {"mbps": rates})


@check(
    "coincidence",
    lambda spec: {
        "with time-outs": sweep(fast=True, clamp=True),
        "without": fewer(True, True, spec["variant"]),
    },
)
def _coincidence(session: Session, spec: ClaimSpec, sweeps: Sweeps) -> Finding:
    delay_ms = spec["delay_ms"]
    ratios, often, shown = [], [], []
    for name, cells in sweeps.items():
        ten, other, timeouts = at_delay(
            session, spec, cells, delay_ms, rate_mbps(10), rate_mbps(180), timeouts_per_s(10)
        )
        ratios.append(ten / other)
        often.append(timeouts)
        shown.append(f"{name}: 10 over 180 {ten / other:.3f}; time-outs of 10 {timeouts:.4f} /s")
    return Finding(
        abs(ratios[0] - 1) <= spec["within"]
        and ratios[1] > ratios[0]
        and often[1] <= spec["fewer"] * often[0],
        shown,
        {"ratios": ratios, "timeouts_per_s": often},
    )


# --- the lower data rate -----------------------------------------------------------------------


@check("low-rate-slow", lambda _spec: both(fast=False, low_rate=True))
def _low_rate_slow(session: Session, spec: ClaimSpec, sweeps: Sweeps) -> Finding:
    delays_ms = spec["delays_ms"]
    fairer = is_fairer(session, spec, "Jain's index", sweeps, delays_ms)
    apart = largest_difference(along_delays(session, spec, sweeps, delays_ms, total_mbps))
    shared = {}
    for name, cells in sweeps.items():
        rates = [rates_at(session, spec, cells, ms) for ms in delays_ms]
        shared[name] = [rate[10] / rate[180] for rate in rates]
        if name == NAMES[True]:
            lines = [f"{ms:g} ms: {shown_rates(r)}" for ms, r in zip(delays_ms, rates, strict=True)]
    is_shared = all(a < b for a, b in zip(*shared.values(), strict=True))
    shown = joined([f"{name} {joined(found, '.2f')}" for name, found in shared.items()])
    return Finding(
        fairer.holds and is_shared and apart <= spec["totals"],
        [*fairer.measured, f"10 over 180: {shown}", f"totals {apart:.1%} apart at most", *lines],
        {**fairer.values, "shared": shared, "apart": apart},
    )


@check("knee-queue", both_rates)
def _knee_queue(
    session: Session, spec: ClaimSpec, speeds: Mapping[str, Mapping[bool, list[Case]]]
) -> Finding:
    def at_speed(name: str, sweeps: Mapping[bool, Any]) -> Finding:
        high, low = (
            knee(session, Tradeoff(sweeps[low], waiting_bytes), spec["share"])
            for low in (False, True)
        )
        line = f"{name}: {high:.0f} B at 10 Mbit/s, {low:.0f} B at 1.44 Mbit/s"
        return Finding(low < high, [line], {"high_rate_bytes": high, "low_rate_bytes": low})

    return gathered("speed", speeds, at_speed)
