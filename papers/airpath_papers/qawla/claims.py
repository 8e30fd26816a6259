"""Points and measures for the formulas in ``claims.toml``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log, nan
from typing import Any, Final

import numpy as np

from airpath.phy import PerTable
from airpath.reproduction.claims import Claims
from airpath.reproduction.formulas import Measure, of_point, of_replication
from airpath.reproduction.quantities import ip_throughput_mbps
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath.reproduction.vocabulary import crossing
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.data import MEASURES, PACKET_BYTES, mcs_table, published_entry
from airpath_papers.qawla.error_rates import CHANNELS, Channel, rates_of
from airpath_papers.qawla.link_adaptation import POLICIES, TH_PER, Adaptation, adaptations
from airpath_papers.qawla.queue_lengths import most_likely, queue_distribution, queue_probability
from airpath_papers.qawla.scenarios import SWEEPS, published, solution

__all__ = ["CLAIMS", "NAMED"]

# --- queue: model and simulation ---------------------------------------------------------------


def _printed_difference(_session: Session, cell: Any) -> float:
    row = published(cell)
    return row.analysis_mbps / row.ns3_mbps - 1


# --- error rates (Figs. 2 and 3) ---------------------------------------------------------------


def _of_rates(compute: Callable[..., float]) -> Measure:
    """Return a measure from a function of error rates, channel and the other axes of a point."""

    def of(session: Session, cell: SweepPoint, *more: Any) -> float:
        axes = dict(cell.axes)
        key = axes.pop("channel")
        return compute(rates_of(session)[key], CHANNELS[key], *axes.values(), *more)

    return of_point(of, is_random=True)


def _per_at_lowest(rates: PerTable, channel: Channel, mcs: int, steps: int) -> float:
    """Return the PER at the lowest averaged SNR, or some steps of the grid below it."""
    return rates.per(mcs, channel.support_db[0] - steps * channel.grid_db[2])


def _least_snr_db(rates: PerTable, channel: Channel, mcs: int, highest: float) -> float:
    """Return the lowest SNR of the grid at which the PER of an MCS is below `highest`, dB."""
    return next((snr for snr in channel.grid() if rates.per(mcs, snr) < highest), nan)


def _snr_db(rates: PerTable, channel: Channel, mcs: int, per: float) -> float:
    """Return the SNR, dB, at which a curve crosses a PER (ln PER linear in dB); NaN if never."""
    blocks = rates.document["curves"][mcs]["points"][-1]["blocks"]
    # A point without errors counts as half an error.
    floor = 0.5 * mcs_table()[mcs].blocks(PACKET_BYTES) / blocks
    pers = np.maximum(rates.per(mcs, channel.grid()), floor)
    return crossing(channel.grid(), np.log(pers).tolist(), log(per))


# --- link adaptation (Figs. 7 to 12, Table 6) --------------------------------------------------


def _of_adaptation(compute: Callable[..., float]) -> Measure:
    """Return a measure from a function of the adaptation on a channel and the axes of a point."""

    def of(session: Session, cell: SweepPoint, *more: Any) -> float:
        return compute(adaptations(session)[cell.axes["channel"]], cell.axes, *more)

    return of_point(of, is_random=True)


def _at(found: Adaptation, axes: Mapping[str, Any], th_per: float, worst: bool = False) -> float:
    return found.at(axes["policy"], th_per, over_rating_db=axes["over_rating_db"], worst=worst)


def _over_thresholds(
    found: Adaptation, axes: Mapping[str, Any], worst: bool = False
) -> list[tuple[float, float]]:
    """Return (T_M or T_W, threshold) of an over-rated link for each threshold."""
    return [(_at(found, axes, th_per, worst), th_per) for th_per in TH_PER]


def _mean_from(found: Adaptation, axes: Mapping[str, Any], least: float) -> float:
    high = [value for value, th_per in _over_thresholds(found, axes) if th_per >= 0.999 * least]
    return sum(high) / len(high)


def _entry(axes: Mapping[str, Any]) -> tuple[str, str]:
    """Return the policy and the measure of an entry in Table 6."""
    return list(POLICIES)[axes["place"]], {of: name for name, of in MEASURES.items()}[axes["of"]]


def _printed_entry(_session: Session, cell: SweepPoint) -> float:
    policy, measure = _entry(cell.axes)
    return published_entry(policy, cell.axes["channel"], measure)


NAMED: Final[Mapping[str, Measure]] = {
    "throughput": of_replication(ip_throughput_mbps),
    "queue_share": of_replication(queue_probability, has_arguments=True),
    "likeliest": of_point(
        lambda session, cell: most_likely(queue_distribution(session, cell)), is_simulated=True
    ),
    "solved": of_point(lambda _session, cell: solution(cell).throughput_bps / 1e6),
    "printed_difference": of_point(_printed_difference),
    "per": _of_rates(lambda rates, _channel, snr, mcs: rates.per(mcs, snr)),
    "per_at_lowest": _of_rates(_per_at_lowest),
    "lowest_snr_db": _of_rates(lambda _rates, channel, _mcs: channel.support_db[0]),
    "least_snr_db": _of_rates(_least_snr_db),
    "snr_db": _of_rates(_snr_db),
    # T_M or T_W at a threshold; the arguments are those of `Adaptation.at`.
    "normalised": _of_adaptation(lambda found, axes, of, *a: found.at(of, axes["th_per"], *a)),
    "peak_value": _of_adaptation(lambda *of: max(_over_thresholds(*of))[0]),
    "peak_at": _of_adaptation(lambda *of: max(_over_thresholds(*of))[1]),
    "mean_from": _of_adaptation(_mean_from),
    "mean_at": _of_adaptation(_at),
    "table6": _of_adaptation(lambda found, axes: found.entry(*_entry(axes))),
    "printed6": of_point(_printed_entry),
}
"""Measures of a point that formulas can use."""

CLAIMS: Final = Claims(QAWLA, SWEEPS, NAMED)
