"""The single environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from airpath.engine.prepared import Runnable
from airpath.gym.actions import Decision
from airpath.gym.episodes import Draw, Launcher, Run
from airpath.gym.interval import ROW, Interval
from airpath.gym.observations import History
from airpath.gym.presets import aurora_episode, aurora_scenario, aurora_task, default_task
from airpath.gym.task import Task

__all__ = ["SEEDS", "AirpathEnv", "aurora_env", "started"]

SEEDS = 2**63
"""Upper end of random master seeds."""


class AirpathEnv(gymnasium.Env[Any, Any]):
    """A scenario in which an agent decides the window and the rate of a TCP flow.

    The agent replaces the congestion control algorithm of one flow. Window and rate are constant
    between two decisions: a loss, a mark or a timeout does not change them. Loss recovery and
    retransmission timer remain those of the TCP profile. At a timeout the sender deems all
    outstanding segments lost, doubles the timeout, and retransmits within the agent's window.

    An episode is one replication. It begins when the flow starts. ``reset(seed=s)`` selects the
    master seed s and replication 0, each further `reset` the next replication. An episode is
    *terminated* when the flow has delivered all its data or was aborted, and *truncated* at the end
    of the scenario or after `Task.max_steps`.

    Parameters
    ----------
    scenario : Scenario or path
        The scenario. Its recordings are disabled.
    task : Task, optional
        Intervals, observation, action and reward. Default: `default_task`.
    flow : int or str
        Index or name of the agent's group of flows, which must have one TCP flow. Default 0.
    draw : callable or mapping, optional
        How episodes differ: a function that returns an `Episode`, called with a random generator,
        or ranges of keys, as in ``[random]`` of a sweep file: ``{"bottleneck.link.rate":
        {"uniform": ["1 Mbit/s", "6 Mbit/s"]}}``. Default: only the random streams differ.
    render_mode : None
        There are no render modes.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        scenario: Runnable,
        *,
        task: Task | None = None,
        flow: int | str = 0,
        draw: Draw | None = None,
        render_mode: None = None,
    ) -> None:
        self.task = task or default_task()
        self.render_mode = render_mode
        self.observation_space = self.task.observation.space
        self.action_space = self.task.action.space
        self.interval: Interval | None = None
        """Statistics of the last interval; None before the first `reset`."""
        self._launcher = Launcher(scenario, self.task, flow, draw)
        self._history: History | None = None
        self._run: Run | None = None
        self._seed: int | None = None
        self._replication = 0
        self._decision = Decision()
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode.

        Parameters
        ----------
        seed : int, optional
            Master seed, 0 to 2^64 - 1; selects replication 0. Default: the next replication of the
            same seed; at the first call, a random seed.
        options : dict, optional
            ``replication``: index of the replication. ``overrides``: keys of the scenario and their
            values, instead of drawn ones.

        Returns
        -------
        observation : array
            Observation of an empty interval, or of the last interval of the lead-in.
        info : dict
            ``seed``, ``replication`` and ``overrides`` of the episode, and ``command``, which runs
            the same network with the congestion control of the scenario.
        """
        super().reset(seed=seed)
        options = options or {}
        if seed is not None or self._seed is None:
            self._seed = int(self.np_random.integers(SEEDS)) if seed is None else int(seed)
            self._replication = 0
        else:
            self._replication += 1
        self._replication = options.get("replication", self._replication)
        self._run = run = self._launcher.start(
            self._seed, self._replication, options.get("overrides")
        )
        self._decision, self._steps = run.decision, 0
        self.interval, observation, self._history = started(run, self.task)
        return observation, run.info

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Decide, and run one interval.

        Parameters
        ----------
        action : array or int
            An element of the action space.

        Returns
        -------
        observation : array
            Observation after the interval.
        reward : float
            Reward of the interval.
        terminated, truncated : bool
            True at the end of an episode.
        info : dict
            Empty.
        """
        run, task = self._run, self.task
        if run is None or self.interval is None or self._history is None:
            raise gymnasium.error.ResetNeeded("Call reset before step.")
        self._decision = window, rate = task.action.decide(action, self._decision, self.interval)
        window_bytes = window * run.segment_bytes
        values, has_ended, [is_finished] = run.simulation.step_one(window_bytes, rate)
        self.interval = interval = Interval(ROW.unpack(values))
        self._steps += 1
        is_late = task.max_steps is not None and self._steps >= task.max_steps
        reward = float(task.reward(interval))
        return self._history.add(interval), reward, is_finished, has_ended or is_late, {}


def started(run: Run, task: Task) -> tuple[Interval, NDArray[np.float32], History]:
    """Run the lead-in of an episode. Return the last interval, the observation and the history.

    Parameters
    ----------
    run : Run
        The episode.
    task : Task
        The task.
    """
    history = History(task.observation)
    values, has_ended, _ = run.simulation.first()
    interval = Interval(ROW.unpack(values))
    observation = history.fill(interval)
    window, rate = run.decision
    for _ in range(task.lead_in):
        if not has_ended:
            values, has_ended, _ = run.simulation.step_one(window * run.segment_bytes, rate)
            interval = Interval(ROW.unpack(values))
            observation = history.add(interval)
    return interval, observation, history


def aurora_env(task: Task | None = None, render_mode: None = None) -> AirpathEnv:
    """Return the training environment of Aurora: its links and its task.

    Parameters
    ----------
    task : Task, optional
        Another task. Default: `aurora_task`.
    render_mode : None
        There are no render modes.
    """
    task = task or aurora_task()
    return AirpathEnv(aurora_scenario(), task=task, draw=aurora_episode, render_mode=render_mode)
