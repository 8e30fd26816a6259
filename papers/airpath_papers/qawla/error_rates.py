"""Counted error rates: curves over the SNR with their intervals, and printed rates beside them.

The counts are those of the error-rate tables that come with Airpath (`airpath phy per` makes them);
an SNR distribution says how much each SNR weighs where something is averaged over them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import ceil, erf, exp, lgamma, log, log1p, sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from airpath.reproduction.tolerance import Tolerance

if TYPE_CHECKING:
    from airpath.phy import PerTable

__all__ = [
    "Channel",
    "Count",
    "ErrorRates",
    "PrintedRate",
    "binomial",
    "poisson_test",
    "wilson",
]

PACKET_BYTES: Final = 1500
"""Of the packets of packet error rates."""


# --- channels ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Channel:
    """A channel and the distribution of its mean SNR.

    Parameters
    ----------
    key, name : str
        In rows and in texts.
    table : str
        Which error rates, of those that come with Airpath.
    grid_db : tuple of float
        Lowest and highest SNR of the curves, and their distance, dB.
    support_db : tuple of float
        Lowest and highest SNR that is averaged over, dB.
    mean_db, deviation_db : float
        Of the normal distribution of the SNR, dB.
    """

    key: str
    name: str
    table: str
    grid_db: tuple[float, float, float]
    support_db: tuple[float, float]
    mean_db: float
    deviation_db: float = 8.0

    def grid(self) -> list[float]:
        """Return the SNRs of the curves, dB."""
        return _steps(self.grid_db[0], self.grid_db[1], self.grid_db[2])

    def snrs_db(self) -> list[float]:
        """Return the SNRs that are averaged over, dB."""
        return _steps(*self.support_db, self.grid_db[2])

    def weights(self) -> NDArray[np.float64]:
        """Return the weight of each of them: the probability of its cell, over their sum."""
        half = self.grid_db[2] / 2
        cells = [self.below(snr + half) - self.below(snr - half) for snr in self.snrs_db()]
        return np.array(cells) / sum(cells)

    def below(self, snr_db: float) -> float:
        """Return the probability of an SNR below `snr_db`."""
        return (1 + erf((snr_db - self.mean_db) / (self.deviation_db * sqrt(2)))) / 2


def _steps(low: float, high: float, step: float) -> list[float]:
    return [low + step * place for place in range(round((high - low) / step) + 1)]


# --- counts ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Count:
    """What was counted of one MCS at one SNR.

    Parameters
    ----------
    snr_db : float
        dB.
    errors, blocks : int
        FEC blocks in error, and all.
    per, low, high : float
        Share of packets in error when blocks fail independently of each other, and the ends of its
        99 % Wilson interval.
    """

    snr_db: float
    errors: int
    blocks: int
    per: float
    low: float
    high: float


class ErrorRates:
    """Error rates of modulation and coding schemes at the SNRs of a grid, as they were counted.

    Parameters
    ----------
    table : PerTable
        With a curve for each MCS.
    """

    def __init__(self, table: PerTable) -> None:
        self._table = table
        self.document: Mapping[str, Any] = table.document

    @staticmethod
    @cache
    def of(channel: Channel) -> ErrorRates:
        """Return those that come with Airpath."""
        from airpath import phy

        return ErrorRates(phy.load(f"airpath:{channel.table}"))

    @staticmethod
    def read(document: Mapping[str, Any]) -> ErrorRates:
        """Return those of a table's content."""
        from airpath.phy.tables import parse

        return ErrorRates(parse(json.dumps(document), "changed"))

    def resampled(self, uniform: Callable[[], float]) -> ErrorRates:
        """Return error rates of which every point is counted again (parametric bootstrap).

        Its errors are drawn from the binomial distribution with the counted share; a point without
        an error stays so.

        Parameters
        ----------
        uniform : callable
            Returns the next random number in [0, 1).
        """
        table = json.loads(self.text)
        for curve in table["curves"]:
            for point in curve["points"]:
                blocks = point["blocks"]
                point["errors"] = binomial(uniform(), blocks, point["errors"] / blocks)
        return ErrorRates.read(table)

    @property
    def command(self) -> str:
        """What made them."""
        return str(self.document["provenance"]["command"])

    @cached_property
    def text(self) -> str:
        """The table as in its file."""
        return json.dumps(self.document)

    def blocks(self, mcs: int) -> int:
        """Return how many FEC blocks a packet takes."""
        block_bytes: int = self.document["curves"][mcs]["mcs"]["block_bytes"]
        return ceil(PACKET_BYTES / block_bytes)

    def counts(self, mcs: int) -> list[Count]:
        """Return the points of an MCS by rising SNR; the last is the first without an error."""
        blocks = self.blocks(mcs)

        def count(point: Mapping[str, Any]) -> Count:
            share = point["errors"] / point["blocks"]
            ends = wilson(point["errors"], point["blocks"])
            rates = (1 - (1 - fer) ** blocks for fer in (share, *ends))
            return Count(point["snr_db"], point["errors"], point["blocks"], *rates)

        return [count(point) for point in self.document["curves"][mcs]["points"]]

    def count(self, mcs: int, snr_db: float) -> Count | None:
        """Return what was counted at an SNR; None where the curve has no point."""
        found = (count for count in self.counts(mcs) if count.snr_db == snr_db)
        return next(found, None)

    def count_from(self, mcs: int, snr_db: float) -> Count:
        """Return what was counted at an SNR, or else at the last one below it."""
        return [count for count in self.counts(mcs) if count.snr_db <= snr_db][-1]

    def per(self, mcs: int, snr_db: float) -> float:
        """Return the share of packets in error."""
        return self._table.per(mcs, snr_db, PACKET_BYTES)

    def pers(self, mcs: int, snrs_db: Sequence[float]) -> list[float]:
        """Return the share of packets in error at each SNR."""
        found: list[float] = np.asarray(self._table.per(mcs, snrs_db, PACKET_BYTES)).tolist()
        return found

    def fer(self, mcs: int, snr_db: float) -> float:
        """Return the share of FEC blocks in error."""
        return self._table.fer(mcs, snr_db)


