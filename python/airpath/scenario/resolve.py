"""Conversion of a scenario into its resolved form, and collection of its trace and table files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from airpath.errors import AirpathError, Problem, ScenarioError
from airpath.files import other_than_file
from airpath.scenario.optimum import settle_optimum
from airpath.scenario.scenario import Scenario
from airpath.scenario.schedule import read_schedule
from airpath.scenario.sections import SECTIONS
from airpath.scenario.tables import is_table, table_not_found, table_path
from airpath.scenario.traces import PREFIX, not_found, trace_path

__all__ = ["resolve", "resolved_section"]


class _Resolver:
    """Assigns the engine's names of traces and tables, and collects missing files."""

    def __init__(self, scenario: Scenario) -> None:
        self.place = scenario.file
        self.directory = scenario.directory
        self.files: dict[str, Path] = {}
        self.problems: list[Problem] = []

    def trace_key(self, file: str, field: tuple[str | int, ...]) -> str:
        path = trace_path(file, self.directory)
        name = Path(file.removeprefix(PREFIX)).name
        # Path.is_file would raise an error for names that are too long.
        found = os.path.isfile(path)  # noqa: PTH113
        return self._key(file, path, name, field, None if found else not_found)

    def table_key(self, table: str, field: tuple[str | int, ...]) -> str:
        path = table_path(table, self.directory)
        found = is_table(table, path)
        return self._key(table, path, path.name, field, None if found else table_not_found)

    def delay_points(self, file: str, field: tuple[str | int, ...]) -> list[tuple[int, int]]:
        path = trace_path(file, self.directory)
        if not os.path.isfile(path):  # noqa: PTH113
            return []  # `trace_key` reports a missing file.
        try:
            return read_schedule(path)
        except AirpathError as error:
            what, _, accepted = str(error).removesuffix(".").partition(". ")
            self.problems.append(Problem(self.place, field, file, what, accepted or None))
            return []

    def _key(
        self,
        file: str,
        path: Path,
        name: str,
        field: tuple[str | int, ...],
        missing: Callable[[str, Path], tuple[str, str]] | None,
    ) -> str:
        if missing is not None:
            other = other_than_file(path)
            what, accepted = (
                (f"is {other}, not a regular file", "Use the name of a file")
                if other
                else missing(file, path)
            )
            self.problems.append(Problem(self.place, field, file, what, accepted))
            return file
        key, number = name, 1
        while self.files.get(key, path) != path:
            number += 1
            key = f"{name} ({number})"
        self.files[key] = path
        return key


def resolve(scenario: Scenario) -> tuple[str, dict[str, Path]]:
    """Return the resolved scenario as JSON, and a mapping from engine names to files.

    Parameters
    ----------
    scenario : Scenario
        The scenario.

    Raises
    ------
    ScenarioError
        If files do not exist (one problem for each file), or if `policy.Optimum` is used and no
        analytic model covers the scenario.
    """
    resolver = _Resolver(scenario)
    resolved = scenario.resolved(resolver)
    if resolver.problems:
        raise ScenarioError(resolver.problems)
    settle_optimum(resolved, resolver.files, scenario)
    return json.dumps(resolved, ensure_ascii=False, allow_nan=False), resolver.files


def resolved_section(scenario: Scenario, place: tuple[str, ...]) -> tuple[Any, dict[str, Path]]:
    """Return one section of the resolved form, or one member of a section, and its files.

    A policy `optimum` is not replaced. Different files with the same file name in two sections get
    the same engine name.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    place : tuple of str
        A key of `SECTIONS`, or a key of `SECTIONS` and the key of a member.

    Raises
    ------
    ScenarioError
        If files do not exist (one problem for each file).
    """
    resolver = _Resolver(scenario)
    key, *member = place
    section = SECTIONS[key]
    if member:
        make = section.members[member[0]]
        value = make(getattr(scenario, section.field), resolver, (section.field,))
    else:
        value = section.make(scenario, resolver)
    if resolver.problems:
        raise ScenarioError(resolver.problems)
    return value, resolver.files
