"""What the text says about rates over the mean queueing delay (clamp-2008 §5.5 to §6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from airpath.reproduction.base import Cell
from airpath.reproduction.claims import ClaimSpec, Finding, Value, gathered, joined, known, means
from airpath.reproduction.session import Session
from airpath_papers.clamp.claims.common import check
from airpath_papers.clamp.measures import (
    DELAYS,
    FLOWS_MS,
    QUEUES,
    control_lost,
    download_s,
    empty_share,
    fairness,
    margin,
    queue_mbps,
    rate_mbps,
    timeouts_per_s,
    total_mbps,
)
from airpath_papers.clamp.scenarios import Case
from airpath_papers.clamp.sweeps import NAMES, sweep
from airpath_papers.clamp.tradeoff import OutsideSweepError, Tradeoff

__all__ = [
    "SPEEDS",
    "Sweeps",
    "along_delays",
    "at_delay",
    "both",
    "both_rates",
    "by_flow",
    "by_speed",
    "is_fairer",
    "knee",
    "largest_difference",
    "placed",
    "rates_at",
    "shown_rates",
]

SPEEDS: Final = {"fast": True, "slow": False}

Sweeps = Mapping[Any, Sequence[Cell]]
"""Sweeps by what differs."""


def placed(cells: Sequence[Cell], spec: ClaimSpec | None = None) -> Tradeoff:
    """Return cells placed by their mean queueing delay, s, by the definition of a claim."""
    numbers = {} if spec is None else spec.numbers
    return Tradeoff(cells, DELAYS[numbers.get("delay", "end")])


def at_delay(
    session: Session, spec: ClaimSpec, cells: Sequence[Cell], delay_ms: float, *measures: Value
) -> list[float]:
    """Return measures at a mean queueing delay, ms, by linear interpolation."""
    place = delay_ms / 1e3
    (before, low), (after, high) = placed(cells, spec).neighbours(session, place)
    share = (place - low) / (high - low)
    pairs = (means(session, [before, after], measure) for measure in measures)
    return [first + share * (second - first) for first, second in pairs]


def by_speed(clamp: bool, low_rate: bool = False) -> Callable[[ClaimSpec], Sweeps]:
    """Return what gives the sweeps of CLAMP or New Reno by speed."""
    return lambda _spec: {name: sweep(fast, clamp, low_rate) for name, fast in SPEEDS.items()}


def both(fast: bool, low_rate: bool = False) -> Sweeps:
    """Return the sweeps of CLAMP and of New Reno by name."""
    return {NAMES[clamp]: sweep(fast, clamp, low_rate) for clamp in (True, False)}


def rates_at(
    session: Session, spec: ClaimSpec, cells: Sequence[Cell], delay_ms: float
) -> dict[int, float]:
    """Return the rate of each flow at a mean queueing delay, Mbit/s."""
    return by_flow(session, spec, cells, delay_ms, rate_mbps)


def by_flow(
    session: Session,
    spec: ClaimSpec,
    cells: Sequence[Cell],
    delay_ms: float,
    measure: Callable[[int], Value],
) -> dict[int, float]:
    """Return a measure of each flow at a mean queueing delay, ms."""
    found = at_delay(session, spec, cells, delay_ms, *map(measure, FLOWS_MS))
    return dict(zip(FLOWS_MS, found, strict=True))


def shown_rates(rates: Mapping[Any, float]) -> str:
    """Return rates by name, for people."""
    return joined([f"{name} {rate:.2f}" for name, rate in rates.items()]) + " Mbit/s"


@check("tcp-rtt", by_speed(clamp=False))
def _tcp_rtt(session: Session, spec: ClaimSpec, sweeps: Sweeps) -> Finding:
    def at_speed(name: str, cells: Sequence[Cell]) -> Finding:
        rates = rates_at(session, spec, cells, spec["delay_ms"])
        apart, shared = rates[30] / rates[130], rates[10] / rates[180]
        return Finding(
            apart >= spec["apart"] and shared >= spec["shared"],
            [f"{name}: {shown_rates(rates)}: 30 over 130 {apart:.2f}, 10 over 180 {shared:.2f}"],
            {"mbps": rates, "apart": apart, "shared": shared},
        )

    return gathered("speed", sweeps, at_speed)


def _equal(session: Session, spec: ClaimSpec, cells: Sequence[Cell], delay_ms: float) -> Finding:
    """Return whether the queues' rates are equal, and those of the flows that share one."""
    shared = at_delay(session, spec, cells, delay_ms, *map(queue_mbps, QUEUES))
    queues = dict(zip(QUEUES, shared, strict=True))
    rates = rates_at(session, spec, cells, delay_ms)
    mean = sum(queues.values()) / len(queues)
    off = max(abs(rate / mean - 1) for rate in queues.values())
    apart = max(rates[10], rates[180]) / min(rates[10], rates[180]) - 1
    return Finding(
        off <= spec["queues"] and apart <= spec["flows"],
        [
            f"{delay_ms:g} ms: {shown_rates(rates)}; queues within {off:.1%} of their mean, "
            f"10 and 180 {apart:.1%} apart"
        ],
        {"mbps": rates, "queues_off": off, "flows_apart": apart},
    )


