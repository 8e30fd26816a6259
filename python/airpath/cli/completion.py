"""Shell completion of names of papers, items and capture points, and of scenario keys.

A word that cannot be completed gives no candidates. No error may reach the shell.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import typer

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "algorithms",
    "capture_points",
    "channels",
    "demappers",
    "engines",
    "example_names",
    "formats",
    "items",
    "kinds",
    "mappings",
    "models",
    "papers",
    "schemes",
    "settings",
]

Completer = Callable[[str], list[str]]


Names = Callable[[], Iterable[str]]
"""Function that returns names; called, with its imports, only when a shell requests them."""


def _one_of(names: Names) -> Completer:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def _some_of(names: Names) -> Completer:
    """Return a function that completes the last name in a list with commas."""

    def complete(incomplete: str) -> list[str]:
        *before, last = incomplete.split(",")
        rest = [name for name in names() if name not in before and name.startswith(last)]
        return [",".join([*before, name]) for name in rest]

    return complete


papers = _one_of(lambda: import_module("airpath.reproduction").installed_papers())
kinds = _one_of(lambda: import_module("airpath.cli.listing").KINDS)
example_names = _one_of(lambda: import_module("airpath.scenario.examples").examples())
models = _one_of(lambda: import_module("airpath.solutions").Solution.registry)
channels = _one_of(lambda: import_module("airpath.phy").components().channels)
mappings = _one_of(lambda: import_module("airpath.phy").components().mappings)
algorithms = _one_of(lambda: import_module("airpath.phy").components().algorithms)
demappers = _one_of(lambda: import_module("airpath.phy").components().demappers)
modulations = _one_of(lambda: import_module("airpath.phy.symbol_errors").MODULATIONS)
amplitude_fadings = _one_of(lambda: import_module("airpath.phy.symbol_errors").FADINGS)
ser_methods = _one_of(lambda: import_module("airpath.phy.symbol_errors").METHODS)
schemes = _some_of(
    lambda: ["all", *(mcs["name"] for mcs in import_module("airpath.phy").components().mcss)]
)
capture_points = _some_of(lambda: import_module("airpath.scenario").CAPTURE_POINTS)
engines = _some_of(lambda: import_module("airpath.comparison").ENGINES)
formats = _some_of(lambda: import_module("airpath.results.export").FORMATS)


def items(context: typer.Context, incomplete: str) -> list[str]:
    """Return the items of the paper named earlier on the command line."""
    from airpath.errors import AirpathError
    from airpath.reproduction import load

    try:
        paper = load(context.params["paper"])
    except (AirpathError, KeyError):
        return []
    return [item.key for item in paper.items if item.key.startswith(incomplete)]


# --- keys of --set -----------------------------------------------------------------------------


def settings(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the argument of ``--set``: a key, or after ``=`` a value of the key.

    A key ends with ``=`` if its value may follow, and with a full stop if a nested key may follow.
    """
    from airpath.scenario import Scenario
    from airpath.scenario.key_tree import nodes_at

    key, equals, value = incomplete.partition("=")
    *parents, last = key.split(".")
    places = nodes_at(Scenario, _document(_file(context)), parents)
    if equals:
        words = {word for place in places for word in place.words(last)}
        return sorted(f"{key}={word}" for word in words if word.startswith(value))
    before = "".join(f"{step}." for step in parents)
    names = {name + end for place in places for name in place.names() for end in place.ends(name)}
    return sorted(f"{before}{name}" for name in names if name.startswith(last))


def _file(context: typer.Context) -> Any:
    """Return the scenario file named earlier on the command line."""
    found = context.params.get("scenario")
    if found is None:
        # If an option still lacks its value, typer does not parse the arguments before it.
        line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
        found = next((word for word in line.split() if word.endswith(".toml")), None)
    return found


def _document(file: Any) -> Any:
    from airpath.errors import AirpathError
    from airpath.files import MIB, read_text

    try:
        return {} if file is None else tomllib.loads(read_text(file, MIB))
    except (AirpathError, ValueError, RecursionError):
        return {}
