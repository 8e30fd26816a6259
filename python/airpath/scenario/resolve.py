"""From the user's scenario to the resolved one, and to the trace files that it needs."""

from __future__ import annotations

import json
import os
from pathlib import Path

from airpath.errors import Problem, ScenarioError
from airpath.scenario.scenario import Scenario
from airpath.scenario.traces import PREFIX, not_found, trace_path

__all__ = ["resolve"]


class _Resolver:
    """Names the traces and remembers which of them do not exist."""

    def __init__(self, scenario: Scenario) -> None:
        self.place = scenario.file
        self.folder = scenario.folder
        self.traces: dict[str, Path] = {}
        self.problems: list[Problem] = []

    def trace_key(self, file: str, field: tuple[str | int, ...]) -> str:
        path = trace_path(file, self.folder)
        # os.path.isfile, because Path.is_file raises for names that are too long.
        if not os.path.isfile(path):  # noqa: PTH113
            what, accepted = not_found(file, path)
            self.problems.append(Problem(self.place, field, file, what, accepted))
            return file
        name = Path(file.removeprefix(PREFIX)).name
        key, number = name, 1
        while self.traces.get(key, path) != path:
            number += 1
            key = f"{name} ({number})"
        self.traces[key] = path
        return key


def resolve(scenario: Scenario) -> tuple[str, dict[str, Path]]:
    """Return the resolved scenario as JSON, and the file of each trace by its key in the JSON.

    Parameters
    ----------
    scenario : Scenario
        The scenario.

    Raises
    ------
    ScenarioError
        If trace files do not exist: one problem for each.
    """
    resolver = _Resolver(scenario)
    resolved = scenario.resolved(resolver)
    if resolver.problems:
        raise ScenarioError(resolver.problems)
    return json.dumps(resolved, ensure_ascii=False, allow_nan=False), resolver.traces
