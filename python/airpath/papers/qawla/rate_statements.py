"""What the paper's text says about its error rates (§4, §6), checked on those that we ship.

README.md has the criteria in a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log
from typing import Final

from airpath.papers.kit.base import Statement
from airpath.papers.qawla.data import PACKET_BYTES, mcs_table
from airpath.papers.qawla.radio import AWGN, CHANNELS, ITU_A, Channel, ErrorRates

__all__ = [
    "HIGHEST_PER",
    "least_snr",
    "least_snr_db",
    "mcs3_mcs4",
    "per_channel",
    "steepness",
    "support",
]


def per_channel(numbers: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a line for each channel, given by its key."""
    return [f"{CHANNELS[key].name}: {', '.join(each)}" for key, each in numbers.items()]


HIGHEST_PER: Final = 0.1
"""Of mcs0 at the lowest SNR."""


def support(key: str) -> Statement:
    """Check §6 on the lowest SNRs, from above."""
    measured, values, holds = [], {}, True
    for channel in CHANNELS.values():
        rates, lowest, step = ErrorRates.of(channel), channel.support_db[0], channel.grid_db[2]
        at, below = rates.per(0, lowest), rates.per(0, lowest - step)
        holds = holds and at < HIGHEST_PER
        measured.append(
            f"{channel.name}: {at:.3g} at {lowest:g} dB, {below:.3g} at {lowest - step:g} dB"
        )
        values[channel.key] = {"per": at, "one_step_below": below}
    return Statement(
        key,
        "The SNRs that are averaged over begin where mcs0 has a PER below 0.1 (§6).",
        f"mcs0 has a PER below {HIGHEST_PER:g} at 2 dB on AWGN and at 14 dB on ITU-A.",
        holds,
        measured,
        values,
    )


def least_snr_db(rates: ErrorRates, channel: Channel) -> float | None:
    """Return the lowest SNR of the grid at which mcs0 has a PER below 0.1, dB."""
    return next((snr for snr in channel.grid() if rates.per(0, snr) < HIGHEST_PER), None)


def least_snr(key: str) -> Statement:
    """Check §6 on where averaging begins, from both sides."""
    found = {
        channel.key: least_snr_db(ErrorRates.of(channel), channel) for channel in CHANNELS.values()
    }
    return Statement(
        key,
        "The SNRs that are averaged over begin where mcs0's PER comes below 0.1 (§6).",
        f"The lowest SNR of the grid at which mcs0 has a PER below {HIGHEST_PER:g} is 2 dB on AWGN "
        "and 14 dB on ITU-A.",
        all(found[channel.key] == channel.support_db[0] for channel in CHANNELS.values()),
        [
            f"{channel.name}: "
            + ("nowhere" if found[channel.key] is None else f"{found[channel.key]:g} dB")
            for channel in CHANNELS.values()
        ],
        found,
    )


COMPARED_PER: Final = (1e-5, 0.9)
"""Of the larger of two PERs that are compared."""


def mcs3_mcs4(key: str) -> Statement:
    """Check §4 on the two schemes with one rate."""
    measured, values, holds = [], {}, True
    for channel, better in ((AWGN, 3), (ITU_A, 4)):
        rates, worse = ErrorRates.of(channel), 7 - better
        pairs = {
            snr_db: (rates.per(better, snr_db), rates.per(worse, snr_db))
            for snr_db in channel.grid()
        }
        low, high = COMPARED_PER
        compared = {snr: pair for snr, pair in pairs.items() if low <= max(pair) <= high}
        right = [snr for snr, pair in compared.items() if pair[0] < pair[1]]
        holds = holds and bool(compared) and len(right) == len(compared)
        listed = "; ".join(
            f"{snr:g} dB {pair[0]:.2g} and {pair[1]:.2g}" for snr, pair in compared.items()
        )
        measured.append(
            f"{channel.name}: mcs{better} has the lower PER at {len(right)} of {len(compared)} "
            f"SNRs: mcs{better} and mcs{worse} {listed}"
        )
        values[channel.key] = {"compared": len(compared), "as_said": len(right)}
    return Statement(
        key,
        "mcs3 and mcs4, with the same rate, change places between the channels (§4).",
        f"Wherever the larger PER of the two is between {low:g} and {high:g}, mcs3 has the lower "
        "one on AWGN and mcs4 on ITU-A.",
        holds,
        measured,
        values,
    )


STEEP_PER: Final = (0.1, 0.001)


def _snr_of(rates: ErrorRates, channel: Channel, mcs: int, per: float) -> float | None:
    """Return where a curve crosses a PER, ln PER linear in dB; None when it does not."""
    grid = channel.grid()
    for low, high in pairwise(grid):
        above, below = rates.per(mcs, low), rates.per(mcs, high)
        if below <= per < above:
            # A point without errors: half an error.
            floor = 0.5 * mcs_table()[mcs].blocks(PACKET_BYTES) / rates.count_from(mcs, high).blocks
            share = log(above / per) / log(above / max(below, floor))
            return low + share * (high - low)
    return None


def _span(channel: Channel, mcs: int) -> float | None:
    """Return how many dB are between two PERs."""
    high, low = (_snr_of(ErrorRates.of(channel), channel, mcs, per) for per in STEEP_PER)
    return None if high is None or low is None else low - high


def steepness(key: str) -> Statement:
    """Check §6 on the slopes of the curves."""
    spans = {
        channel.key: [_span(channel, mcs) for mcs in mcs_table()] for channel in CHANNELS.values()
    }
    holds = all(
        steep is not None and flat is not None and steep < flat
        for steep, flat in zip(spans[AWGN.key], spans[ITU_A.key], strict=True)
    )
    return Statement(
        key,
        "The error-rate curves are steeper on AWGN than on ITU-A (§6).",
        f"For every MCS the SNRs of PER {STEEP_PER[0]:g} and {STEEP_PER[1]:g} are closer on AWGN.",
        holds,
        per_channel(
            {
                channel: [
                    f"mcs{mcs} " + ("not crossed" if span is None else f"{span:.2f} dB")
                    for mcs, span in enumerate(each)
                ]
                for channel, each in spans.items()
            }
        ),
        spans,
    )