@check("clamp-fast", lambda _spec: sweep(fast=True, clamp=True))
def _clamp_fast(session: Session, spec: ClaimSpec, cells: Sequence[Cell]) -> Finding:
    """Whether CLAMP gives queues, and the two flows of one, equal rates (§5.5, Fig. 4c)."""
    delays = dict.fromkeys(spec["delays_ms"], cells)
    return gathered("delay_ms", delays, lambda at, of: _equal(session, spec, of, at))


@check("clamp-slow-wait", lambda _spec: sweep(fast=False, clamp=True))
@check("clamp-slow", lambda _spec: sweep(fast=False, clamp=True))
def _clamp_slow(session: Session, spec: ClaimSpec, cells: Sequence[Cell]) -> Finding:
    """Whether the shared queue is between the others, 10 a little above 180 (Fig. 4a)."""
    rates = rates_at(session, spec, cells, spec["delay_ms"])
    shared, ratio = rates[10] + rates[180], rates[10] / rates[180]
    return Finding(
        rates[30] > shared > rates[130] and 1 < ratio <= spec["small"],
        [f"{shown_rates(rates)}: 10 + 180 {shared:.2f}, 10 over 180 {ratio:.2f}"],
        {"mbps": rates, "advantage": ratio},
    )


def along_delays(
    session: Session, spec: ClaimSpec, sweeps: Sweeps, delays_ms: Sequence[float], measure: Value
) -> dict[str, list[float]]:
    """Return a measure at some mean queueing delays, ms, of each sweep."""

    def tradeoff(cells: Sequence[Cell]) -> list[float]:
        places = placed(cells, spec).places(session)
        points = sorted(zip(places, means(session, cells, measure), strict=True))
        x, y = zip(*points, strict=True)
        wanted = [ms / 1e3 for ms in delays_ms]
        if min(wanted) < x[0] or max(wanted) > x[-1]:
            raise OutsideSweepError(f"{delays_ms} ms: outside the sweep, {x[0]:g} to {x[-1]:g} s")
        return [float(each) for each in np.interp(wanted, x, y)]

    return {name: tradeoff(cells) for name, cells in sweeps.items()}


def is_fairer(
    session: Session, spec: ClaimSpec, about: str, sweeps: Sweeps, delays_ms: Sequence[float]
) -> Finding:
    """Return whether Jain's index of the first sweep is above that of the second at all delays."""
    jains = along_delays(session, spec, sweeps, delays_ms, fairness)
    holds = all(ours > theirs for ours, theirs in zip(*jains.values(), strict=True))
    shown = joined([f"{name} {joined(found, '.3f')}" for name, found in jains.items()])
    return Finding(holds, [f"{about}: {shown}"], {"jain": jains})


@check("fairer", lambda _spec: {name: both(fast) for name, fast in SPEEDS.items()})
def _fairer(session: Session, spec: ClaimSpec, speeds: Mapping[str, Sweeps]) -> Finding:
    delays_ms = spec["delays_ms"]
    return gathered("speed", speeds, lambda at, of: is_fairer(session, spec, at, of, delays_ms))


@check("timeouts", lambda _spec: sweep(fast=True, clamp=True))
def _timeouts(session: Session, spec: ClaimSpec, cells: Sequence[Cell]) -> Finding:
    """Whether the 10 ms flow has the most time-outs, fewer at higher delays (§5.5)."""
    delays_ms = sorted({*spec["more_ms"], *spec["fewer_ms"]})
    rates = {ms: by_flow(session, spec, cells, ms, timeouts_per_s) for ms in delays_ms}
    most = all(
        rates[ms][10] > max(rate for flow, rate in rates[ms].items() if flow != 10)
        for ms in spec["more_ms"]
    )
    before, after = spec["fewer_ms"]
    return Finding(
        most and rates[after][10] < rates[before][10],
        [
            f"{ms:g} ms: {joined([f'{flow} {rate:.4f}' for flow, rate in found.items()])} /s"
            for ms, found in rates.items()
        ],
        {f"delay_ms={ms:g}": found for ms, found in rates.items()},
    )


