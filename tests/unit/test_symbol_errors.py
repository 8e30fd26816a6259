"""Symbol error rates in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from airpath.errors import BadValueError
from airpath.phy import mean_over_shadowing, symbol_error_rate


def test_scalar_and_array_arguments_are_accepted() -> None:
    rate = symbol_error_rate(10)
    assert isinstance(rate, float)
    # (1 − √(10/11)) / 2
    assert rate == pytest.approx(0.5 * (1 - np.sqrt(10 / 11)), rel=1e-12)
    rates = symbol_error_rate(np.array([[0.0, 10.0], [20.0, 30.0]]), tx=2, rx=2)
    assert isinstance(rates, np.ndarray)
    assert rates.shape == (2, 2)
    assert (np.diff(rates.ravel()) < 0).all()
    assert np.shape(symbol_error_rate([])) == (0,)
    assert np.shape(symbol_error_rate([10])) == (1,)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"snr_db": float("inf")},
            "snr_db = inf: not a finite number. Use a number from -1000 to 1000.",
        ),
        (
            {"snr_db": [0, 1001]},
            "snr_db = [0, 1001]: out of range. Use a number from -1000 to 1000.",
        ),
        (
            {"modulation": "32qam"},
            'modulation = "32qam": not one of the accepted words. Use bpsk or qpsk or 8psk or '
            "16psk or 32psk or 64psk or 16qam or 64qam.",
        ),
        ({"tx": 0}, "tx = 0: below 1. Use 1 or 2."),
        (
            {"tx": 3},
            "tx = 3: beyond two transmitters no complex space-time block code has the full rate. "
            "Use 1 or 2.",
        ),
        ({"rx": 0}, "rx = 0: below 1. Use an integer from 1 to 8."),
        ({"rx": 9}, "rx = 9: above 8. Use an integer from 1 to 8."),
        (
            {"fading": "rice"},
            'fading = "rice": not one of the accepted words. Use rayleigh or rician or nakagami.',
        ),
        (
            {"fading": "rician"},
            "k_factor_db: missing, of rician fading. Use a number from -100 to 100.",
        ),
        ({"m": 2}, "m = 2: of nakagami fading alone. Remove it."),
        (
            {"fading": "nakagami", "m": 0.4},
            "m = 0.4: out of range. Use a number from 0.5 to 1000.",
        ),
        (
            {"method": "closed"},
            'method = "closed": not one of the accepted words. Use exact or closed-form or '
            "integral.",
        ),
        (
            {"method": "closed-form", "modulation": "16qam"},
            'method = "closed-form": of phase-shift keying over Rayleigh fading alone. Use exact '
            "or integral.",
        ),
    ],
)
def test_invalid_values_are_rejected(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(BadValueError) as raised:
        symbol_error_rate(**{"snr_db": 10.0, **changes})
    assert str(raised.value) == line


def test_all_problems_are_reported_at_once() -> None:
    with pytest.raises(BadValueError) as raised:
        symbol_error_rate("loud", tx=3, rx=9, k_factor_db=3)  # type: ignore[call-overload]
    assert [line.split(":")[0] for line in str(raised.value).splitlines()] == [
        'snr_db = "loud"',
        "tx = 3",
        "rx = 9",
        "k_factor_db = 3",
    ]


def test_mean_over_shadowing_matches_closed_form() -> None:
    def power(snr_db: np.ndarray) -> np.ndarray:
        return np.asarray(10 ** (-snr_db / 10))

    # E exp(aX) = exp((aσ)²/2)
    expected = 0.1 * np.exp(0.5 * (8 * np.log(10) / 10) ** 2)
    assert mean_over_shadowing(power, 10, 8) == pytest.approx(expected, rel=1e-12)
    assert mean_over_shadowing(power, [[10, 20]], 0) == pytest.approx(np.array([[0.1, 0.01]]))
    rates = mean_over_shadowing(symbol_error_rate, [10, 20], 8)
    assert (np.asarray(rates) > symbol_error_rate([10, 20])).all()


def test_invalid_shadowing_is_rejected() -> None:
    with pytest.raises(BadValueError) as raised:
        mean_over_shadowing(3, "a", -1)  # type: ignore[arg-type]
    assert str(raised.value).splitlines() == [
        "of = 3: not a function. Use one of the SNR.",
        'snr_db = "a": not a finite number. Use a number from -200 to 200.',
        "deviation_db = -1: out of range. Use a number from 0 to 40.",
    ]
    with pytest.raises(BadValueError, match="does not return a finite number for each SNR"):
        mean_over_shadowing(max, 3, 1)
