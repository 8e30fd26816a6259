"""Rewards: functions of the statistics of an interval.

A reward is any callable that returns a number for an `Interval`. The arithmetic of these functions
also works with arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from airpath.gym.interval import Interval

__all__ = [
    "Reward",
    "ThroughputDelayLoss",
    "aurora_reward",
    "orca_delay_metric",
    "orca_reward",
]

Reward = Callable[[Interval], Any]
"""A function of an interval's statistics; in a vector environment it returns an array."""


@dataclass(frozen=True)
class ThroughputDelayLoss:
    """Linear reward: throughput minus queueing delay minus loss.

    The reward of an interval is `throughput` · throughput in Mbit/s - `delay` · (mean RTT -
    smallest RTT of the episode) in s - `loss` · share of lost bytes.

    Parameters
    ----------
    throughput : float
        Reward per Mbit/s. Default 1.
    delay : float
        Price of a second of queueing delay. Default 10.
    loss : float
        Price of the loss of all bytes. Default 10.
    """

    throughput: float = 1.0
    delay: float = 10.0
    loss: float = 10.0

    def __call__(self, interval: Interval) -> Any:
        """Return the reward of an interval."""
        return (
            self.throughput * 1e-6 * interval.throughput
            - self.delay * (interval.mean_rtt - interval.path_min_rtt)
            - self.loss * interval.loss_share
        )


def aurora_reward(interval: Interval) -> Any:
    """Return 0.001·(10·packets/s - 1000·RTT - 2000·share of lost bytes), RTT in s.

    It is the reward of Aurora's training environment (`network_sim.py` of PCC-RL): delivered
    packets, mean RTT and losses of one interval.
    """
    packets = interval.throughput / (8 * interval.segment_bytes)
    return 0.01 * packets - interval.mean_rtt - 2 * interval.loss_share


def orca_delay_metric(interval: Interval) -> Any:
    """Return min(1, 1.25 · smallest RTT of the episode / smoothed RTT); 1 without samples."""
    ratio = 1.25 * interval.path_min_rtt / (interval.smoothed_rtt + 1e-9)
    unknown = interval.path_min_rtt == 0
    return np.minimum(1.0, ratio + unknown)


def orca_reward(interval: Interval) -> Any:
    """Return Orca's reward: (throughput - 5 · loss rate) / largest throughput · delay metric.

    The loss rate is that of lost bytes; the largest throughput is that of the episode so far.
    """
    loss_rate = 8 * interval.lost_bytes / (interval.duration + 1e-9)
    share = (interval.throughput - 5 * loss_rate) / (interval.largest_throughput + 1.0)
    return share * orca_delay_metric(interval)
