"""The checks of ``claims.toml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from airpath.reproduction.claims import Claims, ClaimSpec, Finding, joined, known
from airpath.reproduction.session import Session
from airpath_papers.clamp.measures import (
    control_lost,
    fairness,
    queueing_delay_s,
    rate_mbps,
    total_mbps,
)
from airpath_papers.clamp.scenarios import Case
from airpath_papers.clamp.sweeps import sweep
from airpath_papers.clamp.tradeoff import Tradeoff

from .cells import PARTS_S, PERIOD, PERIODS, RETURN_S, TARGETS_MS, Combined, OnLink

__all__ = [
    "ANTENNAS",
    "CLAIMS",
    "COMBINED",
    "ELSEWHERE",
    "EQUILIBRIA",
    "JOINS",
    "MARGINS",
    "RETURNS",
    "TARGET_S",
    "WINDOWS",
    "best_mbps",
    "delays_of_parts",
    "returned",
    "swing",
    "targets",
]

CLAIMS: Final = Claims(Path(__file__).parent)

# --- a that moves by itself ---------------------------------------------------------------------

TARGET_S: Final = 0.006
"""Target on the link, s: what a fixed a of 5500 B gives one flow is about that."""
JOINS: Final = {
    "a moves": OnLink("joins", 8, amount=TARGET_S),
    "a = 5500 B": OnLink("joins", 8),
}
SERVICE_S: Final = 1500 * 8 / 10e6


def delays_of_parts(session: Session, case: OnLink, settle_s: float) -> list[float]:
    """Return the mean time from arrival to completion in each part, s, once it has settled."""
    times, waits = session.series(case, "sojourn").of(0)
    spans = pairwise(PARTS_S)
    return [
        float(waits[(times >= start + settle_s) & (times < stop)].mean()) + SERVICE_S
        for start, stop in spans
    ]


def targets() -> Mapping[int, Case]:
    """Return the cells of the fast cell by the target, ms."""
    return {ms: Case(True, False, True, 0, f"target-{ms}") for ms in TARGETS_MS}


@CLAIMS.check(
    "target-delay",
    lambda _spec: {
        "joins": list(JOINS.values()),
        "targets": targets(),
        "fixed": sweep(fast=True, clamp=True),
    },
)
def _target_delay(session: Session, spec: ClaimSpec, cells: Mapping[str, Any]) -> Finding:
    parts = {name: delays_of_parts(session, case, spec["settle_s"]) for name, case in JOINS.items()}
    link = max(abs(delay / TARGET_S - 1) for delay in parts["a moves"])
    held: dict[int, dict[str, float]] = {}
    fixed = Tradeoff(cells["fixed"], queueing_delay_s)
    least = min(fixed.places(session))  # of the smallest a of the sweep
    for ms, case in cells["targets"].items():
        delay = known(session, case, queueing_delay_s).mean
        held[ms] = {
            "delay_ms": 1e3 * delay,
            "jain": known(session, case, fairness).mean,
            "jain_of_fixed_a": fixed.at(session, max(delay, least), fairness),
        }
    off = max(abs(found["delay_ms"] / ms - 1) for ms, found in held.items())
    fair = all(found["jain"] >= found["jain_of_fixed_a"] for found in held.values())
    shown = {name: joined([1e3 * delay for delay in found], ".2f") for name, found in parts.items()}
    return Finding(
        link <= spec["link"] and off <= spec["cell"] and fair,
        [
            f"link, target {1e3 * TARGET_S:g} ms: "
            + "; ".join(f"{name}: {found} ms" for name, found in shown.items()),
            *(
                f"cell, target {ms} ms: {found['delay_ms']:.1f} ms, Jain's index "
                f"{found['jain']:.4f}, with a fixed a {found['jain_of_fixed_a']:.4f}"
                for ms, found in held.items()
            ),
        ],
        {"link_s": parts, "cell": held},
    )


# --- CLAMP at the sender ------------------------------------------------------------------------

EQUILIBRIA: Final = {
    flows: {sender: OnLink("equilibrium", flows, sender) for sender in (False, True)}
    for flows in (1, 2, 3)
}


def _rates(session: Session, case: OnLink) -> list[float]:
    (run,) = session.replications(case)
    return [flow["ip_throughput_bps"] / 1e6 for flow in run["flows"]]


def _average_queue(run: Mapping[str, Any]) -> float:
    return float(run["queues"][0]["measured"]["clamp_queue_bytes"])


@CLAIMS.check("sender-equilibrium", lambda _spec: EQUILIBRIA)
def _sender_equilibrium(session: Session, spec: ClaimSpec, pairs: Mapping[int, Any]) -> Finding:
    shown, values, apart = [], {}, []
    for flows, cases in pairs.items():
        queues = {at: known(session, case, _average_queue).mean for at, case in cases.items()}
        rates = {at: _rates(session, case) for at, case in cases.items()}
        apart.append(abs(queues[True] / queues[False] - 1))
        apart += [abs(a / b - 1) for a, b in zip(rates[True], rates[False], strict=True)]
        shown.append(
            f"{flows} flows: {queues[False]:.0f} and {queues[True]:.0f} B; "
            f"{joined(rates[False], '.3f')} and {joined(rates[True], '.3f')} Mbit/s"
        )
        values[f"flows={flows}"] = {"queue_bytes": list(queues.values()), "mbps": rates}
    shown.append(f"apart by {max(apart):.2%} at most")
    return Finding(max(apart) <= spec["within"], shown, {**values, "apart": max(apart)})


@CLAIMS.check(
    "sender-keeps-control",
    lambda _spec: {name: sweep(False, True, variant=name) for name in ("", "sender")},
)
def _keeps_control(
    session: Session, spec: ClaimSpec, sweeps: Mapping[str, Sequence[Case]]
) -> Finding:
    largest = {
        name: max(Tradeoff(cells, queueing_delay_s).places(session))
        for name, cells in sweeps.items()
    }
    found = Tradeoff(sweeps["sender"], queueing_delay_s)
    last = sweeps["sender"][found.places(session).index(largest["sender"])]
    low, high = (ms / 1e3 for ms in spec["least_ms"])
    between = found.between(session, low, high)
    least = min(known(session, cell, rate_mbps(10)).mean for cell in between)
    rate = known(session, last, rate_mbps(10)).mean
    return Finding(
        largest["sender"] > largest[""] and rate < (1 + spec["more"]) * least,
        [
            f"largest mean delay {1e3 * largest['']:.0f} ms at the receiver, "
            f"{1e3 * largest['sender']:.0f} ms at the sender; there 10 gets {rate:.2f} Mbit/s, its "
            f"least {least:.2f}; CWND below AWND "
            f"{known(session, sweeps[''][-1], control_lost(10)).mean:.0%} of the time at the "
            "receiver"
        ],
        {"largest_delay_s": largest, "mbps": rate, "least_mbps": least},
    )


ELSEWHERE: Final = {sender: OnLink("elsewhere", 3, sender) for sender in (False, True)}


@CLAIMS.check("bottleneck-elsewhere", lambda _spec: ELSEWHERE)
def _elsewhere(session: Session, spec: ClaimSpec, cases: Mapping[bool, OnLink]) -> Finding:
    rates = {at: _rates(session, case) for at, case in cases.items()}
    slow, *others = rates[True]
    fair = (10 - slow) / len(others)
    off = max(abs(rate / fair - 1) for rate in others)
    _, windows = session.series(cases[False], "awnd").of(0)
    return Finding(
        slow >= spec["share"] * 1.0 and off <= spec["within"],
        [
            f"at the sender {joined(rates[True], '.3f')} Mbit/s: {slow:.0%} of the slow link, the "
            f"others within {off:.1%} of equal; at the receiver {joined(rates[False], '.3f')} "
            f"Mbit/s, where AWND runs away to {windows[-1] / 1e3:.0f} kB"
        ],
        {"mbps": rates, "off": off, "awnd_bytes": float(windows[-1])},
    )


RETURNS: Final = {
    f"{flows} flows, {where}": OnLink("returns", flows, "sender" in where, headroom=headroom)
    for flows in (3, 8)
    for where, headroom in (
        ("at the receiver", 0.0),
        ("at the sender", 0.0),
        ("at the sender, headroom 2", 2.0),
    )
}


def returned(session: Session, case: OnLink) -> tuple[float, float | None]:
    """Return how far AWND has run away, bytes, and after how long all rates are equal, s, if ever.

    Rates are those of 2 s, and equal when they are within 10 % of their mean from then on; AWND of
    a sender's CLAMP does not run away.
    """
    edges = np.arange(RETURN_S, 300.1, 2.0)
    rates = []
    for flow in range(case.flows):
        times, sent = session.series(case, "delivered").of(flow)
        rates.append(np.histogram(times, bins=edges, weights=sent)[0])
    fair = np.mean(rates, axis=0)
    off = np.flatnonzero(np.max(np.abs(np.array(rates) / fair - 1), axis=0) > 0.1)
    times, windows = session.series(case, "awnd").of(0)
    late = 2.0 * (off[-1] + 1) if len(off) else 0.0
    return float(windows[times < RETURN_S].max()), late if late < edges[-1] - RETURN_S else None


# --- HARQ ---------------------------------------------------------------------------------------

MARGINS: Final = (-0.5, -0.2, 0.0, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
COMBINED: Final = {
    fast: {
        harq: [Combined(fast, harq, margin) for margin in MARGINS]
        for harq in ("off", "chase", "incremental")
    }
    for fast in (True, False)
}


def best_mbps(session: Session, cases: Sequence[Combined]) -> tuple[float, float]:
    """Return the largest total rate, Mbit/s, and the margin that gives it."""
    return max((known(session, case, _total).mean, case.margin) for case in cases)


def _total(run: Mapping[str, Any]) -> float:
    return total_mbps(run)


@CLAIMS.check("harq", lambda _spec: COMBINED)
def _harq(session: Session, spec: ClaimSpec, speeds: Mapping[bool, Any]) -> Finding:
    found = {
        fast: {harq: best_mbps(session, cases) for harq, cases in schemes.items()}
        for fast, schemes in speeds.items()
    }
    rates = {fast: {harq: best[0] for harq, best in each.items()} for fast, each in found.items()}
    fast, slow = rates[True], rates[False]
    near = all(
        abs(fast[harq] / spec[harq] - 1) <= spec["within"] for harq in ("chase", "incremental")
    )
    gains = max(slow["chase"], slow["incremental"]) / slow["off"] - 1
    return Finding(
        fast["off"] <= spec["none"] and near and gains <= spec["slow"],
        [
            f"{'fast' if at else 'slow'}: "
            + joined([f"{harq} {rate:.2f} (m = {m:g})" for harq, (rate, m) in each.items()])
            + " Mbit/s"
            for at, each in found.items()
        ],
        {"fast": fast, "slow": slow, "slow_gain": gains},
    )


# --- two antennas ---------------------------------------------------------------------------------


def _around_50_ms(variant: str) -> list[Case]:
    return sweep(False, True, variant=variant)[3:9]


ANTENNAS: Final = {
    name: _around_50_ms(name) for name in ("one-antenna", *(f"two-antennas-{p}" for p in PERIODS))
}


@CLAIMS.check("beamforming", lambda _spec: ANTENNAS)
def _beamforming(
    session: Session, spec: ClaimSpec, sweeps: Mapping[str, Sequence[Case]]
) -> Finding:
    place = spec["delay_ms"] / 1e3
    found = {
        name: [
            Tradeoff(cells, queueing_delay_s).at(session, place, value)
            for value in (fairness, _total)
        ]
        for name, cells in sweeps.items()
    }
    one, two = found["one-antenna"][0], found[f"two-antennas-{PERIOD}"][0]
    return Finding(
        two > one and two >= spec["jain"],
        [
            joined([f"{name}: Jain's index {jain:.3f}, {total:.2f} Mbit/s"])
            for name, (jain, total) in found.items()
        ],
        {name: {"jain": jain, "mbps": total} for name, (jain, total) in found.items()},
    )


# --- small windows ------------------------------------------------------------------------------

WINDOWS: Final = {
    amount: OnLink("window", 2, amount=amount)
    for amount in (0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0)
}


def swing(session: Session, case: OnLink) -> float:
    """Return the standard deviation of the first flow's AWND over its mean, after the warm-up."""
    times, windows = session.series(case, "awnd").of(0)
    grid = np.arange(150.0, 300.0, 0.1)
    found = windows[np.searchsorted(times, grid, "right") - 1]
    return float(found.std() / found.mean())


@CLAIMS.check("many-flows", lambda _spec: WINDOWS)
def _many_flows(session: Session, spec: ClaimSpec, cases: Mapping[float, OnLink]) -> Finding:
    found = {amount: swing(session, case) for amount, case in cases.items()}
    below, above = found[spec["below"]], found[spec["above"]]
    return Finding(
        below >= spec["unstable"] and above <= spec["stable"],
        [
            "sd of AWND over its mean: "
            + joined([f"{value:.2f} at {amount:g} of the limit" for amount, value in found.items()])
        ],
        {f"amount={amount:g}": value for amount, value in found.items()},
    )
