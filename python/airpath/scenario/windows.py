"""How the window of a TCP receiver moves: one class per policy."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from airpath.scenario.base import Part
from airpath.scenario.units import Duration, Rate

__all__ = ["DrainWindow", "FixedWindow", "ReceiveWindow"]


class ReceiveWindow(Part):
    """A receive-window policy; `kind` says which. The size is the option `receive_window`."""

    family = "a receive-window policy"


class FixedWindow(ReceiveWindow):
    """A window of fixed size: the application reads everything at once.

    So it is where `window` is not given.
    """

    kind: Literal["fixed"] = "fixed"


class DrainWindow(ReceiveWindow):
    """A slow reader: a buffer of `receive_window` that the application reads at a limited rate.

    Parameters
    ----------
    rate : Rate
        Payload that the application reads, from 0; 0 bit/s never reads.
    start : Duration
        When it begins to read, from the start of the run. Default 0 s.
    """

    kind: Literal["drain"] = "drain"
    rate: Rate = Field(examples=['"1 Mbit/s"'])
    start: Duration = Duration(0)
