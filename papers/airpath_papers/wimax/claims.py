"""Points and measures for the formulas in ``claims.toml``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import nan
from typing import Any, Final

from airpath.reproduction.claims import Claims
from airpath.reproduction.formulas import Measure, of_point, of_replication, of_run
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath_papers.paths import WIMAX
from airpath_papers.wimax import analysis, measures
from airpath_papers.wimax.data import printed
from airpath_papers.wimax.scenarios import SEGMENT, crowd, download, model

__all__ = ["CLAIMS", "SWEEPS", "eq9"]

SWEEPS: Final = Sweeps(WIMAX, download, model, crowd)

ACK_BYTES: Final = 46
"""Size of an ACK in the uplink, bytes: 40 bytes and the MAC header."""


def _of_axes(compute: Callable[..., float]) -> Measure:
    """Return a measure that depends only on the axes of a point: a model, a printed number."""
    return of_point(lambda _session, point, *more: compute(point.axes, *more))


def eq9(session: Session, point: SweepPoint) -> float:
    """Return Eq. 9 with the simulated mean RTT, Mbit/s; NaN if the point was not simulated."""
    found = session.estimate(point, measures.mean_rtt_s)
    return nan if found is None else analysis.eq9_mbps(found.mean, point.axes["loss"])


def _duplicates(session: Session, run: int, point: SweepPoint) -> float:
    return measures.duplicate_acks(session.series(point, "seq_received", run), SEGMENT)


def _without_duplicates(session: Session, run: int, point: SweepPoint) -> float:
    """Return the efficiency without the bytes of duplicate ACKs."""
    replication = session.replications(point)[run]
    used = 1e3 * measures.USED.measure(replication)
    used -= ACK_BYTES * _duplicates(session, run, point)
    return used / (1e3 * measures.ALLOCATED.measure(replication))


def _of_delays(take: Callable[..., float]) -> Measure:
    """Return a measure of the uplink delays of all runs together."""
    return of_point(
        lambda session, point, *more: take(measures.DelayDistribution(session, point), *more),
        is_simulated=True,
    )


def _longer(found: measures.DelayDistribution, above_ms: float) -> float:
    # Includes the limit itself, regardless of rounding.
    return 1 - found.at(found.quantile(0.5) + above_ms - 1e-6)


def _stepped(found: measures.DelayDistribution, apart_ms: float, within_ms: float) -> float:
    """Return the share of delays near the median or near a multiple of `apart_ms` above it."""
    median = found.quantile(0.5)
    most = int((found.delays_ms[-1] - median) // apart_ms) + 1
    return found.near([median + n * apart_ms for n in range(most + 1)], within_ms)


def _printed(table: str) -> Measure:
    return _of_axes(lambda a, name: printed(table)[a["base_rtt_ms"], a["policy"]][name])


def _printed_ideal(axes: Mapping[str, Any]) -> float:
    return printed("table2")[axes["base_rtt_ms"], "ideal"]["goodput"]


MEASURES: Final[Mapping[str, Measure]] = {
    **{name: of_replication(each.measure) for name, each in measures.QUANTITIES.items()},
    "contention_share": of_replication(measures.contention_share),
    "timeouts": of_replication(measures.timeouts),
    "collided": of_replication(measures.collided_share),
    "duplicates": of_run(_duplicates),
    "efficiency_without_duplicates": of_run(_without_duplicates),
    "delay_share": _of_delays(measures.DelayDistribution.at),
    "delay_quantile": _of_delays(measures.DelayDistribution.quantile),
    "delay_share_above_median": _of_delays(_longer),
    "delay_share_at_steps": _of_delays(_stepped),
    "eq9": of_point(eq9, is_simulated=True),
    "solution": _of_axes(analysis.analysis_mbps),
    "analysis_goodput": _of_axes(analysis.goodput_of),
    "ideal": _of_axes(analysis.ideal_mbps),
    "model1": _of_axes(analysis.model1_mbps),
    "model2": _of_axes(analysis.model2_mbps),
    "ideal_mbps": _of_axes(lambda axes: analysis.tables_ideal_mbps(100, axes["loss"])),
    "printed_ideal_mbps": _of_axes(lambda a: analysis.printed_ideal_mbps(a["base_rtt_ms"])),
    "table1": _printed("table1"),
    "table2": _printed("table2"),
    "table2_ideal": _of_axes(_printed_ideal),
}

CLAIMS: Final = Claims(WIMAX, SWEEPS, MEASURES)
