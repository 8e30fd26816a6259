"""vcp-2008 eq. 5, compared with integrals over densities in many digits and with random symbols."""

from __future__ import annotations

import math
from typing import Any

import digits
import mpmath as mp
import numpy as np
import pytest
import second_opinion

from airpath.phy import symbol_error_rate
from conformance import Law

DENSITIES = Law(
    "Radio channel",
    "vcp-2008 eq. 5 and other fading: error rates without fading over densities of the SNR",
    "relative 1e-10",
)
DRAWN = Law(
    "Radio channel",
    "vcp-2008 §II.B: symbols drawn through Alamouti's code and maximum-ratio combining",
    "five standard deviations of the count",
)
FALLS = Law(
    "Radio channel",
    "vcp-2008 Fig. 1: SNR of an error rate of 1e-3 (vcp-rem §5.1)",
    "the digits given",
)


def fading_of(case: digits.Received) -> dict[str, Any]:
    """Return the fading arguments of `airpath.phy`."""
    if case.fading == "rician":
        return {"fading": "rician", "k_factor_db": round(10 * math.log10(case.parameter), 6)}
    return {"fading": "nakagami", "m": case.parameter} if case.fading == "nakagami" else {}


@pytest.mark.parametrize("case", digits.RECEIVED, ids=digits.case_of)
def test_rates_down_to_1e_100_are_exact_to_1e_10(case: digits.Received) -> None:
    modulation, tx, rx, snr_db, *_ = case
    fading = fading_of(case)
    with mp.workdps(22):
        expected = mp.mpf(digits.kept()[digits.case_of(case)])
        found = symbol_error_rate(snr_db, modulation, tx, rx, **fading)
        ratio = float(found / expected)
    DENSITIES.close(f"{modulation} {tx}x{rx} {snr_db} dB {fading}", "1", ratio, 1.0, 1e-10)


@pytest.mark.parametrize("method", ["exact", "integral"])
@pytest.mark.parametrize(
    ("points", "tx", "rx", "snr_db"),
    [(2, 2, 2, 30), (4, 1, 1, 150), (8, 2, 2, -10), (16, 2, 8, 80), (32, 1, 4, 25), (64, 1, 8, 20)],
)
def test_psk_rate_matches_many_digits(
    points: int, tx: int, rx: int, snr_db: float, method: Any
) -> None:
    modulation = {2: "bpsk", 4: "qpsk"}.get(points, f"{points}psk")
    with mp.workdps(22):
        expected = second_opinion.of_phases(points, tx, rx, snr_db)
        found = symbol_error_rate(snr_db, modulation, tx, rx, method=method)
        ratio = float(found / expected)
    DENSITIES.close(f"{modulation} {tx}x{rx} {snr_db} dB, {method}", "1", ratio, 1.0, 1e-10)


def test_smallest_value_is_below_1e_100() -> None:
    assert 0 < symbol_error_rate(65, tx=2, rx=8) < 1e-100


# --- the closed form -----------------------------------------------------------------------------


@pytest.mark.parametrize("modulation", ["bpsk", "qpsk", "8psk", "16psk", "32psk", "64psk"])
def test_eq5_is_right_to_1e_14(modulation: str) -> None:
    snrs_db = np.arange(-10, 40.5, 0.5)
    for rx in range(1, 9):
        closed = np.asarray(symbol_error_rate(snrs_db, modulation, 1, rx, method="closed-form"))
        exact = np.asarray(symbol_error_rate(snrs_db, modulation, 1, rx))
        integral = np.asarray(symbol_error_rate(snrs_db, modulation, 1, rx, method="integral"))
        assert np.abs(closed - exact).max() < 1e-14
        assert np.abs(closed - integral).max() < 1e-14


def test_relative_error_of_eq5_grows_with_the_snr() -> None:
    """2×2 BPSK: from 4e-16 at 0 dB to 7e-5 at 30 dB; 8 branches: no correct digit at 20 dB."""
    snrs_db = np.array([0.0, 10, 20, 30])
    closed = np.asarray(symbol_error_rate(snrs_db, tx=2, rx=2, method="closed-form"))
    off = np.abs(closed / np.asarray(symbol_error_rate(snrs_db, tx=2, rx=2)) - 1)
    assert (np.diff(np.log10(off)) > 1).all()
    assert off[0] < 1e-14
    assert 1e-5 < off[3] < 1e-2
    eight = symbol_error_rate(20.0, rx=8, method="closed-form") / symbol_error_rate(20.0, rx=8)
    assert abs(eight - 1) > 1


# --- consequences --------------------------------------------------------------------------------


def snr_of(rate: float, tx: int, rx: int) -> float:
    low, high = -20.0, 80.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (
            (middle, high) if symbol_error_rate(middle, tx=tx, rx=rx) > rate else (low, middle)
        )
    return low


def test_snr_at_an_error_rate_of_1e_3_matches_reference() -> None:
    found = {antennas: snr_of(1e-3, *antennas) for antennas in ((1, 1), (2, 1), (1, 2), (2, 2))}
    for (tx, rx), expected in zip(found, (23.97, 14.10, 11.09, 7.05), strict=True):
        FALLS.close(f"{tx}x{rx}", "dB", found[tx, rx], expected, 0.005)
    apart = found[2, 1] - found[1, 2]
    FALLS.close("2x1 less 1x2", "dB", apart, 10 * math.log10(2), 1e-9)


