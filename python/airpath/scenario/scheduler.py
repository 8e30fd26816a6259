"""Schedulers of a cell, one class each: who is served in a slot."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from airpath.scenario.base import Component
from airpath.scenario.units import Duration
from airpath.scenario.values import Real, choice

__all__ = ["AlphaFair", "MaxRate", "ProportionalFair", "RoundRobin", "Scheduler"]

AVERAGE = choice("obtained", "available")
"""What proportional fairness averages."""


class Scheduler(Component):
    """A scheduler, chosen by `kind`. It is called in slots in which a user has data."""

    family = "a scheduler"
    engine_family = "scheduler"


class ProportionalFair(Scheduler):
    """The largest w μ/r: the rate over an average of the rate obtained (clamp-2008 eq. 19).

    r averages the selected rate over the user's slots, including failed ones, and 0 over all other
    slots. It begins at a quarter of the cell's nominal rate.

    Parameters
    ----------
    time_constant : Duration
        Time constant of the average, at least a slot. Default 100 ms (clamp-2008 §5.3).
    average : {"obtained", "available"}
        Rate that r averages: the obtained rate, 0 in slots of other users; or the available rate in
        each slot with data. Default "obtained".
    """

    kind: Literal["proportional-fair"] = "proportional-fair"
    time_constant: Duration = Duration.parse("100 ms")
    average: Annotated[str, AVERAGE] = "obtained"


class AlphaFair(Scheduler):
    """The largest w μ/r^α: between the largest rate, α = 0, and equal rates, α → ∞.

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
    """The largest w μ, without regard to past rates: the highest sum rate, and no fairness."""

    kind: Literal["max-rate"] = "max-rate"


class RoundRobin(Scheduler):
    """One user after another, in the order of their numbers; weights do not count."""

    kind: Literal["round-robin"] = "round-robin"
