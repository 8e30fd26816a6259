"""The vector environment: equal to single ones, in each mode of reset."""

from __future__ import annotations

import importlib
import multiprocessing
import sys
import types
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import airpath as ap
from airpath import gym
from airpath.errors import BadValueError

COUNT = 5
DRAW = {"bottleneck.link.rate": {"uniform": ["2 Mbit/s", "20 Mbit/s"]}}
TASK = gym.default_task(step=gym.TimeStep("100 ms"), lead_in=1, max_steps=12)


def scenario(**flow: Any) -> ap.Scenario:
    tcp = {"recovery": "sack", "loss_detection": "rack", "receive_window": "10 MB"}
    link = ap.link.Fixed(rate="10 Mbit/s", loss=0.01)
    return ap.Scenario(
        name="one flow",
        flows=ap.flows(base_rtt="40 ms", tcp=tcp, **flow),
        bottleneck=ap.Bottleneck(aqm="droptail", link=link),
        duration="20 s",
    )


def vector(**given: Any) -> gym.AirpathVectorEnv:
    return gym.AirpathVectorEnv(COUNT, scenario(), task=TASK, draw=DRAW, **given)


def actions(steps: int) -> Any:
    return np.random.default_rng(3).uniform(-1, 1, (steps, COUNT, 1)).astype(np.float32)


def singles(steps: int) -> list[list[Any]]:
    """Return observation, reward and ends of single environments that are reset after an end."""
    envs = [gym.AirpathEnv(scenario(), task=TASK, draw=DRAW) for _ in range(COUNT)]
    for index, env in enumerate(envs):
        env.reset(seed=10 + index)
    found = []
    for given in actions(steps):
        row: list[Any] = []
        for env, action in zip(envs, given, strict=True):
            observation, reward, terminated, truncated, _ = env.step(action)
            first = env.reset()[0] if terminated or truncated else None
            row.append((observation, reward, terminated, truncated, first))
        found.append(row)
    return found


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_vector_equals_single_environments_with_reset_in_the_same_step(threads: int) -> None:
    env = vector(threads=threads, autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=10)
    for given, expected in zip(actions(30), singles(30), strict=True):
        observations, rewards, terminations, truncations, infos = env.step(given)
        for index, (observation, reward, terminated, truncated, first) in enumerate(expected):
            assert rewards[index] == pytest.approx(reward, rel=1e-12)
            assert (terminations[index], truncations[index]) == (terminated, truncated)
            seen = observations[index] if first is None else infos["final_obs"][index]
            assert seen.tolist() == observation.tolist()
            if first is not None:
                assert observations[index].tolist() == first.tolist()


def test_reset_in_the_next_step_has_no_reward_and_the_first_observation() -> None:
    env = vector()
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    env.reset(seed=10)
    expected = singles(12)
    for given in actions(12):
        _, _, _, truncations, infos = env.step(given)
    assert truncations.all()
    assert infos == {}
    observations, rewards, terminations, truncations, infos = env.step(actions(1)[0])
    assert [row.tolist() for row in observations] == [each[4].tolist() for each in expected[-1]]
    assert not any(each.any() for each in (rewards, terminations, truncations))
    assert infos["replication"].tolist() == [1] * COUNT
    assert infos["seed"].tolist() == [10, 11, 12, 13, 14]
    assert infos["_seed"].all()


def test_reset_by_mask_resets_the_masked_environments_only() -> None:
    env = vector(autoreset_mode=AutoresetMode.DISABLED)
    before, _ = env.reset(seed=[7, 8, 9, 10, 11])
    mask = np.array([False, True, False, False, True])
    after, infos = env.reset(options={"reset_mask": mask})
    assert infos["_replication"].tolist() == mask.tolist()
    assert infos["replication"].tolist() == [None, 1, None, None, 1]
    assert (before == after).all(axis=1).tolist() == (~mask).tolist()
    for given in actions(12):
        env.step(given)
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset_mask"):
        env.step(actions(1)[0])


def test_finished_transfer_terminates_its_environment() -> None:
    task = gym.default_task(step=gym.TimeStep("1 s"))
    env = gym.AirpathVectorEnv(2, scenario(size="30 kB"), task=task)
    env.reset(seed=1)
    _, _, terminations, truncations, _ = env.step(np.zeros((2, 1), np.float32))
    assert terminations.all()
    assert not truncations.any()


