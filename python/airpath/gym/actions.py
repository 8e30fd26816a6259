"""Actions: conversion of an agent's action to a congestion window and a pacing rate."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from airpath.arguments import quantity
from airpath.gym.interval import Interval
from airpath.scenario.units import Rate

__all__ = [
    "Action",
    "Decision",
    "FunctionAction",
    "RateFactor",
    "WindowFactor",
    "WindowOperations",
]


class Decision(NamedTuple):
    """Congestion window and pacing rate of a flow until the next decision.

    In a vector environment both are arrays with one element for each environment.
    """

    window: Any = math.inf
    """Congestion window, full-sized segments; infinity for no limit. Less than 1 counts as 1."""
    rate: Any = math.inf
    """Pacing rate of IP packets, bit/s; infinity for no pacing."""


class Action(ABC):
    """The agent's actions and their effect.

    A subclass has the action space, the decision with which an episode starts, and the decision
    that follows from an action.
    """

    @property
    @abstractmethod
    def space(self) -> spaces.Space[Any]:
        """The action space."""

    @abstractmethod
    def first(self, initial_window: float) -> Decision:
        """Return the decision at the start of an episode.

        Parameters
        ----------
        initial_window : float
            Initial window of the flow's TCP profile, segments.
        """

    @abstractmethod
    def decide(self, action: Any, last: Decision, interval: Interval) -> Decision:
        """Return the decision for the next interval.

        Parameters
        ----------
        action : array or int
            Action of the agent; in a vector environment, the environments are the first axis.
        last : Decision
            Decision of the previous interval.
        interval : Interval
            Statistics of the previous interval.
        """


def _component(action: Any) -> Any:
    """Return the only component of a continuous action: a number, or one for each environment."""
    array = np.asarray(action)
    return float(array[0]) if array.ndim == 1 else array[:, 0].astype(np.float64)


def _limited(value: Any, low: float, high: float) -> Any:
    if isinstance(value, np.ndarray):
        return np.minimum(np.maximum(value, low), high)
    return min(max(value, low), high)


@dataclass(frozen=True)
class RateFactor(Action):
    """Multiply the pacing rate; the window is unlimited (Aurora, Jay et al. 2019).

    An action a ≥ 0 multiplies the rate by 1 + `step`·a; a < 0 divides it by 1 - `step`·a. A receive
    window that is smaller than the bytes in the network limits the flow.

    Parameters
    ----------
    step : float
        Relative change per unit of the action, above 0. Default 0.025.
    low, high : str, float or Rate
        Range of the rate. Default 480 kbit/s and 12 Mbit/s: 40 and 1000 packets/s of 1500 B.
    initial : str, float or Rate
        Rate at the start of an episode. Default 2 Mbit/s.
    bound : float
        Largest absolute value of an action. Default 10^12.
    """

    step: float = 0.025
    low: str | float | Rate = "480 kbit/s"
    high: str | float | Rate = "12 Mbit/s"
    initial: str | float | Rate = "2 Mbit/s"
    bound: float = 1e12

    def __post_init__(self) -> None:
        for name in ("low", "high", "initial"):
            value = quantity(name, Rate, getattr(self, name))
            object.__setattr__(self, name, value)

    @property
    def space(self) -> spaces.Space[Any]:
        """One real number."""
        return spaces.Box(-self.bound, self.bound, (1,), np.float32)

    def first(self, initial_window: float) -> Decision:
        """Return the initial rate and an unlimited window."""
        return Decision(rate=float(self.initial))

    def decide(self, action: Any, last: Decision, interval: Interval) -> Decision:
        """Return the changed rate and an unlimited window."""
        change = _component(action)
        factor = 1 + self.step * abs(change)
        rate = last.rate
        if isinstance(change, np.ndarray):
            rate = np.where(change >= 0, rate * factor, rate / factor)
        else:
            rate = rate * factor if change >= 0 else rate / factor
        return Decision(last.window, _limited(rate, float(self.low), float(self.high)))


@dataclass(frozen=True)
class WindowFactor(Action):
    """Multiply the congestion window by `base`^a with an action a in [-1, 1]; no pacing.

    Parameters
    ----------
    base : float
        Largest factor, above 1. Default 2.
    low, high : float
        Range of the window, segments, from 1. Default 2 and 10 000.
    initial : float, optional
        Window at the start of an episode, segments. Default: the initial window of the TCP profile.
    """

    base: float = 2.0
    low: float = 2.0
    high: float = 10_000.0
    initial: float | None = None

    @property
    def space(self) -> spaces.Space[Any]:
        """One number in [-1, 1]."""
        return spaces.Box(-1.0, 1.0, (1,), np.float32)

    def first(self, initial_window: float) -> Decision:
        """Return the initial window."""
        window = initial_window if self.initial is None else float(self.initial)
        return Decision(window=_limited(window, self.low, self.high))

    def decide(self, action: Any, last: Decision, interval: Interval) -> Decision:
        """Return the changed window."""
        window = last.window * self.base ** _component(action)
        return Decision(_limited(window, self.low, self.high), last.rate)


@dataclass(frozen=True)
class WindowOperations(Action):
    """Select one of several changes of the window: factors and increments; no pacing.

    The default has the actions of mvfst-rl (Sivakumar et al. 2019): no change, half, -10, +10 and
    twice the window.

    Parameters
    ----------
    factors, increments : sequence of float
        New window = factor · window + increment, segments, for each action.
    low, high : float
        Range of the window, segments, from 1. Default 2 and 10 000.
    """

    factors: tuple[float, ...] = (1.0, 0.5, 1.0, 1.0, 2.0)
    increments: tuple[float, ...] = (0.0, 0.0, -10.0, 10.0, 0.0)
    low: float = 2.0
    high: float = 10_000.0

    @property
    def space(self) -> spaces.Space[Any]:
        """The index of a change."""
        return spaces.Discrete(len(self.factors))

    def first(self, initial_window: float) -> Decision:
        """Return the initial window of the TCP profile."""
        return Decision(window=_limited(initial_window, self.low, self.high))

    def decide(self, action: Any, last: Decision, interval: Interval) -> Decision:
        """Return the changed window."""
        if np.ndim(action) == 0:
            factor, increment = self.factors[int(action)], self.increments[int(action)]
        else:
            factor, increment = np.take(self.factors, action), np.take(self.increments, action)
        window = last.window * factor + increment
        return Decision(_limited(window, self.low, self.high), last.rate)


class FunctionAction(Action):
    """An action with a function of your own.

    Parameters
    ----------
    space : gymnasium.Space
        The action space.
    decide : callable
        Called with the action, the last `Decision` and the last `Interval`; returns a `Decision`.
    first : Decision, optional
        Decision at the start of an episode. Default: the initial window of the TCP profile, no
        pacing.
    """

    def __init__(
        self,
        space: spaces.Space[Any],
        decide: Callable[[Any, Decision, Interval], Decision],
        first: Decision | None = None,
    ) -> None:
        self._space, self._decide, self._first = space, decide, first

    @property
    def space(self) -> spaces.Space[Any]:
        """The given space."""
        return self._space

    def first(self, initial_window: float) -> Decision:
        """Return the given decision."""
        return self._first or Decision(window=initial_window)

    def decide(self, action: Any, last: Decision, interval: Interval) -> Decision:
        """Return the result of the function."""
        return self._decide(action, last, interval)