@check("less-fair-wait", lambda _spec: sweep(fast=True, clamp=True))
@check("less-fair-with-delay", lambda _spec: sweep(fast=True, clamp=True))
def _less_fair(session: Session, spec: ClaimSpec, cells: Sequence[Cell]) -> Finding:
    ratios = []
    for delay_ms in spec["delays_ms"]:
        ten, other = at_delay(session, spec, cells, delay_ms, rate_mbps(10), rate_mbps(180))
        ratios.append(ten / other)
    early, late = (abs(ratio - 1) for ratio in ratios)
    pairs = zip(spec["delays_ms"], ratios, strict=True)
    shown = joined([f"{ms:g} ms {ratio:.3f}" for ms, ratio in pairs])
    return Finding(late > early, [f"10 over 180: {shown}"], {"ratios": ratios})


@check("loses-control", lambda _spec: sweep(fast=False, clamp=True))
def _loses_control(session: Session, spec: ClaimSpec, cells: Sequence[Cell]) -> Finding:
    found = placed(cells, spec)
    places = found.places(session)
    last = cells[places.index(max(places))]
    low, high = (ms / 1e3 for ms in spec["least_ms"])
    between = found.between(session, low, high)
    ends = [found.at(session, place, rate_mbps(10)) for place in (low, high)]
    least = min([*ends, *(known(session, cell, rate_mbps(10)).mean for cell in between)])
    rate = known(session, last, rate_mbps(10)).mean
    lost = known(session, last, control_lost(10)).mean
    return Finding(
        rate >= (1 + spec["more"]) * least and lost >= spec["share"],
        [
            f"largest mean delay {1e3 * max(places):.0f} ms: 10 gets {rate:.2f} Mbit/s, its least "
            f"{least:.2f}; CWND below AWND {lost:.0%} of the time"
        ],
        {"largest_delay_s": max(places), "mbps": rate, "least_mbps": least, "share": lost},
    )


@check("self-clocking", by_speed(clamp=True))
def _self_clocking(session: Session, spec: ClaimSpec, sweeps: Sweeps) -> Finding:
    def at_speed(name: str, cells: Sequence[Cell]) -> Finding:
        delay_ms = spec[f"{name}_ms"]
        found = at_delay(session, spec, cells, delay_ms, *(empty_share(queue) for queue in QUEUES))
        shares = dict(zip(QUEUES, found, strict=True))
        shown = joined([f"{queue} {share:.1%}" for queue, share in shares.items()])
        return Finding(
            max(found) <= spec[f"{name}_share"],
            [f"{name}, {delay_ms:g} ms: empty {shown} of the time"],
            {"delay_ms": delay_ms, "empty": shares},
        )

    return gathered("speed", sweeps, at_speed)


# --- totals, downloads, knobs ------------------------------------------------------------------


def largest_difference(totals: Mapping[str, Sequence[float]]) -> float:
    """Return the largest relative difference of two lists of totals."""
    pairs = zip(*totals.values(), strict=True)
    return float(max(max(pair) / min(pair) - 1 for pair in pairs))


@check("totals", lambda _spec: {name: both(fast) for name, fast in SPEEDS.items()})
def _totals(session: Session, spec: ClaimSpec, speeds: Mapping[str, Sweeps]) -> Finding:
    low, high = spec["from_ms"], spec["to_ms"]

    def at_speed(name: str, sweeps: Sweeps) -> Finding:
        places = sorted(
            1e3 * place
            for cells in sweeps.values()
            for place in placed(cells, spec).places(session)
            if low <= 1e3 * place <= high
        )
        totals = along_delays(session, spec, sweeps, [low, *places, high], total_mbps)
        apart = largest_difference(totals)
        fall = max(
            1 - later / max(found[: n + 1])
            for found in totals.values()
            for n, later in enumerate(found[1:])
        )
        ends = joined([f"{who} {found[0]:.2f} to {found[-1]:.2f}" for who, found in totals.items()])
        return Finding(
            apart <= spec["within"] and fall <= spec["falls"],
            [f"{name}: {ends} Mbit/s, {apart:.1%} apart at most; largest fall {fall:.1%}"],
            {"delays_ms": [low, *places, high], "mbps": totals, "apart": apart, "fall": fall},
        )

    return gathered("speed", speeds, at_speed)


@check("download", lambda _spec: both(fast=False))
def _download(session: Session, spec: ClaimSpec, sweeps: Sweeps) -> Finding:
    """Whether files take twice as long with New Reno (§5.6, Fig. 5b)."""
    times = {
        name: at_delay(session, spec, cells, spec["delay_ms"], download_s)[0]
        for name, cells in sweeps.items()
    }
    ratio = times[NAMES[False]] / times[NAMES[True]]
    shown = joined([f"{name} {time:.1f} s" for name, time in times.items()])
    return Finding(ratio >= spec["factor"], [f"{shown}: {ratio:.2f} times"], {**times, "of": ratio})