def test_arrays_are_copied_unless_they_are_shared() -> None:
    for copy in (True, False):
        env = vector(copy=copy)
        env.reset(seed=1)
        first, second = (env.step(given)[0] for given in actions(2))
        assert np.shares_memory(first, second) is not copy


def test_gymnasium_makes_the_vector_by_its_own_entry_point() -> None:
    env = gymnasium.make_vec("airpath/Aurora-v0", num_envs=3, threads=2)
    assert isinstance(env.unwrapped, gym.AirpathVectorEnv)
    observations, infos = env.reset(seed=4)
    assert observations.shape == (3, 30)
    assert observations in env.observation_space
    single = gymnasium.make("airpath/Aurora-v0")
    observation, info = single.reset(seed=6)
    assert observations[2].tolist() == observation.tolist()
    assert infos["overrides"][2] == info["overrides"]


def rewards_in_child(queue: Any, env: gym.AirpathVectorEnv | None) -> None:
    if env is None:
        env = vector(threads=2)
        env.reset(seed=10)
    queue.put([env.step(given)[1].tolist() for given in actions(5)])


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_child_process_steps_as_its_parent(method: str) -> None:
    env = vector(threads=2)
    env.reset(seed=10)
    expected = [env.step(given)[1].tolist() for given in actions(5)]
    env.reset(seed=10)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    given = env if method == "fork" else None
    child = context.Process(target=rewards_in_child, args=(queue, given))
    child.start()
    assert queue.get() == expected
    child.join()


class VecEnv:
    """The parts of stable-baselines3's base class that the adapter uses (version 2.9.2)."""

    def __init__(self, num_envs: int, observation_space: Any, action_space: Any) -> None:
        self.num_envs = num_envs
        self.observation_space, self.action_space = observation_space, action_space
        self._reset_seeds()
        assert self.get_attr("render_mode") == [None] * num_envs  # type: ignore[attr-defined]

    def _reset_seeds(self) -> None:
        self._seeds: list[int | None] = [None] * self.num_envs

    def _reset_options(self) -> None:
        self._options: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]

    def _get_indices(self, indices: Any) -> Any:
        return range(self.num_envs) if indices is None else indices

    def step(self, actions: Any) -> Any:
        self.step_async(actions)  # type: ignore[attr-defined]
        return self.step_wait()  # type: ignore[attr-defined]

    def seed(self, seed: int) -> None:
        self._seeds = [seed + index for index in range(self.num_envs)]


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module with the adapter, over the class above: the package brings 3 GB of others."""
    for name in ("stable_baselines3", "stable_baselines3.common"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    module: Any = types.ModuleType("stable_baselines3.common.vec_env")
    module.VecEnv = VecEnv
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, "airpath.gym.stable_baselines", raising=False)
    return importlib.import_module("airpath.gym.stable_baselines")


def test_stable_baselines_requires_a_reset_in_the_same_step(adapter: Any) -> None:
    with pytest.raises(BadValueError, match=r"autoreset_mode = NEXT_STEP: .* Use AutoresetMode"):
        adapter.StableBaselinesVecEnv(vector())


def test_stable_baselines_has_rewards_and_ends_of_the_vector(adapter: Any) -> None:
    env = vector(autoreset_mode=AutoresetMode.SAME_STEP)
    adapted = adapter.StableBaselinesVecEnv(vector(autoreset_mode=AutoresetMode.SAME_STEP))
    adapted.seed(10)
    assert (adapted.reset() == env.reset(seed=10)[0]).all()
    for given in actions(12):
        observations, rewards, _, truncations, _ = env.step(given)
        found, short, dones, infos = adapted.step(given)
        assert (found == observations).all()
        assert short.dtype == np.float32
        assert short == pytest.approx(rewards, rel=1e-6)
        assert dones.tolist() == truncations.tolist()
    assert all(info["TimeLimit.truncated"] for info in infos)
    assert infos[0]["terminal_observation"].shape == observations[0].shape
    assert infos[3]["seed"] == 13
    assert adapted.reset_infos[3]["seed"] == 13
