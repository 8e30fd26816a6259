"""Schedulers of a cell, one class each; a scheduler selects the user of a slot."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from airpath.scenario.base import Component
from airpath.scenario.units import Duration
from airpath.scenario.values import Real, choice

__all__ = ["AlphaFair", "MaxRate", "ProportionalFair", "RoundRobin", "Scheduler"]

AVERAGE = choice("obtained", "available")
"""Options for the rate that proportional fairness averages."""


class Scheduler(Component):
    """A scheduler, chosen by `kind`. It is called in slots in which a user has data."""

    family = "a scheduler"
    engine_family = "scheduler"


class ProportionalFair(Scheduler):
    """The user with the largest w μ/r: rate over average obtained rate (clamp-2008 eq. 19).

    r averages the selected rate over the user's slots, including failed ones, and 0 over all other
    slots. Its initial value is a quarter of the cell's nominal rate.

    Parameters
    ----------
    time_constant : Duration
        Time constant of the average, at least a slot. Default 100 ms (clamp-2008 §5.3).
    average : {"obtained", "available"}
        Rate that r averages: the obtained rate, which is 0 in slots of other users; or the
        available rate in each slot with data. Default "obtained".
    """

    kind: Literal["proportional-fair"] = "proportional-fair"
    time_constant: Duration = Duration.parse("100 ms")
    average: Annotated[str, AVERAGE] = "obtained"


class AlphaFair(Scheduler):
    """The user with the largest w μ/r^α: from highest sum rate (α = 0) to equal rates (α → ∞).

    Parameters
    ----------
    alpha : float
        α, from 0 to 10; 1 is proportional fairness.
    time_constant : Duration
        Time constant of the average r, at least a slot. Default 100 ms (clamp-2008 §5.3).
    """

    kind: Literal["alpha-fair"] = "alpha-fair"
    alpha: Real = Field(examples=["2"])
    time_constant: Duration = Duration.parse("100 ms")


class MaxRate(Scheduler):
    """The user with the largest w μ, regardless of past rates: highest sum rate, no fairness."""

    kind: Literal["max-rate"] = "max-rate"


class RoundRobin(Scheduler):
    """All users in cyclic order of their numbers; weights have no effect."""

    kind: Literal["round-robin"] = "round-robin"
