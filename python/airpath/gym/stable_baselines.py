"""Adapter to the vector environments of stable-baselines3, which must be installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

from airpath.errors import BadValueError
from airpath.gym.vector import AirpathVectorEnv

__all__ = ["StableBaselinesVecEnv"]


class StableBaselinesVecEnv(VecEnv):  # type: ignore[misc]
    """A vector environment as stable-baselines3 expects it.

    Parameters
    ----------
    env : AirpathVectorEnv
        The environments, with ``autoreset_mode = AutoresetMode.SAME_STEP``.
    """

    def __init__(self, env: AirpathVectorEnv) -> None:
        if env.autoreset_mode is not AutoresetMode.SAME_STEP:
            raise BadValueError(
                f"autoreset_mode = {env.autoreset_mode.name}: stable-baselines3 requires a reset "
                "in the same step. Use AutoresetMode.SAME_STEP."
            )
        self.env = env
        self.render_mode = None
        self._actions: Any = None
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> Any:
        """Start an episode in each environment, with the seeds of `seed`; return observations."""
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        observations, infos = self.env.reset(seed=seeds)
        self.reset_infos = [
            {key: value[index] for key, value in infos.items() if not key.startswith("_")}
            for index in range(self.num_envs)
        ]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: Any) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Run one interval; return observations, rewards, ends and information."""
        observations, rewards, terminated, truncated, found = self.env.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for index in np.flatnonzero(terminated | truncated):
            infos[index] = {
                "terminal_observation": found["final_obs"][index],
                "TimeLimit.truncated": bool(truncated[index] and not terminated[index]),
                **{key: found[key][index] for key in ("seed", "replication", "overrides")},
            }
        return observations, rewards.astype(np.float32), terminated | truncated, infos

    def close(self) -> None:
        """Close the environments."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the vector environment, once for each index."""
        return [getattr(self.env, attr_name)] * len(self._places(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the vector environment, for all environments."""
        setattr(self.env, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> list[Any]:
        """Raise an error: the environments are no separate objects."""
        raise NotImplementedError(f"{method_name}: the environments are no separate objects")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Return False for each index."""
        return [False] * len(self._places(indices))

    def _places(self, indices: Any) -> Sequence[int]:
        return list(self._get_indices(indices))
