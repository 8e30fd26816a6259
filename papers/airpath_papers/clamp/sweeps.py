"""The sweeps of the knobs: a of CLAMP, the buffer of New Reno (clamp-2008 §5.4, §5.9).

Their values were chosen so that neighbouring mean queueing delays differ by a factor of 1.4 at
most. One pair does not: at 1.44 Mbit/s and 10 m/s New Reno's buffers of two and of three packets
give 48 and 104 ms, and there is nothing between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from airpath_papers.clamp.measures import DELAYS
from airpath_papers.clamp.scenarios import Case
from airpath_papers.clamp.tradeoff import Tradeoff

__all__ = ["FEWER", "KNOBS", "NAMES", "fewer", "sweep", "tradeoff"]

KNOBS: Final[Mapping[tuple[bool, bool], tuple[int, ...]]] = {
    (True, False): (
        *(3000, 4200, 6000, 8500, 12_000, 17_000, 24_000),
        *(34_000, 48_000, 68_000, 100_000, 150_000, 250_000),
    ),
    (False, False): (
        *(9000, 12_000, 15_000, 20_000, 26_000, 34_000),
        *(44_000, 58_000, 76_000, 100_000, 130_000),
    ),
    (True, True): (
        *(0, 1000, 1500, 2000, 2800, 3900, 5300),
        *(7300, 10_000, 13_800, 19_000, 25_000),
    ),
    (False, True): (3000, 4500, 6000, 7500, 9000, 12_000, 15_000, 20_000, 26_000, 34_000),
}
"""Bytes, by (CLAMP, 1.44 Mbit/s)."""

NAMES: Final = {True: "CLAMP", False: "New Reno"}
"""What each is called, by whether it is CLAMP."""


def sweep(fast: bool, clamp: bool, low_rate: bool = False, variant: str = "") -> list[Case]:
    """Return the cases of a sweep, in the order of the knob."""
    knobs = KNOBS[clamp, low_rate]
    return [Case(fast, low_rate, clamp, knob, variant) for knob in knobs]


FEWER: Final = {
    (False, True): slice(2, 10, 2),
    (True, True): slice(0, 9, 2),
    (False, False): slice(1, 9, 2),
}
"""The knobs of variants, by (fast, CLAMP): every second around the delays of the claims."""


def fewer(fast: bool, clamp: bool, variant: str) -> list[Case]:
    """Return the cases of a variant's sweep at 10 Mbit/s, in the order of the knob."""
    return sweep(fast, clamp, variant=variant)[FEWER[fast, clamp]]


def tradeoff(fast: bool, clamp: bool, low_rate: bool = False, delay: str = "end") -> Tradeoff:
    """Return a sweep, placed by the mean queueing delay of a definition in `DELAYS`, s."""
    return Tradeoff(sweep(fast, clamp, low_rate), DELAYS[delay])
