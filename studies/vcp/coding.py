"""Code rates: which carries most, by the law and by transports."""

from __future__ import annotations

from typing import Final

from airpath.reproduction.session import Session
from airpath_papers.vcp.failures import goodput_share
from airpath_papers.vcp.measures import DELIVERED
from airpath_papers.vcp.scenarios import Case

__all__ = ["COMPARED", "RATES", "SNRS_DB", "best_by_law", "best_of", "rated"]

RATES: Final = (0.95, 0.9, 0.85, 0.8, 0.7, 0.6)
"""Of claims.toml, from the weakest code on."""

SNRS_DB: Final = (2.0, 4.0, 6.0, 8.0, 11.0, 14.0)
COMPARED: Final = ("vcp", "tcp-rem", "sack")


def rated(protocol: str, snr_db: float) -> list[Case]:
    """Return the cells of a transport at an SNR, in the order of `RATES`."""
    return [Case(protocol, "2x2", rate, snr_db) for rate in RATES]


def best_by_law(snr_db: float) -> float:
    """Return the rate with the largest (k/b)(1 - failure)."""
    return max(RATES, key=lambda rate: goodput_share("2x2", rate, snr_db))


def best_of(session: Session, protocol: str, snr_db: float) -> float | None:
    """Return the rate with which a transport delivers most; None when nothing was simulated."""
    found = [DELIVERED.estimate(session, case) for case in rated(protocol, snr_db)]
    known = [each for each in found if each is not None]
    if len(known) < len(RATES):
        return None
    return RATES[max(range(len(RATES)), key=lambda n: known[n].mean)]
