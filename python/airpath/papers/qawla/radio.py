"""The two radio channels of §4 and §6: their SNRs, the weights of these, and the error rates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from math import erf, sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from airpath.papers.qawla.data import PACKET_BYTES, mcs_table

if TYPE_CHECKING:
    from airpath.phy import PerTable

__all__ = ["AWGN", "CHANNELS", "ITU_A", "Channel", "Count", "ErrorRates", "wilson"]


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
        Lowest and highest SNR of the curves (§4), and their distance, dB.
    support_db : tuple of float
        Lowest and highest SNR that is averaged over (§6), dB.
    mean_db, deviation_db : float
        Of the normal distribution of the SNR (§6), dB.
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


AWGN: Final = Channel("awgn", "AWGN", "802.16-ctc-awgn", (0, 22, 0.5), (2, 22), 12)
ITU_A: Final = Channel("itu-a", "ITU-A", "802.16-ctc-vehicular-a", (0, 40, 2), (14, 40), 26)

CHANNELS: Final = {channel.key: channel for channel in (AWGN, ITU_A)}
"""By the key that Table 6 uses."""


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
        Share of packets in error by Eq. 23, and the ends of its 99 % Wilson interval.
    """

    snr_db: float
    errors: int
    blocks: int
    per: float
    low: float
    high: float


class ErrorRates:
    """Error rates of the MCSs of Table 1 at the SNRs of a grid, as they were counted.

    Parameters
    ----------
    table : PerTable
        With eight curves.
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

    @property
    def command(self) -> str:
        """What made them."""
        return str(self.document["provenance"]["command"])

    @cached_property
    def text(self) -> str:
        """The table as in its file."""
        return json.dumps(self.document)

    def counts(self, mcs: int) -> list[Count]:
        """Return the points of an MCS by rising SNR; the last is the first without an error."""
        blocks = mcs_table()[mcs].blocks(PACKET_BYTES)

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

    def fer(self, mcs: int, snr_db: float) -> float:
        """Return the share of FEC blocks in error."""
        return self._table.fer(mcs, snr_db)


Z_99: Final = 2.5758293035489004
"""Standard deviations to either side of a 99 % interval."""


def wilson(errors: int, trials: int) -> tuple[float, float]:
    """Return the 99 % Wilson interval of an error rate."""
    from airpath import _airpath

    return _airpath.wilson_interval(errors, trials, Z_99)
