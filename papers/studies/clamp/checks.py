"""Checks of ``claims.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from airpath.reproduction.claims import Claims, ClaimSpec, Finding, joined, known, means
from airpath.reproduction.formulas import of_replication, of_run
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath.reproduction.vocabulary import interpolated
from airpath_papers.clamp.claims import MEASURES
from airpath_papers.clamp.measures import fairness, queueing_delay_s
from airpath_papers.clamp.sweeps import sweep

from .scenarios import PARTS_S, RETURN_S, SWEEPS

__all__ = ["CLAIMS", "JOINS", "TARGETS", "TARGET_S", "delays_of_parts", "oscillation", "returned"]

TARGET_S: Final = 0.006
"""Target delay on the link, s: about the delay of one flow with a fixed a of 5500 B."""
JOINS: Final = dict(zip(("a moves", "a = 5500 B"), SWEEPS.cells("adapting"), strict=True))
TARGETS: Final = {place["target_ms"]: point for place, point in SWEEPS.points("targets")}
"""Points of the fast cell by target delay, ms."""
SERVICE_S: Final = 1500 * 8 / 10e6


def delays_of_parts(session: Session, point: SweepPoint, settle_s: float) -> list[float]:
    """Return the mean time from arrival to completion in each part, s, after the settling time."""
    times, waits = session.series(point, "sojourn").of(0)
    spans = pairwise(PARTS_S)
    return [
        float(waits[(times >= start + settle_s) & (times < stop)].mean()) + SERVICE_S
        for start, stop in spans
    ]


def returned(session: Session, point: SweepPoint) -> tuple[float, float | None]:
    """Return the maximum of AWND, bytes, and the time until all rates are equal, s, or None.

    Rates are averages over 2 s. They are equal if all later rates are within 10 % of their mean.
    With CLAMP at the sender, AWND does not grow.
    """
    edges = np.arange(RETURN_S, 300.1, 2.0)
    delivered = session.series(point, "delivered")
    rates = [delivered.sums(flow, edges) for flow in range(point.axes["flows"])]
    fair = np.mean(rates, axis=0)
    off = np.flatnonzero(np.max(np.abs(np.array(rates) / fair - 1), axis=0) > 0.1)
    times, windows = session.series(point, "awnd").of(0)
    late = 2.0 * (off[-1] + 1) if len(off) else 0.0
    return float(windows[times < RETURN_S].max()), late if late < edges[-1] - RETURN_S else None


def oscillation(session: Session, point: SweepPoint) -> float:
    """Return the coefficient of variation of the first flow's AWND after the warm-up."""
    found = session.series(point, "awnd").levels(0, np.arange(150.0, 300.0, 0.1))
    return float(found.std() / found.mean())


# --- claims --------------------------------------------------------------------------------------


CLAIMS: Final = Claims(
    Path(__file__).parent,
    SWEEPS,
    {
        **MEASURES,
        "flow_mbps": of_replication(
            lambda flow: lambda run: run["flows"][flow]["ip_throughput_bps"] / 1e6,
            has_arguments=True,
        ),
        "last_awnd_bytes": of_run(
            lambda session, run, case: session.series(case, "awnd", run).of(0)[1][-1]
        ),
        "oscillation": of_run(lambda session, _run, case: oscillation(session, case)),
    },
)


@CLAIMS.check(
    "target-delay",
    lambda _spec: {
        "joins": list(JOINS.values()),
        "targets": TARGETS,
        "fixed": sweep(fast=True, clamp=True),
    },
)
def _target_delay(session: Session, spec: ClaimSpec, cells: Mapping[str, Any]) -> Finding:
    parts = {name: delays_of_parts(session, case, spec["settle_s"]) for name, case in JOINS.items()}
    link = max(abs(delay / TARGET_S - 1) for delay in parts["a moves"])
    held: dict[int, dict[str, float]] = {}
    fixed = (means(session, cells["fixed"], each) for each in (queueing_delay_s, fairness))
    delays, fair_of = zip(*sorted(zip(*fixed, strict=True)), strict=True)
    for ms, case in cells["targets"].items():
        delay = known(session, case, queueing_delay_s).mean
        held[ms] = {
            "delay_ms": 1e3 * delay,
            "jain": known(session, case, fairness).mean,
            "jain_of_fixed_a": interpolated(delays, fair_of, max(delay, delays[0])),
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
