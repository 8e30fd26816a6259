"""Computes packet failure probabilities of the channel model, and the SNRs and codes for them.

Eqs. 1 to 5 and the codes are in `airpath.phy`; this module applies them to the paper's link.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from airpath.phy import ErrorChain, ReedSolomon, symbol_error_rate
from airpath_papers.vcp.scenarios import (
    ACK_BYTES,
    BAD_SNR_OFFSET_DB,
    DATA_BYTES,
    P_BAD_TO_GOOD,
    P_GOOD_TO_BAD,
    antennas_of,
)

__all__ = [
    "block_rate_of",
    "failure",
    "goodput_share",
    "past_db",
    "snr_of",
    "threshold_db",
]

PAST_DATA: Final = 1e-4
PAST_ACK: Final = 0.02
"""Failure probabilities of data and ACKs below which an SNR is past the threshold (claims.toml)."""


@cache
def _chain_of(
    antennas: str,
    snr_db: float,
    p_good_to_bad: float = P_GOOD_TO_BAD,
    p_bad_to_good: float = P_BAD_TO_GOOD,
) -> ErrorChain:
    """Return the error chain of a link: BPSK, with the error rates of the states from Eq. 5."""
    tx, rx = antennas_of(antennas)
    errors = (
        float(symbol_error_rate(snr, "bpsk", tx=tx, rx=rx))
        for snr in (snr_db, snr_db + BAD_SNR_OFFSET_DB)
    )
    return ErrorChain(p_good_to_bad, p_bad_to_good, *errors)


@cache
def failure(
    antennas: str,
    code_rate: float,
    snr_db: float,
    packet_bytes: int = DATA_BYTES,
    symbol_bits: int = 8,
    max_block: int | None = None,
    p_good_to_bad: float = P_GOOD_TO_BAD,
    p_bad_to_good: float = P_BAD_TO_GOOD,
) -> float:
    """Return the failure probability of a packet.

    Parameters
    ----------
    antennas : str
        A value of `ANTENNAS`.
    code_rate : float
        Code rate in (0, 1]; 1: no code.
    snr_db : float
        SNR in the good state, SNR_G, dB.
    packet_bytes : int
        Size of the IP packet.
    symbol_bits : int
        Bits of a code symbol.
    max_block : int, optional
        Maximum number of symbols of a block. Default: one block for a packet.
    p_good_to_bad, p_bad_to_good : float
        Probabilities 1 - γ and 1 - β, for each bit.
    """
    chain = _chain_of(antennas, snr_db, p_good_to_bad, p_bad_to_good)
    if code_rate == 1:
        return float(chain.packet_failure(8 * packet_bytes))
    code = ReedSolomon(code_rate, symbol_bits, max_block)
    return float(chain.coded_failure(packet_bytes, code))


def snr_of(least: float, of_snr: Callable[[float], float]) -> float:
    """Return the SNR, dB, at which a decreasing failure probability is `least`, by bisection."""
    low, high = -40.0, 120.0
    for _ in range(40):
        middle = (low + high) / 2
        if of_snr(middle) > least:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@cache
def threshold_db(
    antennas: str, code_rate: float, least: float, packet_bytes: int = DATA_BYTES
) -> float:
    """Return the SNR_G, dB, at which a packet fails with probability `least`."""
    return snr_of(least, lambda snr: failure(antennas, code_rate, snr, packet_bytes))


@cache
def past_db(antennas: str, code_rate: float) -> float:
    """Return the lowest SNR, dB, above which data and ACKs are past the threshold."""
    data = threshold_db(antennas, code_rate, PAST_DATA)
    return max(data, threshold_db(antennas, code_rate, PAST_ACK, ACK_BYTES))


def goodput_share(antennas: str, code_rate: float, snr_db: float) -> float:
    """Return (k/b)(1 - failure) of a full packet: the useful share of the link's rate."""
    share = 1.0 if code_rate == 1 else DATA_BYTES / ReedSolomon(code_rate).on_air(DATA_BYTES)
    return share * (1 - failure(antennas, code_rate, snr_db))


@cache
def block_rate_of(
    antennas: str, snr_db: float, packet_bytes: int, least: float, symbol_bits: int = 8
) -> tuple[float, int]:
    """Return the largest k/b of one block with a packet failure probability of at most `least`.

    Returns
    -------
    rate, parity : float, int
        The rate, and b - k, symbols. The parity is even, because a code corrects half of its
        parity.
    """
    chain = _chain_of(antennas, snr_db)
    data = -(-8 * packet_bytes // symbol_bits)
    low, high = 0, data
    while low < high:
        pairs = (low + high) // 2
        if chain.block_failure(data + 2 * pairs, pairs, symbol_bits) <= least:
            high = pairs
        else:
            low = pairs + 1
    return data / (data + 2 * low), 2 * low
