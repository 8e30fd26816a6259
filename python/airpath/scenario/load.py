"""Functions that read a scenario from a TOML file and report all problems together."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from airpath.arguments import check_all, display_name, path_like
from airpath.errors import MISSING, Problem, ScenarioError, one_line
from airpath.files import MIB, UnreadableError, read_text
from airpath.scenario.base import FromFile, problems_of
from airpath.scenario.overrides import Overrides, pairs, value_of_text
from airpath.scenario.scenario import Scenario

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["load", "loads", "parsed", "read_document"]

_LARGEST = 16 * MIB
"""Size limit of a scenario file, bytes."""

Given = Mapping[str, Any] | Iterable[tuple[str, Any]]
"""Overrides, as passed to `load`."""


def load(path: str | os.PathLike[str], overrides: Given = ()) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path : path
        A TOML file.
    overrides : mapping of str to value, or iterable of (key, value)
        Values that replace values of the file. Keys are dotted and contain list indices from 0
        (``flows.0.count``). Values are written as in the file, but strings need no quotes. A table
        changes only the keys that it contains. If the kind of a component changes, such as
        ``"bottleneck.aqm": "codel"``, keys that both kinds have keep their values; an
        `OverrideWarning` lists the removed keys.

    Returns
    -------
    scenario : Scenario
        The scenario. Relative trace paths in it start from the directory of the file.

    Raises
    ------
    ScenarioError
        If the file cannot be read, is not TOML, or does not describe a valid scenario. The error
        lists all problems found.

    Examples
    --------
    ``load("lte.toml", overrides={"bottleneck.aqm": "codel", "flows.0.count": 8})``
    """
    check_all(path_like("path", path))
    place = os.fspath(path)
    try:
        text = read_text(path, _LARGEST)
    except UnreadableError as error:
        raise ScenarioError([Problem(place, (), MISSING, error.why)]) from None
    return _loaded(text, place, Path(path).parent, overrides)


def loads(
    text: str,
    *,
    place: str = "scenario",
    directory: Path | None = None,
    overrides: Given = (),
) -> Scenario:
    """Read a scenario from the text of a TOML file.

    Parameters
    ----------
    text : str
        Content of the file.
    place : str
        Name of the file, for messages. If the text contains no `name`, the name without extension
        is the scenario's name.
    directory : pathlib.Path, optional
        Directory from which relative trace paths start. Default: the working directory.
    overrides : mapping of str to value, or iterable of (key, value)
        As for `load`.

    Raises
    ------
    ScenarioError
        With every problem found.
    """
    return _loaded(text, place, directory, overrides)


def _loaded(text: str, place: str, directory: Path | None, given: Given) -> Scenario:
    if not isinstance(text, str):
        raise ScenarioError([Problem(place, (), text, "not a text", "Use TOML, or use load")])
    document = parsed(text, place)
    document.setdefault("name", Path(place).stem or "scenario")
    scenario, overrides = read_document(document, place, directory, given)
    overrides.warn(stacklevel=3)
    return scenario


def read_document(
    document: dict[str, Any], place: str, directory: Path | None, given: Given = ()
) -> tuple[Scenario, Overrides]:
    """Apply overrides to a parsed document; return the scenario and the applied overrides.

    Parameters
    ----------
    document : dict
        Parsed content of a file; it is modified.
    place : str
        Name of the file, for messages.
    directory : pathlib.Path or None
        Directory from which relative trace paths start.
    given : mapping of str to value, or iterable of (key, value)
        Overrides, as for `load`.

    Raises
    ------
    ScenarioError
        With every problem found.
    """
    if "scenario" in document and "bottleneck" not in document:
        accepted = "airpath sweep runs it"
        raise ScenarioError([Problem(place, (), MISSING, "a sweep file, not a scenario", accepted)])
    problems: list[Problem] = []
    overrides = Overrides(document, Scenario, display_name("overrides"), FromFile)
    for key, value in pairs(given, "overrides"):
        try:
            overrides.put(key, value_of_text(value) if isinstance(value, str) else value)
        except ScenarioError as error:
            problems += error.problems
    try:
        context = {**FromFile, "directory": directory}
        scenario = Scenario.model_validate(document, context=context)
    except ValidationError as error:
        problems += [overrides.placed(problem) for problem in problems_of(error, place)]
    if problems:
        raise ScenarioError(problems)
    scenario._directory = directory
    scenario._file = place
    scenario._overrides = overrides.made()
    return scenario, overrides


def parsed(text: str, place: str) -> dict[str, Any]:
    """Parse a TOML text.

    Parameters
    ----------
    text : str
        The text.
    place : str
        Name of the file, for messages.

    Raises
    ------
    ScenarioError
        If the text is not TOML. The message contains the position of the error.
    """
    # Some editors write a byte order mark at the beginning of a file.
    text = text.removeprefix("\ufeff")
    try:
        return tomllib.loads(text)
    except RecursionError:
        what = "not TOML that can be read: brackets are nested too deeply"
    except ValueError as error:
        what = f"not TOML: {_format_toml_error(str(error), text)}"
    raise ScenarioError([Problem(place, (), MISSING, what)])


_AT = re.compile(r" ?\((at line (?P<line>\d+), column \d+|at end of document)\)$")
_WORDS = {
    "Cannot overwrite a value": "{key} is given twice",
    "Cannot declare": "{key} is given twice",
    "Duplicate inline table key": "a key of this table is given twice",
    "Cannot mutate immutable namespace": "{key} already has a value, nothing can be added",
    "Invalid value": "there is no value, or a text without quotes",
    "Expected newline or end of document": "more than one value; a text needs quotes",
    "Invalid statement": "neither KEY = VALUE nor [TABLE]",
    "Expected '=' after a key": "no = after the key",
    "Unclosed array": "a list without its closing bracket",
}
"""Maps beginnings of the messages of Python's TOML parser to Airpath's messages."""


def _format_toml_error(message: str, text: str) -> str:
    """Return Airpath's message for a TOML syntax error, with the position of the error."""
    at = _AT.search(message)
    where = f" ({at[1]})" if at else ""
    lines = text.rstrip().splitlines() or [""]
    number = int(at["line"]) if at and at["line"] else len(lines)
    line = lines[min(number, len(lines)) - 1]
    key = one_line(line.partition("=")[0].strip()[:60]) or "a key"
    for beginning, words in _WORDS.items():
        if message.startswith(beginning):
            return words.format(key=key) + where
    said = " ".join(message.split()).rstrip(".")
    return said[:1].lower() + said[1:]
