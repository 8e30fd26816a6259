"""The task of an agent: when it decides, what it sees, what it may do, and its reward."""

from __future__ import annotations

from dataclasses import dataclass

from airpath.gym.actions import Action
from airpath.gym.observations import Observation
from airpath.gym.rewards import Reward
from airpath.gym.steps import Step

__all__ = ["Task"]


@dataclass(frozen=True)
class Task:
    """Intervals, observation, action and reward of an agent.

    Parameters
    ----------
    step : TimeStep, RttStep or AckStep
        Length of the intervals between two decisions.
    observation : Observation
        What the agent sees after an interval.
    action : Action
        What the agent decides.
    reward : callable
        Reward of an interval: called with an `Interval`.
    lead_in : int
        Number of intervals with the initial decision that `reset` runs. Default 0.
    max_steps : int, optional
        Number of steps after which an episode is truncated. Default: only the end of the scenario
        truncates it.
    """

    step: Step
    observation: Observation
    action: Action
    reward: Reward
    lead_in: int = 0
    max_steps: int | None = None
