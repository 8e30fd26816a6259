"""The checks of ``claims.toml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from airpath.reproduction.claims import (
    Claims,
    ClaimSpec,
    Finding,
    PointSet,
    joined,
    known,
    points_of,
    same,
)
from airpath.reproduction.formulas import Point, of_replication, of_run
from airpath.reproduction.session import Session
from airpath_papers.clamp.claims import MEASURES, swept
from airpath_papers.clamp.measures import fairness, queueing_delay_s, total_mbps
from airpath_papers.clamp.scenarios import Case
from airpath_papers.clamp.sweeps import sweep
from airpath_papers.clamp.tradeoff import Tradeoff

from .cells import PARTS_S, PERIODS, RETURN_S, TARGETS_MS, Combined, OnLink

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


# --- CLAMP at the sender ------------------------------------------------------------------------

EQUILIBRIA: Final = {
    flows: {sender: OnLink("equilibrium", flows, sender) for sender in (False, True)}
    for flows in (1, 2, 3)
}


ELSEWHERE: Final = {sender: OnLink("elsewhere", 3, sender) for sender in (False, True)}


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
    return max((known(session, case, total_mbps).mean, case.margin) for case in cases)


# --- two antennas ---------------------------------------------------------------------------------


def _around_50_ms(variant: str) -> list[Case]:
    return sweep(False, True, variant=variant)[3:9]


ANTENNAS: Final = {
    name: _around_50_ms(name) for name in ("one-antenna", *(f"two-antennas-{p}" for p in PERIODS))
}


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


# --- the claims ----------------------------------------------------------------------------------


def _sweeps(_spec: ClaimSpec) -> list[Point]:
    """Return the slow sweeps with the window set by the receiver and by the sender."""
    return [
        point
        for where, variant in (("receiver", ""), ("sender", "sender"))
        for point in swept(sweep(False, True, variant=variant), window_at=where)
    ]


def _antennas(_spec: ClaimSpec) -> list[Point]:
    return [point for name, cases in ANTENNAS.items() for point in swept(cases, antennas=name)]


def _combined(_spec: ClaimSpec) -> list[Point]:
    return [
        Point(case._asdict(), case)
        for schemes in COMBINED.values()
        for cases in schemes.values()
        for case in cases
    ]


POINTS: Final[Mapping[str, PointSet]] = {
    "equilibria": same(points_of(case for pair in EQUILIBRIA.values() for case in pair.values())),
    "elsewhere": same(points_of(ELSEWHERE.values())),
    "windows": same(points_of(WINDOWS.values())),
    "sweeps": _sweeps,
    "antennas": _antennas,
    "combined": _combined,
}

CLAIMS: Final = Claims(
    Path(__file__).parent,
    POINTS,
    {
        **MEASURES,
        "flow_mbps": of_replication(
            lambda flow: lambda run: run["flows"][flow]["ip_throughput_bps"] / 1e6,
            has_arguments=True,
        ),
        "last_awnd_bytes": of_run(
            lambda session, run, case: session.series(case, "awnd", run).of(0)[1][-1]
        ),
        "swing": of_run(lambda session, _run, case: swing(session, case)),
    },
)


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
