"""Results of analytic models, one class for each model."""

from __future__ import annotations

from airpath.solutions.base import Solution, SolvedFlow
from airpath.solutions.clamp_fluid import ClampFlow, ClampFluid
from airpath.solutions.fixed_point import FixedPoint
from airpath.solutions.md1k import Md1k, Md1kFlow
from airpath.solutions.mimo import Mimo
from airpath.solutions.network_fixed_point import NetworkFixedPoint, NetworkFlow, NetworkHop
from airpath.solutions.rtt_stages import RttStages, RttStagesFlow

__all__ = [
    "ClampFlow",
    "ClampFluid",
    "FixedPoint",
    "Md1k",
    "Md1kFlow",
    "Mimo",
    "NetworkFixedPoint",
    "NetworkFlow",
    "NetworkHop",
    "RttStages",
    "RttStagesFlow",
    "Solution",
    "SolvedFlow",
]
