"""What analytic models return: a kind of result for each model."""

from __future__ import annotations

from airpath.solutions.base import Solution, SolvedFlow
from airpath.solutions.fixed_point import FixedPointSolution

__all__ = ["FixedPointSolution", "Solution", "SolvedFlow"]
