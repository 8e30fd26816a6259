"""Checks of parts in Python, for the tests of their authors."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from typing import Any

from airpath.engine.prepared import prepare
from airpath.errors import AirpathError, OverrideWarning, RunError
from airpath.results.flow_table import FlowTable
from airpath.scenario import Scenario, loads
from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.base import Component
from airpath.scenario.cc.base import Congestion
from airpath.scenario.policy import LinkAdaptation
from airpath.scenario.scheduler import Scheduler

__all__ = ["PartContractError", "check_part"]

_SEED = 1
_DUMBBELL = """
name = "{name}"
duration = "6 s"
bottleneck = {{aqm = "{aqm}", link = {{kind = "fixed", rate = "{rate}", loss = {loss}}}}}
[[flows]]
count = 3
base_rtt = "{rtt}"
start = {{uniform = ["0 s", "1 s"]}}
tcp = {{{tcp}}}
"""
_DUMBBELLS = (
    {"name": "long queue", "aqm": "droptail", "rate": "10 Mbit/s", "loss": 0, "rtt": "40 ms"},
    {"name": "random loss", "aqm": "codel", "rate": "20 Mbit/s", "loss": 0.02, "rtt": "20 ms"},
    {"name": "slow link", "aqm": "droptail", "rate": "300 kbit/s", "loss": 0, "rtt": "200 ms"},
    {"name": "heavy loss", "aqm": "droptail", "rate": "2 Mbit/s", "loss": 0.2, "rtt": "40 ms"},
)
"""Paths on which congestion controls and queue disciplines are checked.

Congestion controls are checked with and without SACK, disciplines with and without ECN.
"""


class PartContractError(AirpathError, AssertionError):
    """A part does not keep its contract. The message has one line per problem."""


def check_part(part: Component | type[Component], scenarios: Iterable[Scenario] = ()) -> None:
    """Check that a part keeps its contract and has no hidden state.

    The part runs over several paths. Each run must finish without an exception, each path must
    deliver data, and replication 1 must have the same results if it runs alone, after replication 0
    and a second time. A part that stores state in its class or module, or uses other random numbers
    than ``setup.rng``, the time or the order of a set, fails.

    Parameters
    ----------
    part : Component
        A part with its parameters, or its class if all parameters have defaults.
    scenarios : iterable of Scenario
        Scenarios that contain the part. Default: small paths of the part's family.

    Raises
    ------
    PartContractError
        With every problem found.
    TypeError
        If `part` is not a part in Python, or there are no default paths for its family.
    """
    made = part() if isinstance(part, type) else part
    if not isinstance(made, Component) or made.factory is None:
        raise TypeError(f"check_part: {part!r} is not a part in Python. Use a decorated class.")
    problems = []
    for scenario in list(scenarios) or _scenarios(made):
        try:
            problems += _problems(scenario)
        except RunError as error:
            problems.append(str(error))
    if problems:
        raise PartContractError("\n".join(problems))


def _scenarios(part: Component) -> list[Scenario]:
    """Return small scenarios that use a part."""
    if isinstance(part, Congestion):
        texts = [
            _DUMBBELL.format(**path, tcp=tcp)
            for path in _DUMBBELLS
            for tcp in ("", 'recovery = "sack"')
        ]
        return [loads(text).replace({"flows.0.cc": part}) for text in texts]
    if isinstance(part, QueueDisc):
        texts = [
            _DUMBBELL.format(**path, tcp=tcp) for path in _DUMBBELLS for tcp in ("", 'ecn = "on"')
        ]
        return [loads(text).replace({"bottleneck.aqm": part}) for text in texts]
    if isinstance(part, Scheduler):
        return [_example("cell-newreno", "bottleneck.link.scheduler", part)]
    if isinstance(part, LinkAdaptation):
        return [_example("link-adaptation", "bottleneck.link.policy", part)]
    raise TypeError(f"check_part: no default paths for {part.family}. Use scenarios.")


def _example(name: str, key: str, part: Component) -> Scenario:
    text = files("airpath.examples").joinpath(f"{name}.toml").read_text("utf-8")
    document: Mapping[str, Any] = {"duration": "12 s", "warmup": "0 s"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverrideWarning)  # The part has other keys.
        return loads(text, place=name).replace({**document, key: part})


def _problems(scenario: Scenario) -> list[str]:
    """Return the problems of a part in one scenario."""
    made = prepare(scenario)

    def run(first: int, count: int) -> list[dict[str, Any]]:
        output = made.engine_input.simulate(_SEED, range(first, first + count))
        found = json.loads(output.replications)
        return [run | {"flows": FlowTable(*output.flows(at))} for at, run in enumerate(found)]

    try:
        (alone,) = run(1, 1)
        both = run(0, 2)
        (again,) = run(1, 1)
    except RuntimeError as error:
        raise RunError(f"{scenario.name}: {error}") from error.__cause__
    checks: list[tuple[str, Callable[[], bool]]] = [
        ("replication 1 depends on replication 0: hidden state", lambda: both[1] == alone),
        (
            "a second run has other results: hidden state or other random numbers",
            lambda: again == alone,
        ),
        ("no flow delivers data", lambda: any(flow["delivered_bytes"] for flow in alone["flows"])),
    ]
    return [f"{scenario.name}: {what}" for what, holds in checks if not holds()]
