"""Observations: functions of the statistics of an interval, with a history."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from airpath.arguments import error_prefix
from airpath.errors import BadValueError
from airpath.gym.interval import INDEX, Interval

__all__ = ["Feature", "Features", "FunctionObservation", "History", "Observation"]

Floats = NDArray[np.float32]


class Observation(ABC):
    """The agent's observation: a row of numbers for each of the last intervals, the oldest first.

    Values outside their range are moved to the nearest value of the range.

    Parameters
    ----------
    low, high : sequence of float
        Range of each number of a row. An infinite bound is allowed.
    history : int
        Number of intervals, from 1.
    """

    def __init__(self, low: Sequence[float], high: Sequence[float], history: int) -> None:
        if not isinstance(history, int) or isinstance(history, bool) or history < 1:
            raise BadValueError(
                f"{error_prefix('history', history)}: not an integer from 1. "
                "Use a number of intervals."
            )
        self.low, self.high, self.history = tuple(low), tuple(high), history

    @property
    def space(self) -> spaces.Box:
        """The observation space: one axis, single precision."""
        low, high = (
            np.tile(np.array(end, np.float32), self.history) for end in (self.low, self.high)
        )
        return spaces.Box(low, high, dtype=np.float32)

    @abstractmethod
    def row(self, interval: Interval) -> Sequence[Any]:
        """Return the numbers of an interval.

        In a vector environment each is an array with one element for each environment.
        """


@dataclass(frozen=True)
class Feature:
    """A statistic as part of an observation: `scale` · statistic, limited to a range.

    Parameters
    ----------
    name : str
        Name of the statistic, one of `QUANTITIES`.
    scale : float
        Factor. Default 1.
    low, high : float
        Range of the scaled statistic. Default: 0 to infinity.
    """

    name: str
    scale: float = 1.0
    low: float = 0.0
    high: float = math.inf

    def __post_init__(self) -> None:
        if self.name not in INDEX:
            raise BadValueError(
                f"{error_prefix('name', self.name)}: unknown statistic; expected one of: "
                f"{', '.join(INDEX)}."
            )


class Features(Observation):
    """Statistics of the last intervals.

    Parameters
    ----------
    *features : Feature or str
        The statistics of a row; a string has no scale and the range from 0 on.
    history : int
        Number of intervals, from 1. Default 1.
    """

    def __init__(self, *features: Feature | str, history: int = 1) -> None:
        made = [each if isinstance(each, Feature) else Feature(each) for each in features]
        super().__init__([each.low for each in made], [each.high for each in made], history)
        self.features = tuple(made)
        self._places = [(INDEX[each.name], each.scale) for each in made]

    def row(self, interval: Interval) -> Sequence[Any]:
        """Return the scaled statistics."""
        return [interval[place] * scale for place, scale in self._places]


class FunctionObservation(Observation):
    """An observation with a function of your own.

    Parameters
    ----------
    function : callable
        Called with an `Interval`; returns a sequence of numbers, in a vector environment of arrays.
    low, high : sequence of float
        Range of each number.
    history : int
        Number of intervals, from 1. Default 1.
    """

    def __init__(
        self,
        function: Callable[[Interval], Sequence[Any]],
        low: Sequence[float],
        high: Sequence[float],
        history: int = 1,
    ) -> None:
        super().__init__(low, high, history)
        self._function = function

    def row(self, interval: Interval) -> Sequence[Any]:
        """Return the result of the function."""
        return self._function(interval)


class History:
    """The rows of the last intervals of a single environment.

    Parameters
    ----------
    observation : Observation
        The observation.
    """

    def __init__(self, observation: Observation) -> None:
        self._observation = observation
        self._width = len(observation.low)
        self._rows = np.zeros(self._width * observation.history, np.float32)
        self._limits = list(zip(observation.low, observation.high, strict=True))

    def fill(self, interval: Interval) -> Floats:
        """Return the observation at the start of an episode: each row is that of `interval`."""
        self._rows[:] = np.tile(self._row(interval), self._observation.history)
        return self._rows.copy()

    def add(self, interval: Interval) -> Floats:
        """Add the row of an interval and return the observation."""
        rows, width = self._rows, self._width
        rows[:-width] = rows[width:]
        rows[-width:] = self._row(interval)
        return rows.copy()

    def _row(self, interval: Interval) -> list[float]:
        row = self._observation.row(interval)
        return [
            low if value < low else high if value > high else value
            for value, (low, high) in zip(row, self._limits, strict=True)
        ]
