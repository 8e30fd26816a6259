"""The claims of ``claims.toml``: the points and measures that their formulas name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import log, nan
from typing import Any, Final

from airpath.reproduction.claims import Claims, ClaimSpec, PointSet, same
from airpath.reproduction.formulas import Measure, Point, of_point, of_replication
from airpath.reproduction.session import Session
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.adaptation import POLICIES, measured, solved_on
from airpath_papers.qawla.curves import CHANNELS, rates_of
from airpath_papers.qawla.data import (
    AT_BOUNDARY,
    BOUNDARIES,
    ELSEWHERE,
    FIG5_IDX,
    FIG6_B,
    mcs_table,
    published,
    published_entry,
    published_table,
)
from airpath_papers.qawla.error_rates import Channel, ErrorRates
from airpath_papers.qawla.link_adaptation import Adaptation
from airpath_papers.qawla.policies import SYMBOLS
from airpath_papers.qawla.queue_lengths import (
    ip_throughput_mbps,
    queue_distribution,
    queue_probability,
)
from airpath_papers.qawla.thresholds import OVER_RATINGS_DB, TH_PER, Curve

__all__ = ["CLAIMS"]

# --- points ------------------------------------------------------------------------------------


def _named(spec: ClaimSpec) -> list[Point]:
    """Return the scenarios at B = 10, those that a claim names apart."""
    return [
        Point({"idx": idx, "of": "named" if idx in spec["idx"] else "others"}, (idx, 10))
        for idx in published_table(10)
    ]


POINTS: Final[Mapping[str, PointSet]] = {
    "fig5": same(Point({"B": b}, (FIG5_IDX, b)) for b in sorted(BOUNDARIES)),
    "fig6": same(
        Point({"idx": idx, "at_boundary": idx in AT_BOUNDARY}, (idx, FIG6_B))
        for idx in (*AT_BOUNDARY, *ELSEWHERE)
    ),
    "table3": _named,
    "tables": same(
        Point({"B": b, "idx": idx}, (idx, b)) for b in BOUNDARIES for idx in published_table(b)
    ),
    "channels": same(
        Point({"channel": key, "mcs": mcs}, (key, mcs)) for key in CHANNELS for mcs in mcs_table()
    ),
    "snrs": same(
        Point({"channel": key, "snr_db": snr}, (key, snr))
        for key, channel in CHANNELS.items()
        for snr in channel.grid()
    ),
    "thresholds": same(
        Point({"channel": key, "th_per": th}, (key, number))
        for key in CHANNELS
        for number, th in enumerate(TH_PER)
    ),
    "over-rated": same(
        Point({"channel": key, "policy": policy, "over_rating_db": db}, (key, policy, db))
        for key in CHANNELS
        for policy in ("QAWLA", "TAGLA")
        for db in OVER_RATINGS_DB
    ),
    "table6": same(
        Point({"channel": key, "of": symbol, "place": place}, (place, key, measure))
        for key in CHANNELS
        for measure, symbol in SYMBOLS.items()
        for place in range(len(POLICIES))
    ),
}

# --- the queue, model and simulation -----------------------------------------------------------


def _mode(session: Session, cell: Any) -> float:
    found = queue_distribution(session, cell)
    assert found is not None, "it is simulated"
    return found.mode


def _upper(session: Session, cell: Any) -> float:
    """Return the upper end of the simulation's interval, or its mean where there is none."""
    found = session.estimate(cell, ip_throughput_mbps)
    assert found is not None, "it is simulated"
    return found.high if found.reps > 1 else found.mean


def _printed_difference(_session: Session, cell: Any) -> float:
    row = published(*cell)
    return row.analysis_mbps / row.ns3_mbps - 1


# --- error rates (Figs. 2 and 3) ---------------------------------------------------------------


