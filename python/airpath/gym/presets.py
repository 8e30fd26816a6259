"""Published tasks, and the default task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numpy.random import Generator

from airpath.gym.actions import RateFactor, WindowFactor
from airpath.gym.episodes import Episode
from airpath.gym.interval import Interval
from airpath.gym.observations import Feature, Features, FunctionObservation
from airpath.gym.rewards import (
    ThroughputDelayLoss,
    aurora_reward,
    orca_delay_metric,
    orca_reward,
)
from airpath.gym.steps import RttStep, TimeStep
from airpath.gym.task import Task
from airpath.scenario.load import loads
from airpath.scenario.scenario import Scenario

__all__ = ["aurora_episode", "aurora_scenario", "aurora_task", "default_task", "orca_task"]

_AURORA = """
name = "Aurora's training link"
duration = "10000 s"

[bottleneck.aqm]
kind = "droptail"
limit = "100 packets"

[bottleneck.link]
kind = "fixed"
rate = "3.6 Mbit/s"
loss = 0.01

[[flows]]
base_rtt = "200 ms"

[flows.tcp]
recovery = "sack"
loss_detection = "rack"
receive_window = "1 GB"
delayed_ack_segments = 1
handshake = false
"""
_PACKET_BITS = 12_000
"""Bits of a packet of 1500 B."""
_NO_RATE, _NO_TIME = 1.0, 1e-9
"""Added to denominators, bit/s and s: without samples a ratio is 0 instead of undefined."""


def default_task(**changes: Any) -> Task:
    """Return a task for any scenario: once per RTT, the agent multiplies its window.

    The observation has throughput, queueing delay, loss and window of the last four intervals,
    relative to the largest throughput and the smallest RTT of the episode. The reward is
    `ThroughputDelayLoss`.

    Parameters
    ----------
    **changes
        Other values of `Task`.
    """
    observation = Features(
        Feature("throughput", 1e-7, high=1e3),
        Feature("send_ratio", high=10.0),
        Feature("rtt_ratio", 1.0, high=100.0),
        Feature("rtt_slope", low=-1.0, high=10.0),
        Feature("loss_share", high=1.0),
        Feature("mark_share", high=1.0),
        Feature("path_min_rtt", high=100.0),
        history=4,
    )
    task = {
        "step": RttStep(1.0),
        "observation": observation,
        "action": WindowFactor(),
        "reward": ThroughputDelayLoss(),
    }
    return Task(**{**task, **changes})


def aurora_task(**changes: Any) -> Task:
    """Return the task of Aurora's training environment (PCC-RL, Jay et al. 2019).

    A step is half the mean RTT of the previous one. The observation has, for ten intervals, the
    slope of the RTT, the ratio of the mean RTT to the smallest mean RTT, and the ratio of send rate
    to throughput. The action is `RateFactor`, the reward `aurora_reward`. Two intervals precede the
    first observation. An episode has 400 steps.

    Parameters
    ----------
    **changes
        Other values of `Task`.
    """
    observation = Features(
        Feature("rtt_slope", low=-1.0, high=10.0),
        Feature("rtt_ratio", low=1.0, high=1e4),
        Feature("send_ratio", low=0.0, high=1e3),
        history=10,
    )
    task = {
        "step": RttStep(0.5),
        "observation": observation,
        "action": RateFactor(),
        "reward": aurora_reward,
        "lead_in": 2,
        "max_steps": 400,
    }
    return Task(**{**task, **changes})


def orca_task(**changes: Any) -> Task:
    """Return a task with the observation and the reward of Orca (Abbasloo et al. 2020).

    A step takes 20 ms. The observation has, for ten intervals, the throughput and the window per
    smoothed RTT (at most 10) in units of the largest throughput, five times the loss rate in this
    unit, RTT samples per segment of the window, the duration in s, the ratio of the smallest to the
    smoothed RTT, and `orca_delay_metric`. The action multiplies the window by 4^a, a in [-1, 1].
    Difference from Orca: there the action multiplies the window of CUBIC, which runs between two
    decisions; here the window is constant between them.

    Parameters
    ----------
    **changes
        Other values of `Task`.
    """
    observation = FunctionObservation(
        _orca_row,
        low=[0.0] * 7,
        high=[1.0, 10.0, 10.0, 100.0, 10.0, 1.0, 1.0],
        history=10,
    )
    task = {
        "step": TimeStep("20 ms"),
        "observation": observation,
        "action": WindowFactor(base=4.0),
        "reward": orca_reward,
    }
    return Task(**{**task, **changes})


def _orca_row(interval: Interval) -> Sequence[Any]:
    most = interval.largest_throughput + _NO_RATE
    window_rate = 8 * interval.window_bytes / (interval.smoothed_rtt + _NO_TIME)
    loss_rate = 8 * interval.lost_bytes / (interval.duration + _NO_TIME)
    return [
        interval.throughput / most,
        window_rate / most,
        5 * loss_rate / most,
        interval.rtt_samples * interval.segment_bytes / (interval.window_bytes + 1),
        interval.duration,
        interval.path_min_rtt / (interval.smoothed_rtt + _NO_TIME),
        orca_delay_metric(interval),
    ]


def aurora_scenario() -> Scenario:
    """Return a scenario with one link and one flow, whose parameters `aurora_episode` replaces.

    The flow recovers losses with SACK and RACK. Differences from PCC-RL: a packet has 40 B of
    headers, random losses occur behind the queue, and lost packets are retransmitted.
    """
    return loads(_AURORA)


def aurora_episode(rng: Generator) -> Episode:
    """Draw an episode from the ranges of Aurora's training environment.

    Link 100 to 500 packets/s of 1500 B (1.2 to 6 Mbit/s), RTT 100 ms to 1 s, buffer 1 + ⌊e^u⌋
    packets with u from 0 to 8, loss 0 to 5 %, each uniformly distributed; initial rate 0.3 to 1.5
    times that of the link.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the random numbers.
    """
    rate = rng.uniform(100, 500) * _PACKET_BITS
    one_way_s = rng.uniform(0.05, 0.5)
    packets = 1 + math.floor(math.exp(rng.uniform(0, 8)))
    loss = rng.uniform(0.0, 0.05)
    initial = rng.uniform(0.3, 1.5) * rate
    overrides = {
        "bottleneck.link.rate": f"{round(rate)} bit/s",
        "bottleneck.link.loss": round(loss, 6),
        "bottleneck.aqm.limit": f"{packets} packets",
        "flows.0.base_rtt": f"{round(2e6 * one_way_s)} us",
    }
    return Episode(overrides, rate=initial)
