"""Modulation and coding by distance, from the mean SNR of a link budget (wimax-2009 §5.1).

Source: COST-231 Hata, as in the paper, continued to 2.5 GHz; the paper gives neither powers nor
heights, those here are usual ones of a macrocell. Left out: shadowing, fading and interference.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

import airpath as ap

__all__ = ["DISTANCES_M", "Schemes", "schemes_at"]

DISTANCES_M: Final = (500, 1000, 1500, 2000, 3000)

THRESHOLDS_DB: Final[Mapping[str, float]] = {
    "qpsk-1/12": -5.0,
    "qpsk-1/8": -3.0,
    "qpsk-1/4": 0.0,
    "qpsk-1/2": 3.0,
    "qpsk-3/4": 6.0,
    "16qam-1/2": 8.5,
    "16qam-3/4": 12.0,
    "64qam-2/3": 16.0,
    "64qam-3/4": 17.5,
    "64qam-5/6": 20.0,
}
"""SNR from which a scheme is used: one block in ten fails in white noise."""

DOWNLINK_ONLY: Final = ("64qam-2/3", "64qam-3/4", "64qam-5/6")
UPLINK_ONLY: Final = ("16qam-3/4",)
"""The two lists of §5.1."""


class Schemes(NamedTuple):
    """What a station at a distance has: mean SNRs, dB, and schemes."""

    downlink_db: float
    uplink_db: float
    downlink: str
    uplink: str


def _scheme(snr_db: float, left_out: tuple[str, ...]) -> str:
    usable = [name for name, least in THRESHOLDS_DB.items() if least <= snr_db]
    return next((name for name in reversed(usable) if name not in left_out), "qpsk-1/12")


@cache
def schemes_at(distance_m: float) -> Schemes:
    """Return the schemes of a station at a distance, m."""
    radio = ap.link.Radio(distance=f"{distance_m} m")
    down = radio.mean_db()
    up = down + radio.uplink_db
    schemes = (_scheme(float(down), UPLINK_ONLY), _scheme(float(up), DOWNLINK_ONLY))
    return Schemes(float(down), float(up), *schemes)
