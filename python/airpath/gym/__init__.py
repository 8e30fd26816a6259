"""Environments of Gymnasium in which an agent is a TCP flow, over any scenario.

Requires the extra ``airpath[gym]``. ``import airpath.gym`` registers ``airpath/Flow-v0``, an
environment over a scenario of your own, and ``airpath/Aurora-v0``, the training task of Aurora.
"""

from __future__ import annotations

try:
    import gymnasium as _gymnasium
except ImportError as _missing:
    raise ImportError(
        "airpath.gym: requires gymnasium, which is not installed. Install it: "
        'pip install "airpath[gym]".'
    ) from _missing

from airpath.gym.actions import (
    Action,
    Decision,
    FunctionAction,
    RateFactor,
    WindowFactor,
    WindowOperations,
)
from airpath.gym.environment import AirpathEnv
from airpath.gym.episodes import Episode
from airpath.gym.interval import QUANTITIES, Interval
from airpath.gym.observations import Feature, Features, FunctionObservation, Observation
from airpath.gym.presets import (
    aurora_episode,
    aurora_scenario,
    aurora_task,
    default_task,
    orca_task,
)
from airpath.gym.rewards import ThroughputDelayLoss, aurora_reward, orca_delay_metric, orca_reward
from airpath.gym.steps import AckStep, RttStep, Step, TimeStep
from airpath.gym.task import Task
from airpath.gym.vector import AirpathVectorEnv

__all__ = [
    "QUANTITIES",
    "AckStep",
    "Action",
    "AirpathEnv",
    "AirpathVectorEnv",
    "Decision",
    "Episode",
    "Feature",
    "Features",
    "FunctionAction",
    "FunctionObservation",
    "Interval",
    "Observation",
    "RateFactor",
    "RttStep",
    "Step",
    "Task",
    "ThroughputDelayLoss",
    "TimeStep",
    "WindowFactor",
    "WindowOperations",
    "aurora_episode",
    "aurora_reward",
    "aurora_scenario",
    "aurora_task",
    "default_task",
    "orca_delay_metric",
    "orca_reward",
    "orca_task",
]

for _id, _single, _vector in (
    ("Flow", "AirpathEnv", "AirpathVectorEnv"),
    ("Aurora", "aurora_env", "aurora_vector_env"),
):
    _gymnasium.register(
        f"airpath/{_id}-v0",
        entry_point=f"airpath.gym.environment:{_single}",
        vector_entry_point=f"airpath.gym.vector:{_vector}",
        disable_env_checker=True,
    )
