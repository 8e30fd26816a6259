"""The sample of §6 that is simulated: traffic scenarios, SNRs, and the link of each policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.qawla.data import TRAFFIC, Traffic
from airpath_papers.qawla.error_rates import Channel
from airpath_papers.qawla.link_adaptation import (
    OPTIMUM_PAIRS,
    PAIRS,
    POLICIES,
    Adaptation,
    Adaptations,
    Pair,
)

__all__ = [
    "OPTIMUM",
    "QUANTILES",
    "SAMPLED_TRAFFIC",
    "Adapted",
    "Point",
    "optimum_pair",
    "points_of",
    "sampled_snrs_db",
]

OPTIMUM: Final = "optimum"
"""The name in addition to those of the policies."""

_FLOWS: Final = (1, 4, 16)
_MEAN_RTT0_MS: Final = (1, 10, 40, 100)

SAMPLED_TRAFFIC: Final = tuple(
    Traffic("SF" if flows > 1 and (row + column) % 2 else "SU", flows, mean_rtt0_ms)
    for row, flows in enumerate(_FLOWS)
    for column, mean_rtt0_ms in enumerate(_MEAN_RTT0_MS)
)
"""12 of the 72 traffic scenarios, SU and SF in turn."""

assert all(traffic in TRAFFIC for traffic in SAMPLED_TRAFFIC)

QUANTILES: Final = (1 / 8, 3 / 8, 5 / 8, 7 / 8)
"""Of the weights of the SNRs: each stands for a quarter of them."""


def sampled_snrs_db(channel: Channel) -> list[float]:
    """Return the SNRs of a channel at the quantiles, dB."""
    found, left = [], list(QUANTILES)
    passed = 0.0
    for snr_db, weight in zip(channel.snrs_db(), channel.weights(), strict=True):
        passed += weight
        while left and passed >= left[0]:
            found.append(snr_db)
            left.pop(0)
    return found


class Adapted(NamedTuple):
    """A link with the MCSs that a policy chose: the parameters of `scenarios.adapted_path`."""

    channel: str
    """Key of the channel."""
    snr_db: float
    spacing: str
    flows: int
    mean_rtt0_ms: int
    mcs1: int
    mcs2: int
    boundary: int
    """B, packets; without a meaning when both MCSs are the same."""

    @property
    def point(self) -> SweepPoint:
        """The point of the sweep that is simulated."""
        return SweepPoint.of("adapted_path", **self._asdict())

    @property
    def traffic(self) -> Traffic:
        """The traffic scenario."""
        return Traffic("SF" if self.spacing == "SF" else "SU", self.flows, self.mean_rtt0_ms)


@dataclass(frozen=True)
class Point:
    """One SNR of one channel with one traffic scenario: the cell of each policy."""

    channel: str
    snr_db: float
    traffic: Traffic
    cells: Mapping[str, Adapted]


TIE: Final = 1e-6
"""Relative difference of throughputs that are the same to the model."""


def optimum_pair(adaptation: Adaptation, snr_db: float, traffic: int, boundary: int = 20) -> Pair:
    """Return *optimum* for one B at one SNR for one traffic scenario.

    Where the queue stays in one regime the other makes no difference to the model: of pairs with
    the same throughput the one whose MCSs are the least different, then the fastest.

    Parameters
    ----------
    adaptation : Adaptation
        The channel.
    snr_db : float
        One of its SNRs.
    traffic : int
        Place in `TRAFFIC`.
    boundary : int
        B, packets. Default 20.
    """
    at = adaptation.snrs_db.index(snr_db)
    found = adaptation.throughput_bps[boundary][at, :, traffic]
    throughput = dict(zip(PAIRS, found, strict=True))
    best = max(throughput[pair] for pair in OPTIMUM_PAIRS)
    same = [pair for pair in OPTIMUM_PAIRS if throughput[pair] >= (1 - TIE) * best]
    return max(same, key=lambda pair: (pair[0] - pair[1], pair[0]))


def points_of(found: Adaptations) -> list[Point]:
    """Return the points of all channels, in the order of channels, SNRs and traffic."""
    points = []
    for channel, adaptation in found.items():
        choices = {name: adaptation.choices(policy) for name, policy in POLICIES.items()}
        for snr_db in sampled_snrs_db(adaptation.channel):
            at = adaptation.snrs_db.index(snr_db)
            for traffic in SAMPLED_TRAFFIC:
                place = TRAFFIC.index(traffic)
                pairs = {name: chosen[at] for name, chosen in choices.items()}
                pairs[OPTIMUM] = optimum_pair(adaptation, snr_db, place)
                here = {
                    name: Adapted(channel, snr_db, *traffic, *pair, 20)
                    for name, pair in pairs.items()
                }
                points.append(Point(channel, snr_db, traffic, here))
    return points