@check("knobs", lambda _spec: {name: both(fast) for name, fast in SPEEDS.items()})
def _knobs(session: Session, spec: ClaimSpec, speeds: Mapping[str, Sweeps]) -> Finding:
    def at_speed(name: str, sweeps: Sweeps) -> Finding:
        delays = {who: placed(cells, spec).places(session) for who, cells in sweeps.items()}
        rises = all(
            after > before for found in delays.values() for before, after in pairwise(found)
        )
        shown = [
            f"{name}, {who}: {joined([1e3 * delay for delay in found], '.0f')} ms"
            for who, found in delays.items()
        ]
        return Finding(rises, shown, delays)

    return gathered("speed", speeds, at_speed)


# --- the lower data rate, and the conclusions --------------------------------------------------


@check("low-rate", lambda _spec: both(fast=True, low_rate=True))
def _low_rate(session: Session, spec: ClaimSpec, sweeps: Sweeps) -> Finding:
    clamp = sweeps[NAMES[True]]
    equal = gathered(
        "delay_ms",
        dict.fromkeys(spec["delays_ms"], clamp),
        lambda at, of: _equal(session, spec, of, at),
    )
    fairer = is_fairer(session, spec, "Jain's index", sweeps, spec["fairer_ms"])
    apart = largest_difference(along_delays(session, spec, sweeps, spec["fairer_ms"], total_mbps))
    return Finding(
        equal.holds and fairer.holds and apart <= spec["totals"],
        [*equal.measured, *fairer.measured, f"totals {apart:.1%} apart at most"],
        {**equal.values, **fairer.values, "apart": apart},
    )


def knee(session: Session, found: Tradeoff, share: float) -> float:
    """Return the least place of a sweep with this share of its largest total rate."""
    totals = means(session, found.cells, total_mbps)
    points = sorted(zip(found.places(session), totals, strict=True))
    wanted = share * max(totals)
    if points[0][1] >= wanted:
        return points[0][0]
    for (x0, y0), (x1, y1) in pairwise(points):
        if y0 < wanted <= y1:
            return x0 + (wanted - y0) / (y1 - y0) * (x1 - x0)
    raise ValueError("the largest total is among the points")


def both_rates(_spec: ClaimSpec) -> dict[str, dict[bool, list[Case]]]:
    """Return CLAMP's sweeps by speed, and by whether the rate is 1.44 Mbit/s."""
    return {
        name: {low: sweep(fast, clamp=True, low_rate=low) for low in (False, True)}
        for name, fast in SPEEDS.items()
    }


@check("knee", both_rates)
@check("knee-wait", both_rates)
def _knees(session: Session, spec: ClaimSpec, speeds: Mapping[str, Mapping[bool, Any]]) -> Finding:
    def at_speed(name: str, sweeps: Mapping[bool, Any]) -> Finding:
        high, low = (
            1e3 * knee(session, placed(sweeps[low], spec), spec["share"]) for low in (False, True)
        )
        line = f"{name}: {high:.0f} ms at 10 Mbit/s, {low:.0f} ms at 1.44 Mbit/s"
        return Finding(low < high, [line], {"high_rate_ms": high, "low_rate_ms": low})

    return gathered("speed", speeds, at_speed)


@check("faster-fading", by_speed(clamp=True))
def _faster_fading(session: Session, spec: ClaimSpec, sweeps: Sweeps) -> Finding:
    jains = along_delays(session, spec, sweeps, spec["delays_ms"], fairness)
    totals = along_delays(session, spec, sweeps, spec["delays_ms"], total_mbps)
    fairer = all(fast > slow for fast, slow in zip(*jains.values(), strict=True))
    lower = all(fast < slow for fast, slow in zip(*totals.values(), strict=True))
    return Finding(
        fairer and lower,
        [
            f"{name}: Jain {joined(jains[name], '.3f')}; {joined(totals[name], '.2f')} Mbit/s"
            for name in sweeps
        ],
        {"jain": jains, "mbps": totals},
    )


@check("larger-margin", by_speed(clamp=True))
def _larger_margin(session: Session, spec: ClaimSpec, sweeps: Sweeps) -> Finding:
    margins = {
        name: at_delay(session, spec, cells, spec["delay_ms"], margin)[0]
        for name, cells in sweeps.items()
    }
    shown = joined([f"{name} {found:.3f}" for name, found in margins.items()])
    return Finding(margins["fast"] > margins["slow"], [f"m: {shown}"], margins)
