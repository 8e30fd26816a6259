"""Random links with three regimes; the paper has two.

The generalised model is compared with simulation on these links. Their parameters are sampled from
the ranges of the paper. A fixed sequence of random numbers gives the same links on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeVar

from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.qawla.data import (
    FLOWS,
    MEAN_RTT0_MS,
    Traffic,
    inputs,
    link_rate_bps,
    mcs_table,
)
from airpath_papers.qawla.scenarios import LINK_DELAY_NS

from .explain import Path as ModelPath

__all__ = [
    "LINKS",
    "LINK_SEED",
    "RandomLink",
    "draw",
    "link_of",
    "model_path",
    "random_link",
]

LINKS: Final = 50
"""Number of links in the item `three_regimes`."""

LINK_SEED: Final = 1
"""Seed of the sampled links; not the seed of the simulation. It is the first value tried."""

REGIMES: Final = 3
LOWEST_PER: Final = 1e-5
HIGHEST_PER: Final = 0.3
"""Range of packet error rates: Table 2 has 8.4e-6 to 0.295, apart from 0."""
THRESHOLDS: Final = range(5, 41)
"""Range of thresholds, packets. The paper has 10, 20, 30 (§5) and 40 (§6)."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class RandomLink:
    """A random link with its traffic.

    Parameters
    ----------
    number : int
        Number of the link, from 1.
    flows : int
        Number of flows N.
    mean_rtt0_ms : int
        Mean F of the flows' fixed round-trip times, spaced as in SU(N, F), ms.
    rates_mbps : tuple of float
        Rates r_1 < r_2 < r_3, Mbit/s.
    pers : tuple of float
        Packet error rates PER_1 <= PER_2 <= PER_3, in [0, 1].
    thresholds : tuple of int
        Thresholds B_1 < B_2, packets.
    """

    number: int
    flows: int
    mean_rtt0_ms: int
    rates_mbps: tuple[float, ...]
    pers: tuple[float, ...]
    thresholds: tuple[int, ...]

    @property
    def traffic(self) -> str:
        """Name of the traffic in the paper."""
        return f"SU({self.flows},{self.mean_rtt0_ms})"


def draw(count: int, seed: int) -> list[RandomLink]:
    """Sample independent random links.

    Rates: three different link rates of the seven in Table 1, ascending. Error rates: log-uniform,
    ascending, three digits. Thresholds: two different values, uniform. N and F: uniform over the
    paper's values.

    Parameters
    ----------
    count : int
        Number of links, from 0.
    seed : int
        Seed of the random numbers, from 0.
    """
    # Use only random(): Python guarantees that its sequence does not change.
    uniform = random.Random(seed).random

    def pick(values: Sequence[_T]) -> _T:
        return values[int(uniform() * len(values))]

    def sample(values: Sequence[_T], size: int) -> list[_T]:
        left = list(values)
        return [left.pop(int(uniform() * len(left))) for _ in range(size)]

    rates = sorted({link_rate_bps(mcs) / 1e6 for mcs in mcs_table().values()})
    decades = HIGHEST_PER / LOWEST_PER
    links = []
    for number in range(1, count + 1):
        drawn_rates = sorted(sample(rates, REGIMES))
        pers = sorted(LOWEST_PER * decades ** uniform() for _ in range(REGIMES))
        thresholds = sorted(sample(THRESHOLDS, REGIMES - 1))
        links.append(
            RandomLink(
                number,
                flows=pick(FLOWS),
                mean_rtt0_ms=pick(MEAN_RTT0_MS),
                rates_mbps=tuple(drawn_rates),
                pers=tuple(float(f"{per:.3g}") for per in pers),
                thresholds=tuple(thresholds),
            )
        )
    return links


@cache
def _links() -> tuple[RandomLink, ...]:
    return tuple(draw(LINKS, LINK_SEED))


def random_link(number: int) -> RandomLink:
    """Return a link by number, from 1."""
    return _links()[number - 1]


def link_of(cell: SweepPoint) -> RandomLink:
    """Return the link of a cell; a link of the paper is converted to a `RandomLink`."""
    if "link" in cell.axes:
        return random_link(cell.axes["link"])
    case, boundaries = inputs()[cell.axes["idx"]], (cell.axes["B"],)
    return RandomLink(case.idx, case.flows, case.mean_rtt0_ms, case.rate_mbps, case.per, boundaries)


def model_path(link: RandomLink) -> ModelPath:
    """Return the input of the model for a link."""
    rtt0_ns = Traffic("SU", link.flows, link.mean_rtt0_ms).rtt0_ns()
    base = [float(rtt + 2 * LINK_DELAY_NS) * 1e-9 for rtt in rtt0_ns]
    return ModelPath.of(link.rates_mbps, link.pers, link.thresholds, base)