Z_99: Final = 2.5758293035489004
"""Standard deviations to either side of a 99 % interval."""


def wilson(errors: int, trials: int) -> tuple[float, float]:
    """Return the 99 % Wilson interval of an error rate."""
    from airpath import _airpath

    return _airpath.wilson_interval(errors, trials, Z_99)


def binomial(uniform: float, trials: int, probability: float) -> int:
    """Return the quantile of a binomial distribution.

    Parameters
    ----------
    uniform : float
        Which one, in [0, 1).
    trials : int
        From 1.
    probability : float
        Of each, in [0, 1].
    """
    if probability in (0, 1):
        return round(trials * probability)
    mean = trials * probability
    # What is further out than this has a probability below 1e-15.
    reach = 10 + 10 * sqrt(mean * (1 - probability))
    counts = np.arange(max(0, int(mean - reach)), min(trials, int(mean + reach)) + 1)
    # ln of P(k + 1) / P(k).
    steps = np.log((trials - counts[:-1]) / counts[1:]) + log(probability / (1 - probability))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    below = np.cumsum(np.exp(logs - logs.max()))
    return int(counts[np.searchsorted(below, uniform * below[-1], side="right")])


# --- printed rates beside them -----------------------------------------------------------------


@dataclass(frozen=True)
class PrintedRate:
    """A printed packet error rate beside ours.

    It is compared by the ratio when the paper counted many errors, else by a test of the counts.

    Parameters
    ----------
    mcs : int
        Which scheme.
    snr_db : int
        At which SNR, dB.
    published : float
        The printed PER.
    published_errors, published_blocks : int
        Errors of the paper, from the printed PER, and of how many FEC blocks.
    count : Count
        What was counted here.
    ratio : Tolerance
        Of the ratio, with a `relative` part.
    common : bool
        Whether it is compared by the ratio.
    level : float
        Of the test of rarer ones, in (0, 1).
    """

    mcs: int
    snr_db: int
    published: float
    published_errors: int
    published_blocks: int
    count: Count
    ratio: Tolerance
    common: bool
    level: float

    @classmethod
    def beside(
        cls,
        rates: ErrorRates,
        mcs: int,
        snr_db: int,
        published: float,
        *,
        blocks: int,
        common_from: int,
        ratio: Tolerance,
        level: float,
    ) -> PrintedRate:
        """Return a printed PER beside what was counted.

        Parameters
        ----------
        rates : ErrorRates
            What was counted.
        mcs, snr_db, published : int, int, float
            What is printed.
        blocks : int
            FEC blocks that the paper decoded at each point.
        common_from : int
            Errors of the paper from which on rates are compared by the ratio.
        ratio, level : Tolerance, float
            As above.
        """
        fer = 1 - (1 - published) ** (1 / rates.blocks(mcs))
        errors = round(fer * blocks)
        count = rates.count_from(mcs, snr_db)
        about = (mcs, snr_db, published, errors, blocks, count, ratio)
        return cls(*about, errors >= common_from, level)

    @property
    def ours(self) -> float:
        """Our PER."""
        return self.count.per

    @property
    def p_value(self) -> float | None:
        """Probability of counts that differ as much when both error rates are the same.

        None where they are compared by the ratio.
        """
        if self.common:
            return None
        ours = (self.count.errors, self.count.blocks)
        return poisson_test((self.published_errors, self.published_blocks), ours)

    @property
    def within(self) -> bool:
        """Whether it is near enough."""
        if self.p_value is None:
            return abs(self.ours / self.published - 1) <= self.ratio.relative
        return self.p_value >= self.level

    @property
    def tolerance(self) -> Tolerance:
        """How it is judged."""
        if self.common:
            return self.ratio
        source = f"exact test of two Poisson counts at {100 * self.level:g} %"
        return Tolerance(source, passed=self.within)


def poisson_test(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the p-value of the exact test that two Poisson counts have one rate.

    Given their sum, the first is binomial. Twice the smaller tail, at most 1.

    Parameters
    ----------
    first, second : tuple of int
        Events, and out of how many.
    """
    events, share = first[0] + second[0], first[1] / (first[1] + second[1])

    def probability(count: int) -> float:
        ways = lgamma(events + 1) - lgamma(count + 1) - lgamma(events - count + 1)
        return exp(ways + count * log(share) + (events - count) * log1p(-share))

    lower = sum(probability(count) for count in range(first[0] + 1))
    upper = sum(probability(count) for count in range(first[0], events + 1))
    return min(1.0, 2 * min(lower, upper))
