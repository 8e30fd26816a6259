"""Bursts of other lengths: the law's failures, and the Doppler shifts that they mean."""

from __future__ import annotations

import math
from typing import Final

from airpath_papers.vcp.failures import failure
from airpath_papers.vcp.scenarios import RATE_MBPS, Case

from .variants import BAD_SHARE, BURST_BITS, BURSTS

__all__ = ["BURST_CELLS", "CODE_RATES", "SNR_DB", "doppler_hz", "law_of"]

SNR_DB: Final = 10.0
CODE_RATES: Final = (1.0, 0.93)
BURST_CELLS: Final[dict[tuple[float, int], Case]] = {
    (rate, bits): Case("vcp", "2x2", rate, SNR_DB, f"bursts-{bits}")
    for rate in CODE_RATES
    for bits in BURST_BITS
}


def law_of(code_rate: float, bits: int) -> float:
    """Return the law's failure of data with bursts of so many bits."""
    link = BURSTS[f"bursts-{bits}"].link
    return failure(
        "2x2",
        code_rate,
        SNR_DB,
        p_good_to_bad=link["p_good_to_bad"],
        p_bad_to_good=link["p_bad_to_good"],
    )


def doppler_hz(bits: int) -> float:
    """Return the Doppler shift whose fades last so long and take this share of time.

    Rayleigh, one branch: a fade below the threshold ρ² of the mean power has the share
    1 - exp(-ρ²) and lasts (exp(ρ²) - 1)/(√(2π) f ρ) on the mean.
    """
    power = -math.log(1 - BAD_SHARE)
    lasts_s = bits / (RATE_MBPS * 1e6)
    return math.expm1(power) / (math.sqrt(2 * math.pi * power) * lasts_s)
