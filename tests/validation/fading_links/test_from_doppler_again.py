"""The chain of a fading channel, compared with integrals over parts of a density and with simulated
fading."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
import second_opinion

from airpath.phy import ErrorChain, symbol_error_rate
from conformance import Law

CONDITIONAL = Law(
    "Radio channel",
    "Error rates above and below an SNR, by integrals over part of its density",
    "relative 1e-9",
)
CROSSINGS = Law(
    "Radio channel",
    "Level crossings and shares below of N branches together, drawn with Clarke's spectrum",
    "five standard errors over 600 realisations, and 1 % for samples a 250th of 1/f_D apart",
)
FAST = Law(
    "Radio channel",
    "Doppler shift of bursts of 8 bits in 808 at 10 Mbit/s, one branch (vcp-rem §8.11)",
    "the digits given",
)


@pytest.mark.parametrize(
    ("modulation", "tx", "rx", "snr_db", "threshold_db"),
    [("bpsk", 1, 1, 10, 0), ("bpsk", 2, 2, 15, 12), ("qpsk", 1, 2, 8, 10), ("16qam", 2, 1, 20, 15)],
)
def test_error_rates_above_and_below_threshold_match_integrals(
    modulation: str, tx: int, rx: int, snr_db: float, threshold_db: float
) -> None:
    chain = ErrorChain.from_doppler(snr_db, threshold_db, 10, 1e7, modulation, tx, rx)
    with mp.workdps(22):
        mean = mp.mpf(10) ** (mp.mpf(snr_db) / 10) / tx
        of = second_opinion.without_fading(modulation)
        weight = second_opinion.density("rayleigh", tx * rx, mean, 1)
        edge = mp.mpf(10) ** (mp.mpf(threshold_db) / 10)
        sides = [mp.linspace(edge, 60 * mean, 40), mp.linspace(0, edge, 20)]
        shares = [mp.quad(weight, side) for side in sides]
        wrong = [mp.quad(lambda snr: of(snr) * weight(snr), side) for side in sides]
        expected = [float(part / share) for part, share in zip(wrong, shares, strict=True)]
    case = f"{modulation} {tx}x{rx}, {snr_db} dB, {threshold_db} dB"
    for found, rate, side in zip(
        (chain.error_good, chain.error_bad), expected, ("above", "below"), strict=True
    ):
        CONDITIONAL.close(f"{case}, {side}", "1", found / rate, 1.0, 1e-9)
    for share, found in zip(shares, chain.shares, strict=True):
        CONDITIONAL.close(f"{case}, share", "1", found / float(share), 1.0, 1e-9)
    rate = symbol_error_rate(float(snr_db), modulation, tx, rx)
    CONDITIONAL.close(f"{case}, mean", "1", chain.error_rate / rate, 1.0, 1e-10)


@pytest.mark.parametrize(
    ("branches", "threshold_db"),
    [(1, -5), *[pytest.param(*case, marks=pytest.mark.long) for case in ((2, 0), (4, 3), (4, 6))]],
)
def test_simulated_fades_have_equal_duration(branches: int, threshold_db: float) -> None:
    """48 waves per branch from all directions, f_D = 1 Hz, 8 s per run; 0 dB on each branch."""
    rng, step, samples = np.random.default_rng([2008, branches]), 1 / 250, 2000
    time = step * np.arange(samples)
    level, crossings, below = 10 ** (threshold_db / 10), [], []
    for _ in range(600):
        power = np.zeros(samples)
        for _ in range(branches):
            shifts = np.cos(rng.uniform(0, 2 * np.pi, 48))
            phases = rng.uniform(0, 2 * np.pi, 48)
            gain = np.exp(1j * (2 * np.pi * np.outer(time, shifts) + phases)).sum(axis=1)
            power += np.abs(gain) ** 2 / 48
        is_below = power < level
        crossings.append((is_below[1:] & ~is_below[:-1]).sum() / (samples * step))
        below.append(is_below.mean())
    # The symbol rate is so high that the length of a run of symbols is a continuous time.
    chain = ErrorChain.from_doppler(0, threshold_db, 1, 1e9, rx=branches)
    rate = 1e9 * chain.shares[1] / chain.mean_runs[1]
    for what, unit, found, expected in (
        ("crossings", "Hz", crossings, rate),
        ("share below", "1", below, chain.shares[1]),
    ):
        error = float(np.std(found)) / math.sqrt(len(found))
        mean = float(np.mean(found))
        allowed = 5 * error + 0.01 * expected
        CROSSINGS.close(f"{branches}, {threshold_db} dB: {what}", unit, mean, expected, allowed)
        assert allowed < 0.25 * expected


def test_bursts_of_paper_require_50_khz() -> None:
    threshold_db = 10 + 10 * math.log10(-math.log1p(-8 / 808))
    chain = ErrorChain.from_doppler(10, threshold_db, 49_992, 10e6)
    FAST.close("good", "bits", chain.mean_runs[0], 800, 0.01)
    FAST.close("bad", "bits", chain.mean_runs[1], 8, 1e-4)
    # The bad state contains the lowest 1 % of the SNRs; their SNRs are not all lower by 10 dB.
    assert chain.error_bad == pytest.approx(0.384, abs=5e-4)
    assert symbol_error_rate(0) == pytest.approx(0.1464, abs=5e-5)
    slow = ErrorChain.from_doppler(10, threshold_db, 100, 10e6)
    assert slow.mean_runs[1] == pytest.approx(3999.4, abs=0.1)
