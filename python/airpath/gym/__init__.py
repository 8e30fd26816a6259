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
    Action as Action,
)
from airpath.gym.actions import (
    Decision as Decision,
)
from airpath.gym.actions import (
    FunctionAction as FunctionAction,
)
from airpath.gym.actions import (
    RateFactor as RateFactor,
)
from airpath.gym.actions import (
    WindowFactor as WindowFactor,
)
from airpath.gym.actions import (
    WindowOperations as WindowOperations,
)
from airpath.gym.environment import AirpathEnv as AirpathEnv
from airpath.gym.episodes import Episode as Episode
from airpath.gym.interval import QUANTITIES as QUANTITIES
from airpath.gym.interval import Interval as Interval
from airpath.gym.observations import (
    Feature as Feature,
)
from airpath.gym.observations import (
    Features as Features,
)
from airpath.gym.observations import (
    FunctionObservation as FunctionObservation,
)
from airpath.gym.observations import (
    Observation as Observation,
)
from airpath.gym.presets import (
    aurora_episode as aurora_episode,
)
from airpath.gym.presets import (
    aurora_scenario as aurora_scenario,
)
from airpath.gym.presets import (
    aurora_task as aurora_task,
)
from airpath.gym.presets import (
    default_task as default_task,
)
from airpath.gym.rewards import (
    ThroughputDelayLoss as ThroughputDelayLoss,
)
from airpath.gym.rewards import (
    aurora_reward as aurora_reward,
)
from airpath.gym.steps import (
    AckStep as AckStep,
)
from airpath.gym.steps import (
    RttStep as RttStep,
)
from airpath.gym.steps import (
    Step as Step,
)
from airpath.gym.steps import (
    TimeStep as TimeStep,
)
from airpath.gym.task import Task as Task

for _id, _environment in (("Flow", "AirpathEnv"), ("Aurora", "aurora_env")):
    _gymnasium.register(
        f"airpath/{_id}-v0",
        entry_point=f"airpath.gym.environment:{_environment}",
        disable_env_checker=True,
    )
