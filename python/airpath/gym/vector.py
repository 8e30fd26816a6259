"""The vector environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from airpath import _airpath
from airpath.api import cores
from airpath.arguments import check_all, worker_threads
from airpath.engine.prepared import Runnable
from airpath.gym.actions import Decision
from airpath.gym.environment import SEEDS, started
from airpath.gym.episodes import Draw, Launcher
from airpath.gym.interval import INDEX, Interval
from airpath.gym.presets import aurora_episode, aurora_scenario, aurora_task, default_task
from airpath.gym.task import Task

__all__ = ["AirpathVectorEnv", "aurora_vector_env"]

Flags = NDArray[np.bool_]


class AirpathVectorEnv(VectorEnv[Any, Any, Any]):
    """Several environments like `AirpathEnv`, stepped by threads of the engine.

    Each environment has its seed and its replications; it behaves like a single one. Observation,
    action and reward are computed for all environments at once: the statistics of an `Interval`
    are arrays. Functions of your own must accept them.

    Parameters
    ----------
    num_envs : int
        Number of environments.
    scenario : Scenario or path
        The scenario. Its recordings are disabled.
    task, flow, draw
        As for `AirpathEnv`.
    threads : int, optional
        Threads that run the simulations. Default: one for each core.
    autoreset_mode : AutoresetMode
        When an environment starts its next episode: in the next step (the default, with reward 0
        and any action), in the same step (the last observation is in ``infos["final_obs"]``), or
        by ``reset(options={"reset_mask": …})`` only.
    copy : bool
        True if each step returns new arrays. With False, the observations of all steps share one
        array, which the next step changes. Default True.
    render_mode : None
        There are no render modes.
    """

    def __init__(
        self,
        num_envs: int,
        scenario: Runnable,
        *,
        task: Task | None = None,
        flow: int | str = 0,
        draw: Draw | None = None,
        threads: int | None = None,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: None = None,
    ) -> None:
        check_all(worker_threads(threads))
        self.task = task or default_task()
        self.num_envs, self.render_mode = num_envs, render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = self.task.observation.space
        self.single_action_space = self.task.action.space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.interval: Interval | None = None
        """Statistics of the last interval, an array each; None before the first `reset`."""
        self._copy = copy
        self._launcher = Launcher(scenario, self.task, flow, draw)
        self._vector = _airpath.AgentVector.create(num_envs, threads or cores())
        observation = self.task.observation
        self._width = len(observation.low)
        self._low = np.array(observation.low, np.float32)
        self._high = np.array(observation.high, np.float32)
        self._rows = np.zeros((num_envs, self._width * observation.history), np.float32)
        self._statistics = np.zeros((len(INDEX), num_envs))
        self._decision = Decision(np.ones(num_envs), np.ones(num_envs))
        self._segments = np.zeros(num_envs)
        self._seeds: list[int | None] = [None] * num_envs
        self._replications = [0] * num_envs
        self._steps = np.zeros(num_envs, np.int64)
        self._ended = np.zeros(num_envs, np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode in each environment.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Master seed of the first environment, and 1 more for each further one; or one for each.
            Default: the next replication of each environment.
        options : dict, optional
            ``reset_mask``: array of bool, the environments to reset. Default: all. Further options
            are those of `AirpathEnv.reset`.

        Returns
        -------
        observations : array
            One row for each environment.
        infos : dict
            Arrays of the values that `AirpathEnv.reset` returns.
        """
        given = dict(options or {})
        mask = np.asarray(given.pop("reset_mask", np.ones(self.num_envs, np.bool_)))
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
            seeds: Sequence[int | None] = [int(seed) + index for index in range(self.num_envs)]
        else:
            seeds = [None] * self.num_envs if seed is None else seed
        infos: dict[str, Any] = {}
        for index in map(int, np.flatnonzero(mask)):
            self._start(index, seeds[index], given, infos)
        self._ended &= ~mask
        self.interval = Interval(self._statistics)
        return self._observations(), infos

    def step(
        self, actions: Any
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """Decide, and run one interval in each environment.

        Parameters
        ----------
        actions : array
            An action for each environment.

        Returns
        -------
        observations, rewards, terminations, truncations : array
            As of `AirpathEnv.step`, for each environment.
        infos : dict
            The information of `AirpathEnv.reset` about the environments that were reset, and with
            reset in the same step ``final_obs`` and ``final_info``.
        """
        if self.interval is None:
            raise gymnasium.error.ResetNeeded("Call reset before step.")
        resting = self._ended
        if self.autoreset_mode is AutoresetMode.DISABLED and resting.any():
            ended = ", ".join(map(str, np.flatnonzero(resting)))
            raise gymnasium.error.ResetNeeded(
                f"Call reset with reset_mask: episodes {ended} ended."
            )
        rewards, terminations, truncations = self._advance(actions, ~resting)
        infos: dict[str, Any] = {}
        for index in np.flatnonzero(resting):
            self._start(int(index), None, {}, infos)
        self._ended = terminations | truncations
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._ended.any():
            infos = self._reset_ended(infos)
        if infos:
            self.interval = Interval(self._statistics)
        return self._observations(), rewards, terminations, truncations, infos

    def _reset_ended(self, infos: dict[str, Any]) -> dict[str, Any]:
        """Start the next episode of the environments whose episodes have ended."""
        for index in map(int, np.flatnonzero(self._ended)):
            last = {"final_obs": self._rows[index].copy(), "final_info": {}}
            infos = self._add_info(infos, last, index)
            self._start(index, None, {}, infos)
        self._ended[:] = False
        return infos

    def _advance(self, actions: Any, mask: Flags) -> tuple[NDArray[np.float64], Flags, Flags]:
        """Run one interval in the environments of `mask`."""
        assert self.interval is not None
        task, are_all = self.task, bool(mask.all())
        window, rate = task.action.decide(np.asarray(actions), self._decision, self.interval)
        decisions = np.empty((self.num_envs, 2))
        decisions[:, 0], decisions[:, 1] = window, rate
        if not are_all:
            decisions[~mask] = np.stack(self._decision, axis=1)[~mask]
        self._decision = Decision(decisions[:, 0].copy(), decisions[:, 1])
        decisions[:, 0] *= self._segments
        values, flags = self._vector.step(decisions.tobytes(), mask.tobytes())
        found = np.frombuffer(values).reshape(self._statistics.shape)
        self._statistics = found if are_all else np.where(mask, found, self._statistics)
        self.interval = interval = Interval(self._statistics)
        rewards = np.zeros(self.num_envs)
        rewards[:] = task.reward(interval)
        rewards[~mask] = 0.0
        self._add_rows(interval, None if are_all else ~mask)
        self._steps += mask
        bits = np.frombuffer(flags, np.uint8)
        truncations = (bits & 1).astype(np.bool_)
        if task.max_steps is not None:
            truncations |= mask & (self._steps >= task.max_steps)
        return rewards, (bits & 2).astype(np.bool_), truncations

    def _add_rows(self, interval: Interval, kept: Flags | None) -> None:
        """Add the row of an interval to the observations, except those of `kept`."""
        before = None if kept is None else self._rows[kept]
        self._rows[:, : -self._width] = self._rows[:, self._width :]
        newest = self._rows[:, -self._width :]
        for place, value in enumerate(self.task.observation.row(interval)):
            newest[:, place] = value
        np.maximum(newest, self._low, out=newest)
        np.minimum(newest, self._high, out=newest)
        if kept is not None:
            self._rows[kept] = before

    def _start(
        self, index: int, seed: int | None, options: Mapping[str, Any], infos: dict[str, Any]
    ) -> None:
        """Start the next episode of an environment and add its information to `infos`."""
        last = self._seeds[index]
        if seed is None and last is not None:
            self._replications[index] += 1
        else:
            self._seeds[index] = int(self.np_random.integers(SEEDS)) if seed is None else int(seed)
            self._replications[index] = 0
        self._replications[index] = options.get("replication", self._replications[index])
        overrides = options.get("overrides")
        run = self._launcher.start(self._seeds[index] or 0, self._replications[index], overrides)
        interval, observation, _ = started(run, self.task)
        self._vector.put(index, run.simulation)
        self._rows[index] = observation
        # The statistics of the last step may be read-only.
        self._statistics = self._statistics.copy()
        self._statistics[:, index] = interval
        for values, value in zip(self._decision, run.decision, strict=True):
            values[index] = value
        self._segments[index] = run.segment_bytes
        self._steps[index] = 0
        for key, value in run.info.items():
            infos.setdefault(key, np.full(self.num_envs, None, object))[index] = value
            infos.setdefault(f"_{key}", np.zeros(self.num_envs, np.bool_))[index] = True

    def _observations(self) -> NDArray[np.float32]:
        return self._rows.copy() if self._copy else self._rows


def aurora_vector_env(num_envs: int, task: Task | None = None, **given: Any) -> AirpathVectorEnv:
    """Return several training environments of Aurora.

    Parameters
    ----------
    num_envs : int
        Number of environments.
    task : Task, optional
        Another task. Default: `aurora_task`.
    **given
        Further arguments of `AirpathVectorEnv`.
    """
    task = task or aurora_task()
    return AirpathVectorEnv(num_envs, aurora_scenario(), task=task, draw=aurora_episode, **given)