@pytest.mark.parametrize("modulation", ["bpsk", "8psk", "16qam", "64qam"])
def test_nakagami_2_is_rayleigh_with_two_branches_at_half_the_snr(modulation: str) -> None:
    snrs_db = np.linspace(-20, 60, 17)
    one = symbol_error_rate(snrs_db, modulation, fading="nakagami", m=2)
    two = symbol_error_rate(snrs_db - 10 * math.log10(2), modulation, rx=2)
    assert one == pytest.approx(two, rel=1e-11)
    # Two transmit antennas halve the SNR per branch.
    assert one == pytest.approx(symbol_error_rate(snrs_db, modulation, tx=2), rel=1e-11)


# --- random symbols ------------------------------------------------------------------------------


def constellation(modulation: str) -> np.ndarray:
    """Return the points of the constellation, of mean power 1."""
    if modulation.endswith("qam"):
        side = math.isqrt(int(modulation[:-3]))
        levels = 2 * np.arange(side) - side + 1
        points = (levels[:, None] + 1j * levels).ravel()
        return np.asarray(points / np.sqrt(np.mean(np.abs(points) ** 2)))
    count = {"bpsk": 2, "qpsk": 4}.get(modulation) or int(modulation[:-3])
    return np.exp(2j * np.pi * np.arange(count) / count)


def gains(shape: tuple[int, ...], fading: dict[str, Any], rng: np.random.Generator) -> np.ndarray:
    """Return complex gains of mean power 1."""
    scattered = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) / math.sqrt(2)
    if fading.get("fading") == "rician":
        k = 10 ** (fading["k_factor_db"] / 10)
        return np.asarray(math.sqrt(k / (1 + k)) + scattered / math.sqrt(1 + k))
    if fading.get("fading") == "nakagami":
        power = rng.gamma(fading["m"], 1 / fading["m"], shape)
        return np.asarray(np.sqrt(power) * scattered / np.abs(scattered))
    return np.asarray(scattered)


def errors(
    modulation: str, tx: int, rx: int, snr_db: float, fading: dict[str, Any], pairs: int
) -> int:
    """Send pairs of symbols, each pair over a constant channel. Return the number of errors."""
    rng = np.random.default_rng([2008, tx, rx, int(10 * snr_db), pairs])
    points = constellation(modulation)
    sent = rng.integers(len(points), size=(2, pairs))
    first, second = points[sent]
    power = math.sqrt(10 ** (snr_db / 10) / tx)
    h = gains((tx, rx, pairs), fading, rng)
    noise = gains((2, rx, pairs), {}, rng)
    if tx == 2:
        early = power * (h[0] * first + h[1] * second) + noise[0]
        late = power * (-h[0] * second.conj() + h[1] * first.conj()) + noise[1]
        combined = (
            (h[0].conj() * early + h[1] * late.conj()).sum(axis=0),
            (h[1].conj() * early - h[0] * late.conj()).sum(axis=0),
        )
    else:
        received = power * h[0] * points[sent][:, None] + noise
        combined = tuple((h[0].conj() * received).sum(axis=1))
    strength = power * (np.abs(h) ** 2).sum(axis=(0, 1))
    wrong = 0
    for number, symbol in zip(sent, combined, strict=True):
        nearest = np.abs(symbol / strength - points[:, None]).argmin(axis=0)
        wrong += int((nearest != number).sum())
    return wrong


@pytest.mark.parametrize(
    ("modulation", "tx", "rx", "snr_db", "fading"),
    [
        ("bpsk", 1, 1, 10, {}),
        ("bpsk", 2, 1, 7, {}),
        ("bpsk", 1, 2, 5, {}),
        ("bpsk", 2, 2, 2, {}),
        ("qpsk", 2, 1, 10, {}),
        ("qpsk", 2, 2, 6, {}),
        ("8psk", 2, 2, 10, {}),
        ("8psk", 1, 4, 10, {}),
        ("16psk", 2, 1, 20, {}),
        ("16qam", 2, 2, 12, {}),
        ("64qam", 1, 3, 15, {}),
        ("qpsk", 2, 2, 5, {"fading": "rician", "k_factor_db": 6.0}),
        ("bpsk", 1, 2, 8, {"fading": "nakagami", "m": 0.7}),
    ],
)
def test_random_symbols_match_error_rate(
    modulation: str, tx: int, rx: int, snr_db: float, fading: dict[str, Any]
) -> None:
    pairs = 400_000
    rate = symbol_error_rate(float(snr_db), modulation, tx, rx, **fading)
    # The two symbols of a pair share a channel, so that their errors are correlated: the variance
    # is at most doubled.
    allowed = 5 * math.sqrt(2 * rate * (1 - rate) / (2 * pairs))
    found = errors(modulation, tx, rx, snr_db, fading, pairs) / (2 * pairs)
    DRAWN.close(f"{modulation} {tx}x{rx} {snr_db} dB {fading}", "1", found, rate, allowed)
    assert allowed < 0.1 * rate
