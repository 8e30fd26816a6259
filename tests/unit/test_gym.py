"""Environments of Gymnasium: the interface, episodes, and errors."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import airpath as ap
from airpath import gym
from airpath.errors import BadValueError, ScenarioError
from airpath.scenario import part_files

TCP = {
    "recovery": "sack",
    "loss_detection": "rack",
    "receive_window": "1 GB",
    "delayed_ack_segments": 1,
    "handshake": False,
}
HOLD = np.zeros(1, np.float32)
SECONDS = gym.TimeStep("500 ms")


def scenario(**flow: Any) -> ap.Scenario:
    """One flow over 12 Mbit/s (1000 packets/s), RTT 100 ms, loss 1 %."""
    return ap.Scenario(
        name="one flow",
        flows=ap.flows(base_rtt="100 ms", tcp=TCP, **flow),
        bottleneck=ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="12 Mbit/s", loss=0.01)),
        duration="20 s",
    )


def played(env: gymnasium.Env[Any, Any], steps: int, seed: int | None = None) -> list[Any]:
    """Return the observations and rewards of steps with actions that depend on the seed 7."""
    actions = np.random.default_rng(7)
    found: list[Any] = [env.reset(seed=seed)[0].tolist()]
    for _ in range(steps):
        observation, reward, *_ = env.step(actions.uniform(-1, 1, 1).astype(np.float32))
        found.append((observation.tolist(), reward))
    return found


# --- the interface of Gymnasium ----------------------------------------------------------------


def test_checker_of_gymnasium_accepts_the_environments() -> None:
    for name, given in (("Flow", {"scenario": scenario()}), ("Aurora", {})):
        env = gymnasium.make(f"airpath/{name}-v0", **given)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            check_env(env.unwrapped)
        texts = [str(each.message) for each in caught]
        # Aurora's actions are not limited to [-1, 1].
        assert all("symmetric and normalized space" in text for text in texts)
        assert len(texts) == (name == "Aurora")


def test_step_before_reset_is_an_error() -> None:
    with pytest.raises(gymnasium.error.ResetNeeded, match="Call reset before step"):
        gym.AirpathEnv(scenario()).step(HOLD)


def test_missing_gymnasium_is_an_error_that_names_the_extra() -> None:
    code = "import sys; sys.modules['gymnasium'] = None; import airpath.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: airpath.gym: requires gymnasium, which is not installed. Install it: "
        'pip install "airpath[gym]".'
    )


# --- episodes ----------------------------------------------------------------------------------


def test_seed_determines_the_episode() -> None:
    env, other = gym.AirpathEnv(scenario()), gym.AirpathEnv(scenario())
    first = played(env, 30, seed=5)
    assert played(env, 30, seed=5) == first
    assert played(other, 30, seed=5) == first
    assert played(other, 30, seed=6) != first


def test_reset_in_mid_episode_starts_the_next_replication() -> None:
    env, other = gym.AirpathEnv(scenario()), gym.AirpathEnv(scenario())
    played(env, 3, seed=5)
    second = played(env, 20)
    other.reset(seed=5)
    assert played(other, 20) == second != played(env, 20, seed=5)
    _, info = env.reset(options={"replication": 1})
    assert (info["seed"], info["replication"]) == (5, 1)
    assert [env.reset(seed=s)[1]["replication"] for s in (9, None, None)] == [0, 1, 2]


def test_first_reset_without_a_seed_has_a_random_seed_that_repeats_the_episode() -> None:
    env = gym.AirpathEnv(scenario())
    _, info = env.reset()
    assert played(env, 5, seed=info["seed"]) == played(gym.AirpathEnv(scenario()), 5, info["seed"])


def test_drawn_values_are_those_of_the_run_that_info_names() -> None:
    draw = {
        "bottleneck.link.rate": {"uniform": ["1 Mbit/s", "6 Mbit/s"]},
        "bottleneck.aqm.limit": {"log-uniform": ["2 packets", "500 packets"]},
        "flows.0.base_rtt": {"choice": ["20 ms", "200 ms"]},
    }
    env, seen = gym.AirpathEnv(scenario(), draw=draw), []
    for replication in range(20):
        _, info = env.reset(seed=3 if replication == 0 else None)
        drawn = info["overrides"]
        changed = scenario().replace(drawn)
        assert 1e6 <= int(changed.bottleneck.link.rate) <= 6e6
        seen.append(drawn)
        command = info["command"]
        assert command.startswith(f"airpath run 'one flow' --seed 3 --reps {replication + 1} --set")
        assert command.count("--set") == 3
    assert len({each["bottleneck.link.rate"] for each in seen}) == 20
    assert {each["flows.0.base_rtt"] for each in seen} == {"20 ms", "200 ms"}
    assert env.reset(seed=3)[1]["overrides"] == seen[0]
    fixed = {"bottleneck.link.rate": "2 Mbit/s"}
    assert env.reset(options={"overrides": fixed})[1]["overrides"] == fixed


def test_episode_ends_with_its_transfer_or_with_time() -> None:
    def ended(env: gym.AirpathEnv) -> tuple[int, bool, bool]:
        env.reset(seed=1)
        for steps in range(1, 1000):
            _, _, terminated, truncated, _ = env.step(HOLD)
            if terminated or truncated:
                return steps, terminated, truncated
        raise AssertionError("no end")

    step = gym.default_task(step=SECONDS)
    steps, *ends = ended(gym.AirpathEnv(scenario(size="100 kB"), task=step))
    assert steps < 39
    assert ends == [True, False]
    assert ended(gym.AirpathEnv(scenario(), task=step)) == (40, False, True)
    short = gym.default_task(step=SECONDS, max_steps=7)
    assert ended(gym.AirpathEnv(scenario(), task=short)) == (7, False, True)


def test_episode_begins_with_the_flow_and_its_lead_in() -> None:
    task = gym.default_task(step=SECONDS, lead_in=2)
    env = gym.AirpathEnv(scenario(start="4 s"), task=task)
    env.reset(seed=1)
    assert env.interval is not None
    assert (env.interval.time, env.interval.duration) == (5.0, 0.5)
    env = gym.AirpathEnv(scenario(start="4 s"))
    observation, _ = env.reset(seed=1)
    assert env.interval is not None
    assert (env.interval.time, env.interval.sent_bytes) == (4.0, 0.0)
    assert observation.tolist() == 4 * [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]


# --- tasks -------------------------------------------------------------------------------------


def test_held_rate_has_its_throughput_and_auroras_reward() -> None:
    """0.001·(10·100 - 1000·RTT) per step at 100 packets/s."""
    task = gym.aurora_task(action=gym.RateFactor(initial="1.2 Mbit/s"), step=SECONDS, lead_in=3)
    env = gym.AirpathEnv(scenario().replace("bottleneck.link.loss", 0.0), task=task)
    env.reset(seed=1)
    for _ in range(10):
        _, reward, *_ = env.step(HOLD)
        assert reward == pytest.approx(0.001 * (10 * 100 - 1000 * 0.101), abs=1e-9)


def test_own_functions_are_observation_action_and_reward() -> None:
    def decide(action: Any, last: gym.Decision, interval: gym.Interval) -> gym.Decision:
        return gym.Decision(window=float(action), rate=1e6 * float(action))

    space = gymnasium.spaces.Discrete(10, start=1)
    observe = gym.FunctionObservation(
        lambda interval: [interval.window_bytes / 1e4, interval.rate / 1e6],
        [0, 0],
        [1, 5],
        history=2,
    )
    action = gym.FunctionAction(space, decide, gym.Decision(window=1))
    task = gym.Task(SECONDS, observe, action, lambda interval: -interval.rate)
    env = gym.AirpathEnv(scenario(), task=task)
    assert env.reset(seed=1)[0].tolist() == pytest.approx([0.146, 0.0, 0.146, 0.0])
    found, reward, *_ = env.step(4)
    assert found.tolist() == pytest.approx([0.146, 0.0, 0.584, 4.0])
    assert reward == -4e6
    # Values outside their range are moved into it.
    assert env.step(9)[0].tolist() == pytest.approx([0.584, 4.0, 1.0, 5.0])


def test_actions_change_window_and_rate_as_defined() -> None:
    empty = gym.Interval([0.0] * len(gym.QUANTITIES))

    def after(action: gym.Action, given: Any, last: gym.Decision) -> gym.Decision:
        return action.decide(given, last, empty)

    def one(value: float) -> Any:
        return np.array([value], np.float32)

    rate = gym.RateFactor()
    assert after(rate, one(2), gym.Decision(rate=1e6)).rate == pytest.approx(1.05e6)
    assert after(rate, one(-2), gym.Decision(rate=1e6)).rate == pytest.approx(1e6 / 1.05)
    assert after(rate, one(1e12), gym.Decision(rate=1e6)).rate == 12e6
    window = gym.WindowFactor(base=4.0, high=100.0)
    assert after(window, one(0.5), gym.Decision(window=10.0)).window == 20.0
    assert after(window, one(1), gym.Decision(window=50.0)).window == 100.0
    operations = gym.WindowOperations()
    found = [after(operations, each, gym.Decision(window=30.0)).window for each in range(5)]
    assert found == [30.0, 15.0, 20.0, 40.0, 60.0]
    assert after(
        operations, np.array([1, 4]), gym.Decision(np.array([30.0, 8.0]))
    ).window.tolist() == [
        15.0,
        16.0,
    ]


@pytest.mark.parametrize("step", [gym.AckStep(20), gym.RttStep(0.5)])
def test_intervals_of_acks_and_rtts(step: gym.Step) -> None:
    env = gym.AirpathEnv(scenario(), task=gym.default_task(step=step))
    env.reset(seed=1)
    before = 0.0
    for _ in range(20):
        env.step(HOLD)
        assert env.interval is not None
        if isinstance(step, gym.AckStep):
            assert env.interval.acks == 20
        elif before:
            assert env.interval.duration == pytest.approx(0.5 * before, abs=2e-9)
        else:
            assert env.interval.duration == 0.05  # half the propagation delay
        before = env.interval.mean_rtt


def test_orcas_reward_and_observation_are_its_formulas() -> None:
    """W = 100 segments over 1000 packets/s, RTT 100 ms: the link is not full, no packet waits."""
    held = gym.WindowFactor(base=4.0, initial=50.0)
    task = gym.orca_task(action=held, step=gym.TimeStep("2 s"), lead_in=2)
    env = gym.AirpathEnv(scenario().replace("bottleneck.link.loss", 0.0), task=task)
    env.reset(seed=1)
    observation, reward, *_ = env.step(HOLD)
    interval = env.interval
    assert interval is not None
    share = interval.throughput / interval.largest_throughput
    assert reward == pytest.approx(share, rel=1e-6)
    rate = 50 * 1460 * 8 / 0.101 / interval.largest_throughput
    expected = [share, rate, 0.0, interval.rtt_samples / 50, 2.0, 1.0, 1.0]
    assert observation[-7:].tolist() == pytest.approx(expected, rel=1e-3)
    values = {"throughput": 8e6, "largest_throughput": 1e7, "lost_bytes": 1e4, "duration": 0.1}
    values |= {"path_min_rtt": 0.1, "smoothed_rtt": 0.25}
    given = gym.Interval(values.get(name, 0.0) for name in gym.QUANTITIES)
    assert gym.orca_reward(given) == pytest.approx((8e6 - 5 * 8e5) / 1e7 * 0.5, rel=1e-6)


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: gym.AirpathEnv(scenario(), flow=1),
            "flow = 1: no such group of flows; expected one of: 0.",
        ),
        (
            lambda: gym.AirpathEnv(scenario(count=2)),
            "flow = 0: 2 flows. Use a group with count = 1.",
        ),
        (lambda: gym.TimeStep("0 s"), "duration = 0.0: not above 0. Use a number above 0."),
        (lambda: gym.RttStep(0), "factor = 0: not above 0. Use a number above 0."),
        (lambda: gym.AckStep(0), "count = 0: not an integer from 1. Use a number of ACKs."),
        (
            lambda: gym.Features("throughput", history=0),
            "history = 0: not an integer from 1. Use a number of intervals.",
        ),
        (
            lambda: gym.AirpathEnv(scenario(), draw={"flows.0.count": {"uniform": [1, "2 s"]}}),
            "draw.flows.0.count",
        ),
    ],
)
def test_wrong_arguments_are_one_line(make: Any, message: str) -> None:
    with pytest.raises(BadValueError) as raised:
        make()
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_wrong_draw_names_the_key() -> None:
    env = gym.AirpathEnv(scenario(), draw=lambda _rng: gym.Episode({"bottleneck.link.speed": 1}))
    with pytest.raises(ScenarioError, match=r"bottleneck\.link"):
        env.reset(seed=1)


def test_part_in_python_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_files, "_registered", dict(part_files._registered))

    @ap.congestion_control("held")
    class Held:
        def start(self, setup: Any) -> None:
            self.cwnd = self.ssthresh = setup.initial_window

        def on_ack(self, ack: Any) -> None: ...

        def on_loss(self, loss: Any) -> None: ...

    flows = [*ap.flows(base_rtt="100 ms"), *ap.flows(base_rtt="100 ms", cc="held")]
    two = scenario().replace("flows", flows)
    with pytest.raises(BadValueError) as raised:
        gym.AirpathEnv(two).reset(seed=1)
    assert str(raised.value) == (
        "one flow: kind = 'held': a part in Python does not run in an environment. Use a compiled "
        "component."
    )


def test_decision_outside_its_range_is_one_line() -> None:
    def stepped(decision: gym.Decision) -> None:
        action = gym.FunctionAction(gymnasium.spaces.Discrete(1), lambda *_: decision)
        env = gym.AirpathEnv(scenario(), task=gym.default_task(action=action))
        env.reset(seed=1)
        env.step(0)

    for wrong in (math.nan, 0.0, -1.0, -math.inf):
        with pytest.raises(
            ValueError, match=r"^rate = .*: not a number from 1 to 2\^53, or infinity"
        ):
            stepped(gym.Decision(10, wrong))
        with pytest.raises(ValueError, match=r"^window = "):
            stepped(gym.Decision(wrong))


def test_unknown_statistic_is_an_error_with_the_known_ones() -> None:
    with pytest.raises(
        AttributeError, match=r"^goodput: unknown statistic; expected one of: time, "
    ):
        gym.Interval([0.0] * len(gym.QUANTITIES)).goodput  # noqa: B018
    with pytest.raises(BadValueError, match=r'^name = "goodput": unknown statistic'):
        gym.Features("goodput")


@pytest.fixture
def alarm() -> Iterator[None]:
    def interrupt(_number: int, _frame: types.FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, interrupt)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def test_interrupt_ends_a_long_step(alarm: None) -> None:
    """The step would take hours."""
    long = scenario().replace("duration", "1000000 s")
    env = gym.AirpathEnv(long, task=gym.default_task(step=gym.TimeStep("900000 s")))
    env.reset(seed=1)
    signal.setitimer(signal.ITIMER_PROF, 0.2)
    with pytest.raises(KeyboardInterrupt):
        env.step(HOLD)


# --- resources ---------------------------------------------------------------------------------


GROWTH = """
import gc
import resource
from pathlib import Path
import gymnasium
import numpy as np
import airpath.gym

def used():
    gc.collect()
    statistics = Path("/proc/self/statm")
    if statistics.exists():
        return int(statistics.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS, bytes

env = gymnasium.make("airpath/Aurora-v0")
env.reset(seed=1)
for episode in range({episodes}):
    if episode == {episodes} // 4:
        before = used()
    env.reset()
    for _ in range(20):
        env.step(np.array([env.np_random.uniform(-1, 1)], np.float32))
print(used() - before)
"""


def grown_bytes(episodes: int) -> int:
    """Return the growth of a process over random episodes, after a quarter of them."""
    code = GROWTH.format(episodes=episodes)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_memory_is_flat_over_random_episodes() -> None:
    assert grown_bytes(200) < 5_000_000


@pytest.mark.long
def test_memory_is_flat_over_many_random_episodes() -> None:
    assert grown_bytes(1_000) < 5_000_000
