"""Path loss and link budget in Python; the engine's own tests cover the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from airpath.errors import BadValueError
from airpath.phy import OutsideRangeWarning, cost231_hata_db, link_budget_snr_db, sinr_db

USUAL: dict[str, Any] = {
    "frequency_hz": 1.8e9,
    "distance_m": 1000,
    "base_height_m": 30,
    "mobile_height_m": 1.5,
}


def test_scalar_and_array_arguments_are_accepted() -> None:
    loss = cost231_hata_db(**USUAL)
    assert isinstance(loss, float)
    # 46.3 + 33.9 log 1800 - 13.82 log 30 - a(1.5 m)
    assert loss == pytest.approx(136.1970, abs=1e-4)
    assert cost231_hata_db(**USUAL, metropolitan=True) == pytest.approx(loss + 3)
    distances = np.array([[1000.0], [10_000.0]])
    heights = [1.5, 2, 3]
    losses = cost231_hata_db(1.8e9, distances, 30, heights)
    assert isinstance(losses, np.ndarray)
    assert losses.shape == (2, 3)
    assert losses[0, 0] == loss
    assert losses[1] - losses[0] == pytest.approx(np.full(3, 44.9 - 6.55 * np.log10(30)))
    assert np.shape(cost231_hata_db(1.8e9, [], 30, 1.5)) == (0,)


def test_values_outside_the_fitted_range_warn() -> None:
    with pytest.warns(OutsideRangeWarning) as warned:
        loss = cost231_hata_db(2.5e9, [500, 1000], 30, 1.5)
    assert str(warned[0].message) == (
        "COST-231 Hata was fitted for frequency_hz from 1.5e+09 to 2e+09, distance_m from 1000 to "
        "20000; outside, its formula is continued."
    )
    assert np.asarray(loss)[1] == pytest.approx(141.0206, abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"distance_m": 0}, "distance_m = 0: not above 0. Use a number above 0."),
        (
            {"mobile_height_m": "2 m"},
            'mobile_height_m = "2 m": not a finite number. Use one, or an array of them.',
        ),
        (
            {"frequency_hz": 1e6},
            "distance_m = 1000: with the other values, the formula gives less than free space "
            "loses.",
        ),
        (
            {"distance_m": [1e3, 2e3], "frequency_hz": [1.5e9, 1.6e9, 1.7e9]},
            "shapes do not fit together: frequency_hz (3,), distance_m (2,).",
        ),
        ({"metropolitan": 1}, "metropolitan = 1: not a truth value. Use True or False."),
    ],
)
def test_invalid_values_are_rejected(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(BadValueError) as raised:
        cost231_hata_db(**{**USUAL, **changes})
    assert str(raised.value) == line


def test_link_budget_matches_hand_calculation() -> None:
    snr = link_budget_snr_db(
        43, 141.0206, 841 * 10937.5, 7, transmit_gain_db=15, receive_gain_db=-1, other_losses_db=10
    )
    # 43 + 15 - 1 - 151.0206 - (-173.9752 + 69.6371 + 7)
    assert snr == pytest.approx(3.3174, abs=1e-4)
    powers = np.array([20.0, 23.0, 43.0])
    assert np.diff(link_budget_snr_db(powers, 130, 1e6, 5)) == pytest.approx([3, 20])
    with pytest.raises(BadValueError) as raised:
        link_budget_snr_db(1e4, 130, 0, -1)
    assert str(raised.value).splitlines() == [
        "transmit_power_dbm = 10000.0: out of range. Use a number from -1000 to 1000.",
        "bandwidth_hz = 0: not above 0. Use a number above 0.",
        "noise_figure_db = -1: out of range. Use a number from 0 to 1000.",
    ]


def test_interference_counts_as_noise() -> None:
    assert sinr_db(20) == 20
    assert sinr_db(20, 0) == pytest.approx(20 - 10 * np.log10(2))
    assert sinr_db(20, 0, 10) == pytest.approx(20 - 10 * np.log10(12))
    assert sinr_db([20, 30], 0, [1, -200]) == pytest.approx(
        [20 - 10 * np.log10(2 + 10**0.1), 30 - 10 * np.log10(2)]
    )
    with pytest.raises(BadValueError) as raised:
        sinr_db(20, "loud", 1e4)
    assert str(raised.value).splitlines() == [
        'inr_db[0] = "loud": not a finite number. Use a number from -1000 to 1000.',
        "inr_db[1] = 10000.0: out of range. Use a number from -1000 to 1000.",
    ]
