"""Schedulers, which select the user of each slot of a cell, one class for each."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from airpath.scenario.base import Component
from airpath.scenario.units import Duration
from airpath.scenario.values import Real, choice

__all__ = ["AlphaFair", "MaxRate", "ProportionalFair", "RoundRobin", "Scheduler"]

AVERAGE = choice("obtained", "available")
"""Validator of the key `average`, the rate that proportional fairness averages."""


class Scheduler(Component):
    """A scheduler, selected by `kind`. It is called for slots in which a user has data."""

    family = "a scheduler"
    engine_family = "scheduler"


class ProportionalFair(Scheduler):
    """Selects the user with the largest w μ/r (clamp-2008 eq. 19).

    w is the user's weight, μ the rate in this slot, and r the user's average rate. The average
    includes the selected rate in the user's own slots, even if they fail, and 0 in all other slots.
    Its initial value is a quarter of the cell's nominal rate.

    Parameters
    ----------
    time_constant : Duration
        Time constant of the average, at least a slot. Default 100 ms (clamp-2008 §5.3).
    average : {"obtained", "available"}
        Rate that r averages. ``"obtained"``: the obtained rate, which is 0 in slots of other users.
        ``"available"``: the available rate in each slot in which the user has data. Default
        "obtained".
    """

    kind: Literal["proportional-fair"] = "proportional-fair"
    time_constant: Duration = Duration.parse("100 ms")
    average: Annotated[str, AVERAGE] = "obtained"


class AlphaFair(Scheduler):
    """Selects the user with the largest w μ/r^α, where w, μ and r are as in `ProportionalFair`.

    Parameters
    ----------
    alpha : float
        α, from 0 to 10. 0 gives the highest total rate, 1 is proportional fairness, and large
        values approach equal rates.
    time_constant : Duration
        Time constant of the average r, at least a slot. Default 100 ms (clamp-2008 §5.3).
    """

    kind: Literal["alpha-fair"] = "alpha-fair"
    alpha: Real = Field(examples=["2"])
    time_constant: Duration = Duration.parse("100 ms")


class MaxRate(Scheduler):
    """Selects the user with the largest weight times rate: highest total rate, no fairness."""

    kind: Literal["max-rate"] = "max-rate"


class RoundRobin(Scheduler):
    """Selects users in cyclic order of their indices; weights have no effect."""

    kind: Literal["round-robin"] = "round-robin"
