"""What analytic models return: a kind of result for each model."""

from __future__ import annotations

from airpath.solutions.base import Solution, SolvedFlow
from airpath.solutions.clamp_fluid import ClampFlow, ClampFluidSolution
from airpath.solutions.fixed_point import FixedPointSolution
from airpath.solutions.md1k import Md1kFlow, Md1kSolution
from airpath.solutions.mimo import MimoSolution
from airpath.solutions.rtt_stages import RttStagesFlow, RttStagesSolution

__all__ = [
    "ClampFlow",
    "ClampFluidSolution",
    "FixedPointSolution",
    "Md1kFlow",
    "Md1kSolution",
    "MimoSolution",
    "RttStagesFlow",
    "RttStagesSolution",
    "Solution",
    "SolvedFlow",
]
