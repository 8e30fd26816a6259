"""Definitions for figures and tables: quantities, labels, names of rows (vcp-2008 §IV, §V)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from airpath.phy import symbol_error_rate
from airpath.reproduction.base import Cell, Row
from airpath.reproduction.formulas import Point
from airpath.reproduction.quantities import ComputedQuantity, MeasuredQuantity, RecordedQuantity
from airpath.reproduction.session import Session
from airpath.reproduction.spread import Naming
from airpath.results.intervals import Interval
from airpath_papers.vcp.claims import MODULATIONS, SIZES, SWEEPS
from airpath_papers.vcp.failures import failure, past_db, threshold_db
from airpath_papers.vcp.measures import (
    data_failures,
    delivered_packets,
    error_rate,
    life_span_s,
    mean_queue,
    queue_drops,
)
from airpath_papers.vcp.scenarios import ACK_BYTES, NAMES, antennas_of, code_rates

__all__ = ["DELIVERED", "NAMING", "QUANTITIES", "QUEUE_PACKETS", "SIMULATED"]

Axes = Mapping[str, Any]

# --- simulated ---------------------------------------------------------------------------------


def _aborted(replication: Mapping[str, Any]) -> float:
    return float(sum(flow.get("aborted_at_s") is not None for flow in replication["flows"]))


class _LifeSpan(RecordedQuantity):
    """Life span of flows, with the runs of the other quantities; tables show no intervals."""

    def text(self, session: Session, cell: Cell) -> str:
        found = self.estimate(session, cell)
        return "" if found is None else f"{found.mean:.2f}"

    def row(self, *about: Any) -> Row:
        return replace(super().row(*about), extra={})


class _ErrorRate(MeasuredQuantity):
    """Packet error rate of data over all runs, with the Wilson interval."""

    def estimate(self, session: Session, cell: Cell) -> Interval | None:
        found = error_rate(session, cell)
        if found is None:
            return None
        return Interval(*found[:3], session.paper.confidence, len(session.replications(cell)))

    def text(self, session: Session, cell: Cell) -> str:
        found = self.estimate(session, cell)
        if found is None:
            return "nothing sent"
        return f"{found.mean:.3g} ({found.low:.3g} to {found.high:.3g})"


class _Failed(MeasuredQuantity):
    """Number of failed data packets, and number of all data packets."""

    def text(self, session: Session, cell: Cell) -> str:
        found = error_rate(session, cell)
        return "" if found is None else f"{found.failed} of {found.sent}"


DELIVERED: Final = MeasuredQuantity("delivered_packets", "1", delivered_packets, 0)
QUEUE_PACKETS: Final = MeasuredQuantity("queue", "1", mean_queue, 1)
SIMULATED: Final = _ErrorRate("simulated", "1", data_failures, 3)

# --- computed from the channel model -----------------------------------------------------------


def _failure(axes: Axes) -> float:
    return failure(axes["antennas"], code_rates(axes)[0], axes["snr_db"])


def _ack_failure(axes: Axes) -> float:
    return failure(axes["antennas"], code_rates(axes)[1], axes["snr_db"], ACK_BYTES)


def _counts(session: Session, cell: Cell) -> Mapping[str, Any]:
    found = error_rate(session, cell)
    return {} if found is None else found._asdict()


def _symbol_error(axes: Axes) -> float:
    tx, rx = antennas_of(axes["antennas"])
    return float(symbol_error_rate(axes["snr_db"], MODULATIONS[axes["M"]], tx=tx, rx=rx))


def _snr_of_failure(axes: Axes) -> float:
    size = SIZES[axes["packet"]]
    return threshold_db(axes["antennas"], axes["code_rate"], axes["failure"], size)


class _Thresholds(ComputedQuantity):
    """SNRs with failure probabilities of 0.5, 0.1 and 0.01."""

    def text(self, _session: Session, cell: Any) -> str:
        found = (self.compute({**cell.axes, "failure": least}) for least in (0.5, 0.1, 0.01))
        return " / ".join(f"{snr:.2f}" for snr in found)


_QUANTITIES: Final[tuple[MeasuredQuantity | ComputedQuantity, ...]] = (
    DELIVERED,
    QUEUE_PACKETS,
    SIMULATED,
    MeasuredQuantity("corrupted_packets", "1", data_failures, 0),
    MeasuredQuantity("queue_drops", "1", queue_drops, 0),
    MeasuredQuantity("aborted_flows", "1", _aborted, 1),
    _LifeSpan("life_span", "s", life_span_s, 2),
    _Failed("failed", "1", data_failures, 0),
    ComputedQuantity("per", "1", _failure, ".3g", _counts),
    ComputedQuantity("data_fails", "1", _failure, ".2g"),
    ComputedQuantity("ack_fails", "1", _ack_failure, ".2g"),
    ComputedQuantity("symbol_error_rate", "1", _symbol_error, ".4e"),
    _Thresholds("snr_of_failure", "dB", _snr_of_failure, ".2f"),
    ComputedQuantity(
        "percent_fails_db", "dB", lambda a: threshold_db(a["antennas"], 1.0, 0.01), "g"
    ),
    ComputedQuantity("past_db", "dB", lambda a: past_db(a["antennas"], a["code_rate"]), "g"),
)

QUANTITIES: Final = {each.name: each for each in _QUANTITIES}
"""Quantities that `paper.toml` names."""

# --- names -------------------------------------------------------------------------------------


def _place_of(point: Point) -> dict[str, Any]:
    axes, change = point.cell.axes, point.place.get("change")
    place = {
        "antennas": axes["antennas"],
        "code_rate": code_rates(axes)[0],
        "protocol": axes["protocol"],
        "snr_db": axes["snr_db"],
    }
    return {**place, "variant": change} if change else place


_WORDS: Final = {
    "protocol": NAMES,
    "change": {**SWEEPS.changes("lives"), **SWEEPS.changes("lives-5")},
    "M": "M = {}",
}

NAMING: Final = Naming(_WORDS, _place_of)
"""Names of values and points in figures."""
