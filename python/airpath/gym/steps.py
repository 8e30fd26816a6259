"""Rules for the length of the interval between two decisions.

An interval also ends with the scenario.
"""

from __future__ import annotations

from dataclasses import dataclass

from airpath.arguments import error_prefix, quantity
from airpath.errors import BadValueError
from airpath.scenario.units import Duration

__all__ = ["AckStep", "RttStep", "Step", "TimeStep"]


@dataclass(frozen=True)
class TimeStep:
    """Intervals of a constant duration.

    Parameters
    ----------
    duration : str, float or Duration
        Duration, above 0; a number is in seconds.
    """

    duration: str | float | Duration

    def __post_init__(self) -> None:
        _above_0("duration", seconds("duration", self.duration))

    def for_engine(self, base_rtt_s: float) -> tuple[str, float, float]:
        """Return the rule as the engine reads it; `base_rtt_s` is the two-way delay, s."""
        return "time", seconds("duration", self.duration), 0.0


@dataclass(frozen=True)
class RttStep:
    """Intervals of a multiple of the mean RTT that the flow had in its previous interval.

    Without samples in the previous interval, the mean of the last interval with samples counts.
    Before the first sample, the propagation delay of the path replaces the mean RTT; without a
    propagation delay, 100 ms.

    Parameters
    ----------
    factor : float
        Multiple of the mean RTT, above 0. Default 1.
    """

    factor: float = 1.0

    def __post_init__(self) -> None:
        _above_0("factor", self.factor)

    def for_engine(self, base_rtt_s: float) -> tuple[str, float, float]:
        """Return the rule as the engine reads it; `base_rtt_s` is the two-way delay, s."""
        return "rtt", float(self.factor), self.factor * (base_rtt_s or 0.1)


@dataclass(frozen=True)
class AckStep:
    """Intervals of a number of ACKs.

    A simulation with such intervals is slower, because the engine cannot look ahead.

    Parameters
    ----------
    count : int
        Number of ACKs that the flow receives in an interval, at least 1.
    longest : str, float or Duration
        Longest duration of an interval, above 0; a number is in seconds. Default 1 s.
    """

    count: int
    longest: str | float | Duration = "1 s"

    def __post_init__(self) -> None:
        if not isinstance(self.count, int) or isinstance(self.count, bool) or self.count < 1:
            raise BadValueError(
                f"{error_prefix('count', self.count)}: not an integer from 1. Use a number of ACKs."
            )
        _above_0("longest", seconds("longest", self.longest))

    def for_engine(self, base_rtt_s: float) -> tuple[str, float, float]:
        """Return the rule as the engine reads it; `base_rtt_s` is the two-way delay, s."""
        return "acks", float(self.count), seconds("longest", self.longest)


Step = TimeStep | RttStep | AckStep
"""A rule for the length of intervals."""


def seconds(name: str, value: str | float | Duration) -> float:
    """Return a duration in seconds."""
    return int(quantity(name, Duration, value)) / 1e9


def _above_0(name: str, value: float) -> None:
    if not value > 0 or value == float("inf"):
        raise BadValueError(f"{error_prefix(name, value)}: not above 0. Use a number above 0.")
