"""Independent evaluation of the fading models: densities, the recursion as printed, many digits.

This module uses no code of the engine. Sources: vcp-2008 eqs. 1 to 5 and §II.C (with the plus sign
that is missing in the printed eqs. 2 and 3); Proakis, *Digital Communications*, for error rates
without fading.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import numpy as np

Law = Callable[[mp.mpf], mp.mpf]


# --- symbol errors -------------------------------------------------------------------------------


def tail(x: mp.mpf) -> mp.mpf:
    """Return Gauss's Q(√x)."""
    return mp.erfc(mp.sqrt(x / 2)) / 2


def without_fading(modulation: str) -> Law:
    """Return the symbol error rate as a function of the SNR. It is computed from products of
    Gaussian tails, without differences and integrals.
    """
    if modulation == "bpsk":
        return lambda snr: tail(2 * snr)
    if modulation == "qpsk":
        return lambda snr: tail(snr) * (2 - tail(snr))
    points = {"16qam": 16, "64qam": 64}[modulation]
    share = 1 - 1 / mp.sqrt(points)

    def square(snr: mp.mpf) -> mp.mpf:
        edge = tail(3 * snr / (points - 1))
        return 4 * share * edge * (1 - share * edge)

    return square


def density(fading: str, branches: int, mean: mp.mpf, parameter: float) -> Law:
    """Return the density of the total SNR of all branches, each with the given mean."""
    if fading == "rician":
        k = mp.mpf(parameter)
        # 2(1+K)x/S is noncentral χ² with 2N degrees of freedom and the noncentrality 2KN.
        noncentral, scale = 2 * k * branches, 2 * (1 + k) / mean

        def rician(snr: mp.mpf) -> mp.mpf:
            x = scale * snr
            bessel = mp.besseli(branches - 1, mp.sqrt(noncentral * x))
            power = (x / noncentral) ** (mp.mpf(branches - 1) / 2)
            return scale / 2 * mp.exp(-(x + noncentral) / 2) * power * bessel

        return rician
    shape = mp.mpf(parameter if fading == "nakagami" else 1) * branches
    scale = mean * branches / shape
    return lambda snr: snr ** (shape - 1) * mp.exp(-snr / scale) / mp.gamma(shape) / scale**shape


def symbol_error_rate(
    modulation: str, tx: int, rx: int, snr_db: float, fading: str = "rayleigh", parameter: float = 1
) -> mp.mpf:
    """Return the symbol error rate averaged over the density of the SNR."""
    mean = mp.mpf(10) ** (mp.mpf(snr_db) / 10) / tx
    of, weight = without_fading(modulation), density(fading, tx * rx, mean, parameter)
    # The integral over the logarithm of the SNR starts where the density is negligible and ends
    # where the error rate is negligible.
    low = -4 - 75 / (tx * rx * (parameter if fading == "nakagami" else 1))
    return mp.quad(
        lambda level: of(mp.exp(level)) * weight(mp.exp(level)) * mp.exp(level),
        [*mp.linspace(low, -7, int(-6 - low) + 2)[:-1], *mp.linspace(-7, 12, 115)],
    )


def of_phases(points: int, tx: int, rx: int, snr_db: float) -> mp.mpf:
    """Return the symbol error rate of M-PSK over Rayleigh fading by the integral of vcp-2008
    (vcp-rem §5.1)."""
    theta = mp.mpf(10) ** (mp.mpf(snr_db) / 10) / tx * mp.sin(mp.pi / points) ** 2
    end = (points - 1) * mp.pi / points
    small = [mp.mpf(10) ** -place for place in range(6, 1, -1)]
    edges = [0, *small, *mp.linspace(end / 24, end, 24)]
    return mp.quad(lambda angle: (1 + theta / mp.sin(angle) ** 2) ** (-tx * rx), edges) / mp.pi


# --- two states ----------------------------------------------------------------------------------


def by_all_paths(chain: tuple[float, float, float, float], units: int) -> np.ndarray:
    """Return φ(t, r, state) by summing over all paths of states and all patterns of errors."""
    leave, back, error_good, error_bad = chain
    shares = (back / (leave + back), leave / (leave + back))
    moves = ((1 - leave, leave), (back, 1 - back))
    patterns = np.arange(2**units)
    wrong = [(patterns >> unit) & 1 == 1 for unit in range(units)]
    received = units - np.sum(wrong, axis=0)
    phi = np.zeros((units + 1, 2))
    for path in range(2**units):
        states = [(path >> unit) & 1 for unit in range(units)]
        for first in (0, 1):
            probability = np.full(2**units, shares[first])
            for unit, (before, state) in enumerate(zip([first, *states[:-1]], states, strict=True)):
                error = (error_good, error_bad)[state]
                probability *= moves[before][state] * np.where(wrong[unit], error, 1 - error)
            np.add.at(phi[:, states[-1]], received, probability)
    return phi


def drawn_bits(
    chain: tuple[float, float, float, float], runs: int, units: int, rng: np.random.Generator
) -> np.ndarray:
    """Return random runs as an array of shape (runs, units); True is a wrong unit."""
    leave, back, error_good, error_bad = chain
    is_bad = rng.random(runs) < leave / (leave + back)
    wrong = np.empty((runs, units), dtype=bool)
    for unit in range(units):
        is_bad ^= rng.random(runs) < np.where(is_bad, back, leave)
        wrong[:, unit] = rng.random(runs) < np.where(is_bad, error_bad, error_good)
    return wrong


def block_failure(
    chain: tuple[float, float, float, float], symbols: int, correctable: int, units: int
) -> mp.mpf:
    """Return 1 − P(at most `correctable` errors), with enough digits for the difference."""
    leave, back, error_good, error_bad = map(mp.mpf, chain)
    moves = mp.matrix([[1 - leave, leave], [back, 1 - back]])
    right = (moves * mp.diag([1 - error_good, 1 - error_bad])) ** units
    (a, b, c, d), (e, f, g, h) = list(right), list(moves**units - right)
    zero = (mp.mpf(0), mp.mpf(0))
    rows = [(back / (leave + back), leave / (leave + back))]
    for _ in range(symbols):
        rows = [
            (good * a + bad * c + less * e + worse * g, good * b + bad * d + less * f + worse * h)
            for (good, bad), (less, worse) in zip([*rows, zero], [zero, *rows], strict=True)
        ][: correctable + 1]
    return 1 - sum(good + bad for good, bad in rows)
