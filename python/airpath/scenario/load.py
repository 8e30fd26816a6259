"""From a TOML file to a scenario, with as many of its problems as can be told at once."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from datetime import date, time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from airpath.errors import MISSING, Problem, ScenarioError, dotted
from airpath.files import MIB, UnreadableError, read_text
from airpath.scenario.base import FromFile, problems_of
from airpath.scenario.scenario import Scenario

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["load", "loads"]

_OVERRIDE = "--set"
_LARGEST = 16 * MIB
"""Bytes of the largest scenario file that is read."""


def load(path: str | os.PathLike[str], overrides: Iterable[tuple[str, str]] = ()) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path : path
        A TOML file.
    overrides : iterable of (key, value)
        Values that take the place of the file's: a dotted key, list positions from 0
        (``flows.0.count``), and the value as in the file; a text needs no quotes.

    Returns
    -------
    scenario : Scenario
        Its relative trace paths start from the file's folder.

    Raises
    ------
    ScenarioError
        If the file cannot be read, is no TOML, or describes no valid scenario: with every
        problem found.
    """
    place = os.fspath(path)
    try:
        text = read_text(path, _LARGEST)
    except UnreadableError as error:
        raise ScenarioError([Problem(place, (), MISSING, error.why)]) from None
    return loads(text, place=place, folder=Path(path).parent, overrides=overrides)


def loads(
    text: str,
    *,
    place: str = "scenario",
    folder: Path | None = None,
    overrides: Iterable[tuple[str, str]] = (),
) -> Scenario:
    """Read a scenario from the text of a TOML file.

    Parameters
    ----------
    text : str
        The file's content.
    place : str
        The file's name, for messages; its stem is the scenario's name when the text gives none.
    folder : pathlib.Path, optional
        Where relative trace paths start. Default: the working folder.
    overrides : iterable of (key, value)
        As for `load`.

    Raises
    ------
    ScenarioError
        With every problem found.
    """
    document = _parse(text, place)
    document.setdefault("name", Path(place).stem or "scenario")
    problems: list[Problem] = []
    overridden: list[tuple[str | int, ...]] = []
    for key, value in overrides:
        try:
            overridden.append(_override(document, key, value))
        except ScenarioError as error:
            problems += error.problems
    try:
        scenario = Scenario.model_validate(document, context=FromFile)
    except ValidationError as error:
        problems += [_placed(problem, overridden) for problem in problems_of(error, place)]
    if problems:
        raise ScenarioError(problems)
    scenario._folder = folder
    scenario._file = place
    return scenario


def _parse(text: str, place: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        what = "not TOML that can be read: brackets are nested too deeply"
    except ValueError as error:
        what = f"not TOML: {_one_sentence(str(error))}"
    raise ScenarioError([Problem(place, (), MISSING, what)])


def _one_sentence(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text[:1].lower() + text[1:]


def _override(document: dict[str, Any], key: str, value: str) -> tuple[str | int, ...]:
    """Put one override into the document; return the path of the topmost value that is new."""
    path: tuple[str | int, ...] = ()
    new: tuple[str | int, ...] | None = None
    *parents, last = key.split(".")
    if not all((*parents, last)):
        accepted = "Write keys with full stops between them"
        raise _bad_override(key, value, "not a key", accepted, "bottleneck.link.rate")
    table: Any = document
    for part in parents:
        if isinstance(table, dict):
            position: str | int = part
            if part not in table:
                table[part] = {}
                new = new or (*path, part)
        else:
            position = _position(table, part, path, key, value)
        path = (*path, position)
        table = table[position]
    position = last if isinstance(table, dict) else _position(table, last, path, key, value)
    table[position] = _override_value(value)
    return new or (*path, position)


def _position(table: Any, part: str, path: tuple[str | int, ...], key: str, value: str) -> int:
    if not isinstance(table, list):
        what = f"{dotted(path)} is not a table and has no {part}"
        raise _bad_override(key, value, what)
    if not re.fullmatch("[0-9]{1,9}", part) or int(part) >= len(table):
        count = len(table)
        accepted = f"Write a position from 0 to {count - 1}" if count else "The list is empty"
        what = f"{dotted(path)} has no entry {part}"
        raise _bad_override(key, value, what, accepted)
    return int(part)


def _bad_override(
    key: str, value: str, what: str, accepted: str | None = None, example: str | None = None
) -> ScenarioError:
    place = f"{_OVERRIDE} {key}={value}"
    return ScenarioError([Problem(place, (), MISSING, what, accepted, example)])


def _override_value(text: str) -> Any:
    """Return the value as TOML reads it; what TOML cannot read, and dates, are texts."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    if set(parsed) != {"value"} or isinstance(parsed["value"], (date, time)):
        return text
    return parsed["value"]


def _placed(problem: Problem, overridden: Iterable[tuple[str | int, ...]]) -> Problem:
    """Return the problem with ``--set`` as its place if it lies in a value that was set there."""
    if not any(problem.field[: len(path)] == path for path in overridden):
        return problem
    return Problem(
        _OVERRIDE, problem.field, problem.value, problem.what, problem.accepted, problem.example
    )
