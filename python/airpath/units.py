"""Quantities with units, read from text such as ``"26.88 Mbit/s"``."""

from airpath.scenario.decibels import Decibels
from airpath.scenario.units import (
    ArrivalRate,
    Duration,
    Frequency,
    Length,
    Packets,
    Rate,
    Segments,
    Size,
    Speed,
)

__all__ = [
    "ArrivalRate",
    "Decibels",
    "Duration",
    "Frequency",
    "Length",
    "Packets",
    "Rate",
    "Segments",
    "Size",
    "Speed",
]
