"""Figs. 2 and 3, and the error rates of Table 2, from the tables installed with Airpath.

`airpath phy per` made these tables by decoding. In a resample of a session, the errors of every
point are sampled again. This shows the sensitivity of a claim to counting noise.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import exp, lgamma, log, log1p, nan, sqrt
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from airpath import phy
from airpath.reproduction.base import Row
from airpath.reproduction.compare import ColumnSet, percent
from airpath.reproduction.published import PublishedMean
from airpath.reproduction.quantities import PrintedQuantity
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath.reproduction.tolerance import Tolerance
from airpath.results.intervals import Interval
from airpath_papers.qawla.data import PACKET_BYTES, inputs, mcs_table

__all__ = [
    "AWGN",
    "CHANNELS",
    "COMMON_ERRORS",
    "COMMON_LIMIT",
    "CURVES",
    "ITU_A",
    "PUBLISHED_BLOCKS",
    "RARE_LEVEL",
    "Channel",
    "binomial",
    "error_rates",
    "poisson_test",
    "rates_of",
    "resampled",
    "small",
]

# --- channels ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Channel:
    """A channel of §4 with the distribution of its mean SNR (§6).

    Parameters
    ----------
    key, name : str
        Key in rows, and name in texts.
    shipped : str
        Name of the channel's error-rate table that is installed with Airpath.
    grid_db : tuple of float
        Lowest SNR, highest SNR and step of the curves, dB.
    support_db : tuple of float
        Lowest and highest SNR of the averages, dB.
    snr_db : NormalDist
        Distribution of the SNR, dB.
    """

    key: str
    name: str
    shipped: str
    grid_db: tuple[float, float, float]
    support_db: tuple[float, float]
    snr_db: NormalDist

    def table(self) -> phy.PerTable:
        """Return the error rates that are installed with Airpath."""
        return _shipped(self.shipped)

    def grid(self) -> list[float]:
        """Return the SNRs of the curves, dB."""
        return self._steps(*self.grid_db[:2])

    def snrs_db(self) -> list[float]:
        """Return the SNRs of the averages, dB."""
        return self._steps(*self.support_db)

    def _steps(self, low: float, high: float) -> list[float]:
        step = self.grid_db[2]
        return [low + step * place for place in range(round((high - low) / step) + 1)]

    def weights(self) -> NDArray[np.float64]:
        """Return the normalised weight of each SNR: the probability of its cell."""
        half, below = self.grid_db[2] / 2, self.snr_db.cdf
        cells = [below(snr + half) - below(snr - half) for snr in self.snrs_db()]
        return np.array(cells) / sum(cells)


@cache
def _shipped(name: str) -> phy.PerTable:
    return phy.load(f"airpath:{name}")


AWGN: Final = Channel(
    "awgn", "AWGN", "802.16-ctc-awgn", (0, 22, 0.5), (2, 22), NormalDist(12.0, 8.0)
)
ITU_A: Final = Channel(
    "itu-a", "ITU-A", "802.16-ctc-vehicular-a", (0, 40, 2), (14, 40), NormalDist(26.0, 8.0)
)

CHANNELS: Final = {channel.key: channel for channel in (AWGN, ITU_A)}
"""Channels by the key that Table 6 uses."""

# --- counting noise ----------------------------------------------------------------------------


def rates_of(session: Session) -> Mapping[str, phy.PerTable]:
    """Return the error rates of both channels; a resample of the session samples them again."""

    def make() -> Mapping[str, phy.PerTable]:
        counted = {key: channel.table() for key, channel in CHANNELS.items()}
        if session.resample is None:
            return counted
        # Use only random(): Python guarantees that its sequence does not change.
        uniform = random.Random(f"error rates {session.resample}").random
        return {key: resampled(rates, uniform) for key, rates in counted.items()}

    return session.shared("error rates", make)


def resampled(rates: phy.PerTable, uniform: Callable[[], float]) -> phy.PerTable:
    """Return error rates with newly sampled counts at every point (parametric bootstrap).

    The errors are sampled from the binomial distribution with the measured share. A point without
    errors does not change. `uniform` returns the next random number in [0, 1).
    """
    document = json.loads(json.dumps(rates.document))
    for curve in document["curves"]:
        for point in curve["points"]:
            blocks = point["blocks"]
            point["errors"] = binomial(uniform(), blocks, point["errors"] / blocks)
    return phy.PerTable(document, rates.name)


def binomial(uniform: float, trials: int, probability: float) -> int:
    """Return the quantile of a binomial distribution at probability `uniform`, in [0, 1)."""
    if probability in (0, 1):
        return round(trials * probability)
    mean = trials * probability
    # Counts outside this range have a probability below 1e-15.
    reach = 10 + 10 * sqrt(mean * (1 - probability))
    counts = np.arange(max(0, int(mean - reach)), min(trials, int(mean + reach)) + 1)
    # ln(P(k + 1) / P(k)).
    steps = np.log((trials - counts[:-1]) / counts[1:]) + log(probability / (1 - probability))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    below = np.cumsum(np.exp(logs - logs.max()))
    return int(counts[np.searchsorted(below, uniform * below[-1], side="right")])


# --- error rates of Table 2 --------------------------------------------------------------------

PUBLISHED_BLOCKS: Final = 10**7
"""FEC blocks that the paper decoded at each point (§4: a minimum; Table 2 shows this number)."""

COMMON_ERRORS: Final = 200
"""Minimum number of published errors for a comparison of error rates by their ratio."""

COMMON_LIMIT: Final = 0.15
"""Largest tolerated relative difference of such error rates."""

RARE_LEVEL: Final = 0.01
"""Significance level of the test of rarer errors."""


@lru_cache(8)
def _counted(table: phy.PerTable) -> Mapping[tuple[int, float], Mapping[str, Any]]:
    """Return the counts at every point of the curves, by MCS and SNR, dB."""
    points: Any = table.points(PACKET_BYTES, confidence=0.99).to_dict("records")
    return {(int(at["mcs"][3:]), at["snr_db"]): at for at in points}


@cache
def error_rates() -> Mapping[tuple[int, int], Row]:
    """Return every PER of Table 2 with the measured PER, by SNR, dB, and MCS."""
    printed = {
        (case.snr_db, mcs): per
        for case in inputs().values()
        for mcs, per in zip(case.mcs, case.per, strict=True)
    }
    return {place: _error_rate(*place, per) for place, per in sorted(printed.items())}


def _error_rate(snr_db: int, mcs: int, published: float) -> Row:
    # If the curve has no point at this SNR, use the last point below.
    counted = _counted(ITU_A.table())
    here = counted[max(at for at in counted if at[0] == mcs and at[1] <= snr_db)]
    blocks = mcs_table()[mcs].blocks(PACKET_BYTES)
    errors = round((1 - (1 - published) ** (1 / blocks)) * PUBLISHED_BLOCKS)
    p_value, tolerance = None, Tolerance(f"{100 * COMMON_LIMIT:g} % (README)", COMMON_LIMIT)
    if errors < COMMON_ERRORS:
        p_value = poisson_test((errors, PUBLISHED_BLOCKS), (here["errors"], here["blocks"]))
        test = f"exact test of two Poisson counts at {100 * RARE_LEVEL:g} %"
        tolerance = Tolerance(test, passed=p_value >= RARE_LEVEL)
    extra = {
        "channel": ITU_A.key,
        "published_errors": errors,
        "errors": here["errors"],
        "blocks": here["blocks"],
        "p_value": p_value,
    }
    rates = (published, here["per"], None, here["per_low"], here["per_high"])
    return Row({"mcs": mcs, "snr_db": snr_db}, "per", "1", *rates, tolerance, extra)


def poisson_test(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the p-value of the exact test that two Poisson counts have the same rate.

    Given their sum, the first count is binomial. The p-value is twice the smaller tail, at most 1.
    A count is a pair: number of events, number of trials.
    """
    events, share = first[0] + second[0], first[1] / (first[1] + second[1])

    def probability(count: int) -> float:
        ways = lgamma(events + 1) - lgamma(count + 1) - lgamma(events - count + 1)
        return exp(ways + count * log(share) + (events - count) * log1p(-share))

    lower = sum(probability(count) for count in range(first[0] + 1))
    upper = sum(probability(count) for count in range(first[0], events + 1))
    return min(1.0, 2 * min(lower, upper))


