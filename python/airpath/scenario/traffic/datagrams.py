"""Datagrams at a constant rate or at the times of a Poisson process."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from airpath.scenario.traffic.source import Source
from airpath.scenario.units import Rate, Size

__all__ = ["Cbr", "Poisson"]


class Cbr(Source):
    """Datagrams of equal size at a constant rate.

    Parameters
    ----------
    rate : Rate
        Bit rate of IP packets, above 0.
    packet : Size
        Size of an IP packet with its headers, above 0 and at most 65535 B. Default 1500 B, the
        Ethernet MTU.
    """

    source: Literal["cbr"] = "cbr"
    rate: Rate = Field(examples=['"1 Mbit/s"'])
    packet: Size = Size(1500)


class Poisson(Source):
    """Datagrams of equal size, sent at the times of a Poisson process.

    Parameters
    ----------
    rate : Rate
        Mean bit rate of IP packets, above 0.
    packet : Size
        Size of an IP packet with its headers, above 0 and at most 65535 B. Default 1500 B, the
        Ethernet MTU.
    """

    source: Literal["poisson"] = "poisson"
    rate: Rate = Field(examples=['"1 Mbit/s"'])
    packet: Size = Size(1500)
