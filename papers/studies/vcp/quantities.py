"""Definitions for the study's tables and figures: quantities, labels of values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from airpath.reproduction.base import Cell
from airpath.reproduction.quantities import (
    ComputedQuantity,
    MeasuredQuantity,
    PointQuantity,
    bottleneck,
)
from airpath.reproduction.session import Session
from airpath.results.intervals import Interval
from airpath_papers.vcp.failures import goodput_share
from airpath_papers.vcp.measures import delivered_packets, error_rate
from airpath_papers.vcp.quantities import DELIVERED
from airpath_papers.vcp.quantities import NAMING as OF_PAPER
from airpath_papers.vcp.quantities import QUANTITIES as PAPERS
from airpath_papers.vcp.scenarios import BAD_SHARE, PROTOCOLS, RATE_MBPS

from .checks import RATES, SWEEPS, law_of

__all__ = ["DELAY", "NAMING", "QUANTITIES", "QUEUE", "doppler_hz"]

Axes = Mapping[str, Any]

# --- one choice of README.md changed at a time -------------------------------------------------


def _lead(session: Session, cell: Cell) -> float:
    """Return VCP's lead over TCP/REM, per cent; unchanged protocols use the point as chosen."""
    found = {}
    for protocol in PROTOCOLS:
        changed = cell.at(protocol=protocol)
        place = {"protocol": protocol, "snr_db": cell.axes["snr_db"]}
        chosen = SWEEPS.cells("as-chosen", **place)[0]
        of = changed if session.finished(changed) else chosen
        found[protocol] = DELIVERED.estimate(session, of)
    vcp, tcp = (found[protocol] for protocol in PROTOCOLS)
    return 100 * (vcp.mean / tcp.mean - 1) if vcp and tcp and tcp.mean else math.nan


# --- code rates --------------------------------------------------------------------------------


def _share(axes: Axes) -> float:
    return goodput_share("2x2", axes["code_rate"], axes["snr_db"])


def _best_by_law(axes: Axes) -> Any:
    """Return the code rate with the largest (k/b)(1 - failure)."""
    return max(RATES, key=lambda rate: goodput_share("2x2", rate, axes["snr_db"]))


class _BestRate(MeasuredQuantity):
    """Code rate with which a transport delivers most packets."""

    def estimate(self, session: Session, cell: Cell) -> Interval | None:
        points = [cell.at(code_rate=rate) for rate in RATES]
        found = [super(_BestRate, self).estimate(session, point) for point in points]
        means = {rate: each.mean for rate, each in zip(RATES, found, strict=True) if each}
        if len(means) < len(RATES):
            return None
        return session.interval([max(means, key=lambda rate: means[rate])])

    def text(self, session: Session, cell: Cell) -> str:
        found = self.estimate(session, cell)
        return "" if found is None else f"{found.mean:g}"


# --- bursts ------------------------------------------------------------------------------------


def doppler_hz(bits: int) -> float:
    """Return the Doppler shift with fades of `bits` mean length and a time share of `BAD_SHARE`.

    For Rayleigh fading with one branch, fades below the threshold ρ² of the mean power have the
    time share 1 - exp(-ρ²) and a mean duration of (exp(ρ²) - 1)/(√(2π) f ρ).
    """
    power = -math.log(1 - BAD_SHARE)
    lasts_s = bits / (RATE_MBPS * 1e6)
    return math.expm1(power) / (math.sqrt(2 * math.pi * power) * lasts_s)


def _law(_session: Session, cell: Cell) -> float:
    return law_of(cell.axes["code_rate"], cell.axes["burst_bits"])


def _counts(session: Session, cell: Cell) -> dict[str, Any]:
    found, doppler = error_rate(session, cell), {"doppler_hz": doppler_hz(cell.axes["burst_bits"])}
    if found is None:
        return doppler
    return {**doppler, "simulated": found[0], "failed": found.failed, "sent": found.sent}


# --- recorded link -----------------------------------------------------------------------------

QUEUE: Final = MeasuredQuantity("queue", "1", lambda run: float(bottleneck(run)["mean_packets"]), 1)
DELAY: Final = MeasuredQuantity(
    "queueing_delay", "ms", lambda run: 1e3 * float(bottleneck(run)["mean_sojourn_s"]), 1
)

QUANTITIES: Final[Mapping[str, Any]] = {
    **PAPERS,
    "lead": PointQuantity("lead", "%", _lead, "+.1f"),
    "goodput_share": ComputedQuantity("goodput_share", "1", _share, ".3f"),
    "best_by_law": ComputedQuantity("best_by_law", "1", _best_by_law, "g"),
    "best_rate": _BestRate("best_rate", "1", delivered_packets, 2),
    "doppler": ComputedQuantity(
        "doppler", "Hz", lambda axes: doppler_hz(axes["burst_bits"]), ".3g"
    ),
    "per_in_bursts": PointQuantity("per", "1", _law, ".3g", _counts),
}
"""Quantities that ``paper.toml`` names."""

_CHANGES: Final = {
    change: about
    for name in ("advantage", "sensitivity")
    for change, about in SWEEPS.changes(name).items()
}
_WORDS: Final = {
    "change": {"as-chosen": "as chosen", **OF_PAPER.words["change"], **_CHANGES},
    "burst_bits": "{:,}".format,
}

NAMING: Final = replace(OF_PAPER, words={**OF_PAPER.words, **_WORDS})
"""Names of values and points in tables and legends."""