def small(probability: float | None) -> str:
    """Return a probability with three digits: ``7.19e-4``; 0 as ``0``."""
    digits, _, exponent = f"{probability or 0.0:.2e}".partition("e")
    return f"{digits}e{int(exponent)}" if probability else "0"


# --- quantities --------------------------------------------------------------------------------


def _at(axes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the counts at a point of a curve; empty if the point was not measured."""
    counted = _counted(CHANNELS[axes["channel"]].table())
    return counted.get((axes["mcs"], axes["snr_db"]), {})


class _Counted:
    """PER at a point of a curve: Eq. 23 with the measured error rate of FEC blocks."""

    name, unit = "per", "1"

    def estimate(self, session: Session, cell: SweepPoint) -> Interval | None:
        """Return the PER with its interval; None if no block failed or nothing was measured."""
        at = _at(cell.axes)
        if not at.get("per"):
            return None
        return Interval(at["per"], at["per_low"], at["per_high"], session.paper.confidence, 1)

    def text(self, _session: Session, cell: SweepPoint) -> str:
        """Return the PER as text; empty if the point was not measured."""
        return small(_at(cell.axes)["per"]) if _at(cell.axes) else ""

    def row(self, _session: Session, cell: SweepPoint, place: Mapping[str, Any]) -> Row:
        """Return the row of the point, without a number if the point was not measured."""
        at = _at(cell.axes)
        extra = {name: at.get(name) for name in ("errors", "blocks")}
        computed = (at.get("per"), None, at.get("per_low"), at.get("per_high"))
        return Row(place, self.name, self.unit, None, *computed, extra=extra)


class _Compared:
    """A PER of Table 2, with the measured PER."""

    def row(
        self, _session: Session, cell: SweepPoint, place: Mapping[str, Any], _published: Any = None
    ) -> Row:
        """Return the row of the PER."""
        return replace(error_rates()[cell.axes["snr_db"], cell.axes["mcs"]], row=place)


def _of_none(axes: Mapping[str, Any]) -> PublishedMean | None:
    """Return the upper end of the interval at a point where no block failed."""
    at = _at(axes)
    return PublishedMean(at["per_high"], nan) if at.get("per") == 0 else None


def _of_table2(axes: Mapping[str, Any]) -> PublishedMean | None:
    """Return a PER of Table 2 above 0."""
    found = error_rates().get((axes["snr_db"], axes["mcs"]))
    return PublishedMean(found.published, nan) if found and found.published else None


def _printed(row: Row) -> str:
    return small(row.published)


def _of_extra(name: str) -> Callable[[Row], str]:
    return lambda row: f"{row.extra[name]:.7g}"


def _p_value(row: Row) -> str:
    return "" if row.extra["p_value"] is None else f"{row.extra['p_value']:.3f}"


CURVES: Final[Mapping[str, Any]] = {
    "per": _Counted(),
    "per_of_none": PrintedQuantity("per_of_none", "1", _of_none),
    "printed_per": PrintedQuantity("printed_per", "1", _of_table2),
    "compared_per": _Compared(),
    "as_printed": ColumnSet("per", "PER", _printed, str, names=("paper",)),
    "both": ColumnSet(
        "per",
        "PER",
        _printed,
        lambda row: small(row.computed),
        percent(1),
        ("paper", "Airpath", "diff %", "within"),
    ),
    "errors": ColumnSet("per", "errors", _of_extra("published_errors"), _of_extra("errors")),
    "blocks": ColumnSet("per", "", _of_extra("blocks"), _p_value, names=("blocks", "p")),
}
"""Quantities and columns of Figs. 2 and 3 and of Table 2."""