def _of_rates(compute: Callable[..., float | None]) -> Measure:
    """Return a measure of a channel and its error rates; NaN where there is none."""

    def of(session: Session, cell: tuple[str, Any], *more: Any) -> float:
        key, place = cell
        found = compute(rates_of(session)[key], CHANNELS[key], place, *more)
        return nan if found is None else found

    return of_point(of, is_random=True)


def _least_snr_db(rates: ErrorRates, channel: Channel, mcs: int, highest: float) -> float | None:
    """Return the lowest SNR of the grid at which an MCS has a PER below the highest, dB."""
    curve = zip(channel.grid(), rates.pers(mcs, channel.grid()), strict=True)
    return next((snr for snr, per in curve if per < highest), None)


def _snr_of(rates: ErrorRates, channel: Channel, mcs: int, per: float) -> float | None:
    """Return where a curve crosses a PER, ln PER linear in dB; None when it does not."""
    curve = list(zip(channel.grid(), rates.pers(mcs, channel.grid()), strict=True))
    for (low, above), (high, below) in pairwise(curve):
        if below <= per < above:
            # A point without errors: half an error.
            floor = 0.5 * rates.blocks(mcs) / rates.count_from(mcs, high).blocks
            share = log(above / per) / log(above / max(below, floor))
            return low + share * (high - low)
    return None


# --- link adaptation (Figs. 7 to 12, Table 6) --------------------------------------------------


def _of_adaptation(compute: Callable[..., float]) -> Measure:
    """Return a measure of a cell that begins with its channel."""

    def of(session: Session, cell: tuple[Any, ...], *more: Any) -> float:
        channel, *place = cell
        return compute(solved_on(session)[channel], *place, *more)

    return of_point(of, is_random=True)


def _throughput(found: Adaptation, number: int, *curve: Any) -> float:
    """Return T_M or T_W of a policy at a threshold; `curve` are the fields of `Curve`."""
    return found.swept(Curve(*curve).sweep)[number]


def _over_rated(policy: str, db: int, worst: bool = False) -> Any:
    return Curve(policy, over_rating_db=db, worst=worst).sweep


def _table6(session: Session, cell: tuple[int, str, str]) -> float:
    place, channel, measure = cell
    return measured(solved_on(session), POLICIES[place], channel, measure)


def _printed6(_session: Session, cell: tuple[int, str, str]) -> float:
    place, channel, measure = cell
    return published_entry(POLICIES[place].name, channel, measure)


CLAIMS: Final = Claims(
    QAWLA,
    POINTS,
    {
        "throughput": of_replication(ip_throughput_mbps),
        "throughput_upper": of_point(_upper, is_simulated=True),
        "queue_share": of_replication(queue_probability, has_arguments=True),
        "likeliest": of_point(_mode, is_simulated=True),
        "solved": of_point(lambda session, cell: session.solution(cell).throughput_bps / 1e6),
        "printed_difference": of_point(_printed_difference),
        "per": _of_rates(lambda rates, _channel, snr, mcs: rates.per(mcs, snr)),
        "per_at_lowest": _of_rates(
            lambda rates, channel, mcs, steps: rates.per(
                mcs, channel.support_db[0] - steps * channel.grid_db[2]
            )
        ),
        "lowest_snr_db": _of_rates(lambda _rates, channel, _mcs: channel.support_db[0]),
        "least_snr_db": _of_rates(_least_snr_db),
        "snr_db": _of_rates(_snr_of),
        "normalised": _of_adaptation(_throughput),
        "peak_value": _of_adaptation(lambda found, *of: _over_rated(*of).peak(found)[1]),
        "peak_at": _of_adaptation(lambda found, *of: _over_rated(*of).peak(found)[0]),
        "mean_from": _of_adaptation(
            lambda found, policy, db, least: _over_rated(policy, db).average(found, least)
        ),
        "mean_at": _of_adaptation(
            lambda found, policy, db, th: found.mean(Curve(policy).at(th), db)
        ),
        "table6": of_point(_table6, is_random=True),
        "printed6": of_point(_printed6),
    },
)
