"""Steps and packets per second of CPU time of environments, and baselines over Aurora's links.

``python tests/benches/environments.py`` prints the speed; with the argument ``aurora``, the reward
of agents that do not learn, which takes some minutes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

import airpath as ap
from airpath import gym

PACKETS_PER_SECOND = 100e6 / 12_000
TCP = {
    "recovery": "sack",
    "loss_detection": "rack",
    "receive_window": "1 GB",
    "delayed_ack_segments": 1,
    "handshake": False,
}
ACTIONS = {
    "window": gym.WindowFactor(initial=1000.0, low=1000.0, high=1000.0),
    "rate": gym.RateFactor(initial="95 Mbit/s", low="95 Mbit/s", high="95 Mbit/s"),
}
COUNT = 16
EPISODES = 400


def scenario(cc: str = "cubic") -> ap.Scenario:
    """One flow over 100 Mbit/s, RTT 100 ms, without losses."""
    aqm = ap.aqm.DropTail(limit="1000 packets")
    return ap.Scenario(
        flows=ap.flows(base_rtt="100 ms", tcp=TCP, cc=cc),
        bottleneck=ap.Bottleneck(aqm=aqm, link=ap.link.Fixed(rate="100 Mbit/s")),
        duration="60 s" if cc != "cubic" else "100000 s",
    )


def best_of_three(
    step: Callable[[], Any], packets: Callable[[], float], steps: int, count: int = 1
) -> str:
    """Return steps per second of CPU time, packets per step and packets per second.

    A call of `step` steps `count` environments; `packets` returns the mean over them.
    """
    best, seen = 0.0, 0.0
    for _ in range(steps // 10):
        step()
    for _ in range(3):
        begin, seen = time.process_time(), 0.0
        for _ in range(steps):
            step()
            seen += packets()
        best = max(best, count * steps / (time.process_time() - begin))
    shown = (
        f"{seen / steps:8.1f} packets per step {best * seen / steps / 1e6:6.2f} million packets/s"
    )
    return f"{best:9.0f} steps/s {shown}"


def print_speed() -> None:
    """Print the speed of the simulator, of single environments and of vectors."""
    for cc in ("reno", "bbr1"):
        result = ap.simulate(scenario(cc), reps=2, threads=1, progress=None)
        packets = sum(run["packets"] for run in result.replications)
        print(f"{cc}: {packets / result.execution.cpu_s / 1e6:.2f} million packets/s")
    hold, hold_all = np.zeros(1, np.float32), np.zeros((COUNT, 1), np.float32)
    for per_step in (10, 100, 300):
        for name, action in ACTIONS.items():
            step = gym.TimeStep(per_step / PACKETS_PER_SECOND)
            task = gym.aurora_task(step=step, action=action, max_steps=None)
            env = gym.AirpathEnv(scenario(), task=task)
            env.reset(seed=1)
            steps = 300_000 // per_step
            found = best_of_three(
                lambda env=env: env.step(hold), lambda env=env: env.interval.sent_packets, steps
            )
            print(f"{name:7} one environment     {found}")
            for threads in (1, 2):
                envs = gym.AirpathVectorEnv(COUNT, scenario(), task=task, threads=threads)
                envs.reset(seed=1)
                found = best_of_three(
                    lambda envs=envs: envs.step(hold_all),
                    lambda envs=envs: envs.interval.sent_packets.mean(),
                    steps // COUNT,
                    COUNT,
                )
                print(f"{name:7} {COUNT} on {threads} threads     {found}")


def at_capacity(rng: np.random.Generator) -> gym.Episode:
    """Return an episode that begins with 99.9 % of the link's rate."""
    episode = gym.aurora_episode(rng)
    rate = int(episode.overrides["bottleneck.link.rate"].split()[0])
    return gym.Episode(episode.overrides, rate=0.999 * rate)


def ideal(overrides: dict[str, Any]) -> float:
    """Return the reward of an episode at the rate of the link, with an empty queue."""
    packets = int(overrides["bottleneck.link.rate"].split()[0]) / 12_000
    rtt_s = int(overrides["flows.0.base_rtt"].split()[0]) / 1e6
    loss = overrides["bottleneck.link.loss"]
    return 0.4 * (10 * packets * (1 - loss) - 1000 * rtt_s - 2000 * loss)


def print_aurora() -> None:
    """Print the mean reward of agents that do not learn, with intervals of 99 %."""
    rng = np.random.default_rng(5)
    policies: dict[str, tuple[Any, Callable[[], Any]]] = {
        "holds the rate of the link": (at_capacity, lambda: 0.0),
        "never changes the rate": (gym.aurora_episode, lambda: 0.0),
        "random, uniform": (gym.aurora_episode, lambda: rng.uniform(-1, 1, (COUNT, 1))),
        "random, normal": (gym.aurora_episode, lambda: rng.normal(size=(COUNT, 1))),
        "always lower": (gym.aurora_episode, lambda: -1.0),
        "always higher": (gym.aurora_episode, lambda: 1.0),
    }
    for name, (draw, policy) in policies.items():
        envs = gym.AirpathVectorEnv(
            COUNT,
            gym.aurora_scenario(),
            task=gym.aurora_task(),
            draw=draw,
            autoreset_mode=AutoresetMode.SAME_STEP,
        )
        _, infos = envs.reset(seed=1)
        best, sums = [ideal(each) for each in infos["overrides"]], np.zeros(COUNT)
        rewards: list[float] = []
        ideals: list[float] = []
        while len(rewards) < EPISODES:
            actions = np.broadcast_to(np.float32(policy()), (COUNT, 1))
            _, reward, terminated, truncated, infos = envs.step(actions)
            sums += reward
            for index in np.flatnonzero(terminated | truncated):
                rewards.append(float(sums[index]))
                ideals.append(best[index])
                sums[index], best[index] = 0.0, ideal(infos["overrides"][index])
        mean, error = np.mean(rewards), 2.58 * np.std(rewards) / len(rewards) ** 0.5
        print(f"{name:28} {mean:6.0f} ± {error:4.0f}, {mean / np.mean(ideals):5.2f} of the best")


if __name__ == "__main__":
    print_aurora() if "aurora" in sys.argv[1:] else print_speed()
