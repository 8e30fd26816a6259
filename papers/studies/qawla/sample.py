"""Simulated sample of §6: traffic scenarios, SNRs, and the link of each policy."""

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
"""Name of *optimum*, in addition to the names of the policies."""

_FLOWS: Final = (1, 4, 16)
_MEAN_RTT0_MS: Final = (1, 10, 40, 100)

SAMPLED_TRAFFIC: Final = tuple(
    Traffic("SF" if flows > 1 and (row + column) % 2 else "SU", flows, mean_rtt0_ms)
    for row, flows in enumerate(_FLOWS)
    for column, mean_rtt0_ms in enumerate(_MEAN_RTT0_MS)
)
"""12 of the 72 traffic scenarios, alternating between SU and SF."""

assert all(traffic in TRAFFIC for traffic in SAMPLED_TRAFFIC)

QUANTILES: Final = (1 / 8, 3 / 8, 5 / 8, 7 / 8)
"""Quantiles of the SNR weights: each represents a quarter of the weight."""


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
    """A link with the MCSs that a policy chose; the fields are parameters of `adapted_path`."""

    channel: str
    """Key of the channel."""
    snr_db: float
    spacing: str
    flows: int
    mean_rtt0_ms: int
    mcs1: int
    mcs2: int
    boundary: int
    """Boundary B, packets; not used if both MCSs are equal."""

    @property
    def point(self) -> SweepPoint:
        """Simulated point of the sweep."""
        return SweepPoint.of("adapted_path", **self._asdict())

    @property
    def traffic(self) -> Traffic:
        """Traffic scenario."""
        return Traffic("SF" if self.spacing == "SF" else "SU", self.flows, self.mean_rtt0_ms)


@dataclass(frozen=True)
class Point:
    """One channel, SNR and traffic scenario, with the cell of each policy."""

    channel: str
    snr_db: float
    traffic: Traffic
    cells: Mapping[str, Adapted]


TIE: Final = 1e-6
"""Relative difference up to which the model's throughputs are treated as equal."""


def optimum_pair(adaptation: Adaptation, snr_db: float, traffic: int, boundary: int = 20) -> Pair:
    """Return the pair of *optimum* for one B, SNR and traffic scenario.

    If the queue stays in one regime, the other regime has no effect in the model. Of pairs with
    equal throughput, the pair with the smallest difference of MCSs is returned, then the fastest.

    Parameters
    ----------
    adaptation : Adaptation
        Adaptation on the channel.
    snr_db : float
        SNR of the channel, dB.
    traffic : int
        Index in `TRAFFIC`.
    boundary : int
        Boundary B, packets. Default 20.
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
