"""Scenarios that are ready to run: resolved, with their files in memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from airpath.arguments import error_prefix
from airpath.engine.advisory import Advisory, find_advisories
from airpath.engine.engine_input import EngineInput
from airpath.engine.error_paths import refuse
from airpath.engine.inputs import Inputs, Reading, read_inputs
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError, RunError
from airpath.scenario import Scenario, load

__all__ = [
    "PreparedScenario",
    "Runnable",
    "given_scenario",
    "prepare",
    "prepared",
]


@dataclass(frozen=True)
class PreparedScenario:
    """A scenario with its resolved form and its files.

    Parameters
    ----------
    scenario : Scenario
        The scenario as the user wrote it.
    resolved : ResolvedScenario
        Its resolved form in SI base units, with all flows and all TCP parameters.
    inputs : Inputs
        Contents of its files.
    """

    scenario: Scenario
    resolved: ResolvedScenario
    inputs: Inputs

    @property
    def place(self) -> str:
        """File or name of the scenario, for the start of error messages."""
        return self.scenario.file or self.scenario.name

    @property
    def advisories(self) -> list[Advisory]:
        """Warnings known before the run; a result also contains the warnings of the run."""
        return find_advisories(self.scenario, self.resolved)

    @cached_property
    def engine_input(self) -> EngineInput:
        """The scenario as input of the engine."""
        return self.inputs.for_engine(self.resolved)

    def check(self) -> None:
        """Check that the engine can build the network of the scenario.

        Raises
        ------
        ScenarioError
            If the engine does not accept the scenario. The error lists all problems found.
        BadValueError
            If a file cannot be read.
        RunError
            If a part in Python cannot be created.
        """
        try:
            refuse(self.scenario, self.resolved, self.engine_input)
        except RuntimeError as error:
            raise RunError(f"{self.place}: {error}") from error.__cause__


Runnable = Scenario | PreparedScenario | str | os.PathLike[str]
"""A scenario, a scenario prepared by `airpath.check`, or the path of a scenario file."""


def prepare(scenario: Scenario, reading: Reading | None = None) -> PreparedScenario:
    """Resolve a scenario and read its files.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    reading : Reading, optional
        Cache with the files of earlier scenarios. Default: a new cache.

    Raises
    ------
    BadValueError
        If files cannot be read or have a wrong format. The message lists all such files.
    """
    text, files = scenario.resolve()
    resolved = ResolvedScenario.from_json(text)
    inputs = read_inputs(scenario.file, resolved, files, reading or Reading())
    return PreparedScenario(scenario, resolved, inputs)


def prepared(scenario: Any) -> PreparedScenario:
    """Prepare a `Runnable`; a prepared scenario is returned unchanged.

    Raises
    ------
    BadValueError
        As for `given_scenario` and `prepare`.
    """
    if isinstance(scenario, PreparedScenario):
        return scenario
    return prepare(given_scenario(scenario))


def given_scenario(scenario: Any) -> Scenario:
    """Return the scenario of a `Runnable`.

    Raises
    ------
    BadValueError
        If the argument is not a `Runnable`, or the file does not contain a scenario.
    """
    if isinstance(scenario, PreparedScenario):
        return scenario.scenario
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, (str, os.PathLike)):
        return load(scenario)
    raise BadValueError(
        f"{error_prefix('scenario', scenario)}: neither a Scenario nor the path of a file. Use one."
    )
