"""Sweeps of ``sweeps.toml``: over CLAMP's a, over New Reno's buffer, and other points."""

from __future__ import annotations

from typing import Final

from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath_papers.clamp.dynamics import CASES, dynamics
from airpath_papers.clamp.link import link
from airpath_papers.clamp.scenarios import cell, saturated
from airpath_papers.paths import CLAMP

__all__ = ["DYNAMICS", "NAMES", "SWEEPS", "sweep"]

SWEEPS: Final = Sweeps(CLAMP, cell, link, dynamics, saturated)

NAMES: Final = {True: "CLAMP", False: "New Reno"}
"""Names of the protocols: key True for CLAMP, False for New Reno."""

DYNAMICS: Final = dict(zip(CASES, SWEEPS.cells("dynamics"), strict=True))
"""Points of Fig. 8 by name."""


def sweep(fast: bool, clamp: bool, low_rate: bool = False) -> list[SweepPoint]:
    """Return the points of a sweep, in the order of the knob."""
    speed = "fast" if fast else "slow"
    return SWEEPS.cells("sweeps", speed=speed, protocol=NAMES[clamp], low_rate=low_rate)
