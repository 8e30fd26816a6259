"""Episodes: the scenario, the seed and the first decision of each."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.random import PCG64, Generator, SeedSequence

from airpath import _airpath
from airpath.arguments import error_prefix
from airpath.engine.prepared import Runnable, given_scenario, prepare
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError, show
from airpath.gym.actions import Decision
from airpath.gym.task import Task
from airpath.scenario import Scenario
from airpath.scenario.overrides import put_over
from airpath.scenario.part_files import factories
from airpath.scenario.traffic.flows import Tcp
from airpath.sweeps.draw import sample, wrong_bounds

__all__ = ["Draw", "Episode", "Launcher", "Run"]

_AGENT = {"kind": "agent", "agent": 0}
"""Congestion control of the agent in the resolved form."""
_NOT_RECORDED = {
    "series": [],
    "distributions": [],
    "ss": False,
    "flow_monitor": False,
    "delay_parts": False,
}


@dataclass(frozen=True)
class Episode:
    """What distinguishes an episode from the scenario of the environment.

    Parameters
    ----------
    overrides : mapping
        Dotted keys of the scenario and their values, as in ``--set``.
    window : float, optional
        Window of the first decision, segments. Default: that of the task's action.
    rate : float, optional
        Pacing rate of the first decision, bit/s. Default: that of the task's action.
    """

    overrides: Mapping[str, Any] = field(default_factory=dict)
    window: float | None = None
    rate: float | None = None


Draw = Callable[[Generator], Episode] | Mapping[str, Mapping[str, Sequence[Any]]]
"""A function that draws an episode, or ranges of keys as in ``[random]`` of a sweep file."""


@dataclass(frozen=True)
class Run:
    """An episode that has started.

    Parameters
    ----------
    simulation : object
        The engine's simulation.
    segment_bytes : int
        Payload of a full-sized segment of the agent.
    decision : Decision
        The first decision.
    info : dict
        Seed, replication, overrides, and the command that runs the same network without the agent.
    """

    simulation: _airpath.AgentSimulation
    segment_bytes: int
    decision: Decision
    info: dict[str, Any]


class Launcher:
    """Starts the episodes of one agent over a scenario.

    Parameters
    ----------
    scenario : Scenario or path
        The scenario.
    task : Task
        The agent's task.
    flow : int or str
        Index or name of the agent's group of flows, which must have one TCP flow.
    draw : callable or mapping, optional
        How episodes are drawn. Default: each episode has the given scenario.
    """

    def __init__(self, scenario: Runnable, task: Task, flow: int | str, draw: Draw | None) -> None:
        self._task = task
        given = given_scenario(scenario)
        self._group = _group(given, flow)
        self._scenario = _plain_control(given, self._group)
        self._shown = given.file or given.name
        self._draw = draw
        if isinstance(draw, Mapping):
            _check_ranges(draw)
        self._fixed: tuple[_airpath.AgentExperiment, ResolvedScenario] | None = None

    def start(self, seed: int, replication: int, overrides: Mapping[str, Any] | None = None) -> Run:
        """Start an episode.

        Parameters
        ----------
        seed, replication : int
            Master seed and index of the replication. With the scenario they determine the episode.
        overrides : mapping, optional
            Overrides of this episode, instead of drawn ones.
        """
        episode = Episode(overrides) if overrides is not None else self._drawn(seed, replication)
        experiment, resolved = self._experiment(episode.overrides)
        tcp = resolved.flows.first_of_groups[self._group].source.tcp
        first = self._task.action.first(tcp.initial_window / tcp.mss)
        decision = Decision(
            first.window if episode.window is None else episode.window,
            first.rate if episode.rate is None else episode.rate,
        )
        decisions = [(decision.window * tcp.mss, decision.rate)]
        simulation = _airpath.AgentSimulation.start(experiment, seed, replication, decisions)
        info = {"seed": seed, "replication": replication, "overrides": dict(episode.overrides)}
        info["command"] = self._command(seed, replication, episode.overrides)
        return Run(simulation, tcp.mss, decision, info)

    def _drawn(self, seed: int, replication: int) -> Episode:
        if self._draw is None:
            return Episode()
        if isinstance(self._draw, Mapping):
            return Episode(sample(seed, replication, self._draw))
        return self._draw(Generator(PCG64(SeedSequence([seed, replication]))))

    def _experiment(
        self, overrides: Mapping[str, Any]
    ) -> tuple[_airpath.AgentExperiment, ResolvedScenario]:
        if overrides:
            changed, _ = put_over(self._scenario, overrides.items(), "overrides")
            return self._prepared(changed)
        if self._fixed is None:
            self._fixed = self._prepared(self._scenario)
        return self._fixed

    def _prepared(self, scenario: Scenario) -> tuple[_airpath.AgentExperiment, ResolvedScenario]:
        """Return the experiment, with the agent as congestion control of its flow."""
        made = prepare(scenario)
        [flow] = made.resolved.flows.groups[self._group]
        base_rtt_s = made.resolved.base_rtt_s(made.resolved.flows[flow])
        resolved = made.resolved.recorded(**_NOT_RECORDED)
        resolved = resolved.with_congestion(self._group, _AGENT)
        given = made.inputs.for_engine(resolved)
        _reject_parts(made.place, given.text)
        step = self._task.step.for_engine(base_rtt_s)
        files = (given.traces, given.tables, given.snr)
        try:
            experiment = _airpath.AgentExperiment.read(given.text, *files, [flow], step)
        except ValueError:
            made.check()  # Reports all problems, with the keys of the scenario.
            raise
        return experiment, resolved

    def _command(self, seed: int, replication: int, overrides: Mapping[str, Any]) -> str:
        settings = (
            f"{key}={value}" if isinstance(value, str) else f"{key}={show(value)}"
            for key, value in overrides.items()
        )
        given = [part for setting in settings for part in ("--set", setting)]
        words = [self._shown, "--seed", str(seed), "--reps", str(replication + 1), *given]
        return shlex.join(["airpath", "run", *words])


def _group(scenario: Scenario, flow: int | str) -> int:
    """Return the index of the agent's group of flows."""
    names = [getattr(group, "name", None) for group in scenario.flows]
    place = error_prefix("flow", flow)
    if isinstance(flow, str) and flow in names:
        number = names.index(flow)
    elif isinstance(flow, int) and not isinstance(flow, bool) and 0 <= flow < len(names):
        number = flow
    else:
        known = [str(index) if name is None else name for index, name in enumerate(names)]
        raise BadValueError(
            f"{place}: no such group of flows; expected one of: {', '.join(known)}."
        )
    group = scenario.flows[number]
    if not isinstance(group, Tcp):
        raise BadValueError(f'{place}: not a TCP flow. Use a group with source = "tcp".')
    if group.count != 1:
        raise BadValueError(f"{place}: {group.count} flows. Use a group with count = 1.")
    return number


def _reject_parts(place: str, text: str) -> None:
    """Raise an error if a resolved scenario uses a part in Python."""
    for _, kind, _ in factories(text):
        raise BadValueError(
            f"{place}: kind = {kind!r}: a part in Python does not run in an environment. Use a "
            "compiled component."
        )


def _plain_control(scenario: Scenario, group: int) -> Scenario:
    """Return the scenario with a congestion control that sets no TCP parameter of the flow."""
    return put_over(scenario, [(f"flows.{group}.cc", "reno")], "flow")[0]


def _check_ranges(ranges: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
    for key, given in ranges.items():
        [(kind, values)] = given.items() if len(given) == 1 else [("", ())]
        wrong = None
        if kind not in ("uniform", "log-uniform", "choice"):
            wrong = "not one distribution", "Use uniform, log-uniform or choice", ""
        elif kind != "choice":
            wrong = wrong_bounds(values, kind == "log-uniform")
        elif not values:
            wrong = "no values", "Use at least one value", ""
        if wrong:
            raise BadValueError(f"{error_prefix(f'draw.{key}', given)}: {wrong[0]}. {wrong[1]}.")
