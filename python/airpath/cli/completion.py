"""What a shell offers for a word that is being typed: names of papers, parts, points, keys.

A word that cannot be completed gives nothing; no error may reach the shell.
"""

from __future__ import annotations

import os
import sys
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
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
"""Returns names; called, and what it needs imported, only when a shell requests them."""


def _one_of(names: Names) -> Completer:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def _some_of(names: Names) -> Completer:
    """Complete the last of several names with commas between them."""

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
    """Return the items of the paper that is named before."""
    from airpath.errors import AirpathError
    from airpath.reproduction import load

    try:
        paper = load(context.params["paper"])
    except (AirpathError, KeyError):
        return []
    return [item.key for item in paper.items if item.key.startswith(incomplete)]


# --- keys of --set -----------------------------------------------------------------------------


def settings(context: typer.Context, incomplete: str) -> list[str]:
    """Return the keys of ``--set``, or after ``=`` the values of a key that is a choice.

    A key ends with ``=`` where its value may follow, and with a full stop where keys inside it may.
    """
    from airpath.scenario import Scenario

    key, equals, value = incomplete.partition("=")
    *parents, last = key.split(".")
    places = [_Place((Scenario,), _document(_file(context)))]
    for step in parents:
        places = [inner for place in places for inner in place.inside(step)]
    if equals:
        words = {word for place in places for word in place.words(last)}
        return sorted(f"{key}={word}" for word in words if word.startswith(value))
    before = "".join(f"{step}." for step in parents)
    names = {name + end for place in places for name in place.names() for end in place.ends(name)}
    return sorted(f"{before}{name}" for name in names if name.startswith(last))


def _file(context: typer.Context) -> Any:
    """Return the scenario file that is named before."""
    found = context.params.get("scenario")
    if found is None:
        # An option that still lacks its value hides the arguments before it.
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


@dataclass(frozen=True)
class _Place:
    """What may stand at a key: a table of one of the models, or a list of such tables."""

    models: tuple[Any, ...]
    given: Any
    is_list: bool = False

    def names(self) -> set[str]:
        if self.is_list:
            return {str(place) for place in range(len(self.given) or 1)}
        return {key for model in self._choices() for key in model.keys()}  # noqa: SIM118  (a method of ours)

    def ends(self, name: str) -> set[str]:
        """Return what may follow a key: ``=`` for a value, ``.`` for keys inside."""
        if self.is_list:
            return {"."}
        if any(list(_models(info.annotation, True)) for info in self._fields(name)):
            return {"."}
        leaves = [leaf for info in self._fields(name) for leaf in _leaves(info.annotation)]
        tables = [leaf for leaf in leaves if _is_model(leaf)]
        # A part is a word as well as a table.
        values = len(tables) < len(leaves) or any(hasattr(table, "registry") for table in tables)
        return {"="} if not tables else {"=", "."} if values else {"."}

    def inside(self, step: str) -> Iterator[_Place]:
        if self.is_list:
            known = step.isdecimal() and int(step) < len(self.given)
            yield _Place(self.models, self.given[int(step)] if known else {})
            return
        value = self.given.get(step, {}) if isinstance(self.given, Mapping) else {}
        for info in self._fields(step):
            for listed in (False, True):
                models = tuple(_models(info.annotation, listed))
                if models and listed:
                    yield _Place(models, value if isinstance(value, list) else [], True)
                elif models:
                    yield _Place(models, value)

    def words(self, key: str) -> Iterator[str]:
        for info in self._fields(key):
            if info.annotation is bool:
                yield from ("true", "false")
            for rule in info.metadata:
                yield from getattr(getattr(rule, "func", None), "words", ())
            for model in _models(info.annotation, False):
                yield from getattr(model, "registry", ())
        for model in self._choices():
            if key == getattr(model, "chosen_by", None):
                yield model.model_fields[key].default

    def _fields(self, key: str) -> Iterator[Any]:
        for model in self._choices():
            for name, info in model.model_fields.items():
                if key == (info.alias or name):
                    yield info

    def _choices(self) -> Iterator[Any]:
        """Yield the models, of a family those that the file leaves open."""
        for model in self.models:
            if "family" not in vars(model):
                yield model
                continue
            kind = self.given
            if isinstance(kind, Mapping):
                kind = kind.get(model.chosen_by, model.usual_kind())
            known = isinstance(kind, str) and kind in model.registry
            yield from [model.registry[kind]] if known else model.registry.values()


def _models(annotation: Any, in_list: bool) -> Iterator[Any]:
    """Yield the models in a field's type, alone or in a list."""
    if typing.get_origin(annotation) is list:
        if in_list:
            yield from _models(typing.get_args(annotation)[0], False)
    elif typing.get_origin(annotation) is not None:
        for part in typing.get_args(annotation):
            yield from _models(part, in_list)
    elif not in_list and _is_model(annotation):
        yield annotation


def _leaves(annotation: Any) -> Iterator[Any]:
    """Yield the types that a field's type is put together from."""
    if not typing.get_args(annotation) or typing.get_origin(annotation) is typing.Literal:
        yield from () if annotation is type(None) else (annotation,)
    for part in typing.get_args(annotation):
        if typing.get_origin(annotation) is not typing.Literal:
            yield from _leaves(part)


def _is_model(annotation: Any) -> bool:
    from airpath.scenario.base import Model

    return isinstance(annotation, type) and issubclass(annotation, Model)
