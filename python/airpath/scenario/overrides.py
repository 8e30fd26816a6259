"""Overrides of scenario values by ``--set``, `load` and `Scenario.replace`.

An overriding table changes only the keys that it contains. The kind of a component can be changed
by a string or by a table with another `kind`. Keys that both kinds have then keep their values, and
an `OverrideWarning` lists the removed keys.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from airpath.errors import (
    MISSING,
    BadValueError,
    OverrideWarning,
    Problem,
    ScenarioError,
    dotted,
    one_line,
    show,
)
from airpath.scenario.base import Component, Model, Path, problems_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from airpath.scenario.scenario import Scenario

__all__ = [
    "Overrides",
    "UnknownKeyProblem",
    "field_of",
    "pairs",
    "put_over",
    "replaced",
    "titled",
    "value_of_text",
]

REPLACE = "replace"
_LONGEST_OVERRIDE = 200
"""Largest number of characters of an override in a title; a list of flows can be longer."""


def pairs(given: object, place: str) -> list[tuple[str, Any]]:
    """Convert a mapping, or an iterable of pairs, to a list of keys and values.

    Raises
    ------
    BadValueError
        If `given` has another type.
    """
    items = given.items() if isinstance(given, Mapping) else given
    example = f'{place} = {{"bottleneck.aqm": "codel"}}'
    try:
        found = [(key, value) for key, value in items]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        found = None
    if found is None or not all(isinstance(key, str) for key, _ in found):
        wrong = "not keys with their values"
        accepted = "Use a mapping of dotted keys to values"
        raise BadValueError(str(Problem(None, (place,), given, wrong, accepted, example)))
    return found


def value_of_text(text: str) -> Any:
    """Parse a value as TOML; return dates and invalid TOML unchanged as strings."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    if set(parsed) != {"value"} or isinstance(parsed["value"], (date, time)):
        return text
    return parsed["value"]


def titled(name: str, overrides: Sequence[str]) -> str:
    """Return a scenario's name with its overrides for titles; long overrides are shortened.

    Overrides of recordings are omitted, because they do not affect the simulated path.
    """
    shown = [
        each if len(each) <= _LONGEST_OVERRIDE else f"{each[:_LONGEST_OVERRIDE]}…"
        for each in overrides
        if not each.startswith("record")
    ]
    return f"{name} ({', '.join(shown)})" if shown else name


@dataclass(frozen=True)
class UnknownKeyProblem(Problem):
    """Problem report for an unknown key. It does not depend on the value.

    Parameters
    ----------
    key : str
        The key as written by the user.
    """

    key: str = ""


class Overrides:
    """Applies overrides to the document of a scenario, and records the changed keys.

    Parameters
    ----------
    document : dict
        Parsed content of a file; it is modified.
    model : type of Model
        Model of the document.
    place : str
        First word of each message about an override: ``overrides``.
    context : mapping, optional
        Pydantic's validation context for the values.
    """

    def __init__(
        self,
        document: dict[str, Any],
        model: type[Model],
        place: str,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        self._made: dict[str, str] = {}
        self._document = document
        self._model = model
        self._place = place
        self._context = context
        self._paths: list[Path] = []
        self._lost: list[str] = []
        self._moved: dict[str, str] = {}
        self._notes: list[str] = []

    def put(self, key: str, value: Any) -> None:
        """Apply one override.

        Raises
        ------
        ScenarioError
            If the key does not exist.
        """
        *parents, last = key.split(".")
        if not all((*parents, last)):
            accepted = "Use keys with full stops between them"
            raise self._nowhere(key, value, "not a key", accepted, "bottleneck.link.rate")
        path: Path = ()
        new: Path | None = None
        table: Any = self._document
        model: type[Model] | None = self._model
        for segment in parents:
            position, inner = self._step(table, model, segment, path, (key, value))
            if isinstance(table, dict) and position not in table:
                new = new or (*path, position)
            path = (*path, position)
            table, model = _opened(table, position, inner, model), inner
        position, inner = self._step(table, model, last, path, (key, value))
        if isinstance(table, dict) and model is not None:
            self._merge(table, {str(position): value}, model, path)
        else:
            self._assign(table, position, value, inner, (*path, position))
        self._paths.append(new or (*path, position))
        self._made[key] = _short(key, value)
        if self._lost:
            head = f"{self._place}: {one_line(key)} = {show(_plain(value))}"
            self._notes.append(f"{head}: drops {', '.join(self._lost)}.")
            self._lost.clear()

    def warn(self, stacklevel: int) -> None:
        """Issue an `OverrideWarning` if keys were removed; `stacklevel` counts from the caller."""
        for text in self.lost():
            warnings.warn(text, OverrideWarning, stacklevel=stacklevel + 1)

    def lost(self) -> list[str]:
        """Return a line for each removed value, and for each key whose default changed."""
        moved = (
            f"{self._place}: {key} {text}."
            for key, text in self._moved.items()
            if key not in self._made
        )
        return [*self._notes, *moved]

    def made(self, before: Iterable[str] = ()) -> tuple[str, ...]:
        """Return earlier (`before`) and own overrides as short texts: ``bottleneck.aqm = gred``."""
        still = (text for text in before if text.partition(" = ")[0] not in self._made)
        return (*still, *self._made.values())

    def placed(self, problem: Problem) -> Problem:
        """Return the problem, with the override as its location if it lies in an override."""
        if not any(problem.field[: len(path)] == path for path in self._paths):
            return problem
        field, value, what = problem.field, problem.value, problem.what
        return Problem(self._place, field, value, what, problem.accepted, problem.example)

    # --- navigation to a value
    # ----------------------------------------------------------------------

    def _step(
        self,
        table: Any,
        model: type[Model] | None,
        segment: str,
        path: Path,
        given: tuple[str, Any],
    ) -> tuple[str | int, type[Model] | None]:
        """Return the key or list index in `table` for a part of a dotted key, and its model."""
        if isinstance(table, dict):
            name, inner = field_of(_class(model, table), segment)
            other = next((key for key in (segment, *name) if key in table), segment)
            return other, inner
        if not isinstance(table, list):
            raise self._nowhere(*given, f"{dotted(path)} is not a table and has no {segment}")
        names = [each.get("name") if isinstance(each, dict) else None for each in table]
        if segment in names:
            return names.index(segment), model
        if not re.fullmatch("[0-9]{1,9}", segment) or int(segment) >= len(table):
            count = len(table)
            accepted = f"Use a position from 0 to {count - 1}" if count else "The list is empty"
            accepted += "".join(f" or {name}" for name in names if isinstance(name, str))
            raise self._nowhere(*given, f"{dotted(path)} has no entry {segment}", accepted)
        return int(segment), model

    def _nowhere(
        self, key: str, value: Any, what: str, accepted: str | None = None, example: Any = None
    ) -> ScenarioError:
        text = value if isinstance(value, str) else show(_plain(value))
        place = f"{self._place} {key}={text}"
        return ScenarioError([UnknownKeyProblem(place, (), MISSING, what, accepted, example, key)])

    # --- treatment of the old value ---------------------------------------------------------------

    def _assign(
        self, table: Any, position: Any, value: Any, model: type[Model] | None, path: Path
    ) -> None:
        """Set `value` at a key or index of `table`; merge it if both values are tables."""
        old = table.get(position) if isinstance(table, dict) else table[position]
        if value is None:
            if isinstance(table, dict):
                table.pop(position, None)
            return
        if isinstance(value, Model):
            fresh = value.given()
            if isinstance(old, Mapping):
                self._lose(old, [key for key in old if key not in fresh], path)
            table[position] = fresh
            return
        component = _component_of(model)
        if component is not None:
            known = isinstance(value, str) and value in component.registry
            value = {component.chosen_by: value} if known else value
            old = table[position] = {component.chosen_by: old} if isinstance(old, str) else old
        if model is not None and isinstance(value, Mapping) and isinstance(old, dict):
            self._merge(old, value, model, path)
        elif isinstance(old, list) and _are_positions(value, old):
            for key, item in value.items():
                self._assign(old, int(key), item, model, (*path, int(key)))
        else:
            table[position] = _plain(value)

    def _merge(
        self, old: dict[str, Any], new: Mapping[str, Any], model: type[Model], path: Path
    ) -> None:
        """Merge the table `new` into the table `old`."""
        before, after = (_component_of(_class(model, table)) for table in (old, {**old, **new}))
        if before is not None and before is not after:
            self._become(old, new, before, after, path)
        kind = after or model
        for key, value in new.items():
            names, inner = field_of(kind, key)
            position = next((name for name in (key, *names) if name in old), key)
            given_up = [name for name in kind.instead_of(str(key)) if name in old]
            self._lose(old, given_up, path)
            for name in given_up:
                del old[name]
            self._assign(old, position, value, inner, (*path, position))

    def _become(
        self,
        old: dict[str, Any],
        new: Mapping[str, Any],
        before: type[Component],
        kind: type[Component] | None,
        path: Path,
    ) -> None:
        """Change the kind of a component, and remove the keys that the new kind does not have."""
        if kind is None:
            old.clear()  # Validation then reports the unknown kind.
            return
        chosen_by = kind.chosen_by
        known = {*kind.keys(), *kind.model_fields}
        known -= {chosen_by, *before.own_keys, *kind.own_keys}
        shared = {key: kind.adopted(key, old[key]) for key in old if key in known - new.keys()}
        candidate = {**shared, **{key: _plain(value) for key, value in new.items()}}
        try:
            kind.model_validate(candidate, context=self._context)
        except ValidationError as error:
            for problem in problems_of(error, None):
                if problem.field:
                    shared.pop(str(problem.field[0]), None)
        gone = [key for key in old if key not in shared and key not in new and key != chosen_by]
        self._lose(old, gone, path)
        for key in [key for key in old if key not in shared]:
            del old[key]
        old.update(shared)
        for key in kind.compared_keys:
            if key not in old and key not in new:
                was, becomes = (_default(component, key) for component in (before, kind))
                if was not in (None, becomes) and becomes is not None:
                    self._moved[dotted((*path, key))] = f"is {becomes} by default; it was {was}"

    def _lose(self, table: Mapping[str, Any], keys: Iterable[str], path: Path) -> None:
        for key in keys:
            self._lost.append(f"{dotted((*path, key))} = {show(_plain(table[key]))}")


def _default(component: type[Component], key: str) -> Any:
    """Return the default of a component's key; None if the key has no default."""
    field = component.model_fields.get(key)
    return None if field is None or field.is_required() else field.get_default()


def replaced(scenario: Scenario, key: object, value: tuple[Any, ...]) -> Scenario:
    """Return a copy of the scenario with other values; see `Scenario.replace`."""
    if isinstance(key, str) and len(value) == 1:
        given = [(key, value[0])]
    elif isinstance(key, str) or value:
        wrong = "not a key with one value"
        accepted = "Use a key and its value, or a mapping of keys to values"
        raise BadValueError(str(Problem(REPLACE, (), key, wrong, accepted)))
    else:
        given = pairs(key, REPLACE)
    made, overrides = put_over(scenario, given, REPLACE)
    overrides.warn(stacklevel=3)
    return made


def put_over(
    scenario: Scenario,
    given: Iterable[tuple[str, Any]],
    place: str,
    context: Mapping[str, Any] | None = None,
) -> tuple[Scenario, Overrides]:
    """Return a copy of the scenario with other values, and the applied overrides.

    Parameters
    ----------
    scenario : Scenario
        The scenario. It is not modified.
    given : iterable of (key, value)
        Dotted keys and their values.
    place : str
        First word of each message about an override.
    context : mapping, optional
        Pydantic's validation context for the values.

    Raises
    ------
    ScenarioError
        With every problem found.
    """
    document = scenario.given()
    overrides = Overrides(document, type(scenario), place, context)
    problems: list[Problem] = []
    for name, item in given:
        try:
            overrides.put(name, item)
        except ScenarioError as error:
            problems += error.problems
    try:
        known = {**(context or {}), "directory": scenario.directory}
        made = type(scenario).model_validate(document, context=known)
    except ValidationError as error:
        where = scenario.file or scenario.name
        problems += [overrides.placed(problem) for problem in problems_of(error, where)]
    if problems:
        raise ScenarioError(problems)
    made._directory, made._file = scenario.directory, scenario.file
    made._overrides = overrides.made(scenario.overrides)
    return made, overrides


# --- information from the models ---------------------------------------------------------------


def _component_of(model: type[Model] | None) -> type[Component] | None:
    return model if model is not None and issubclass(model, Component) else None


def _class(model: type[Model] | None, table: Mapping[str, Any]) -> type[Model] | None:
    """Return the class that validates the table; None if its kind is unknown."""
    component = _component_of(model)
    if component is None:
        return model
    kind = table.get(component.chosen_by, component.usual_kind())
    return component.registry.get(kind) if isinstance(kind, str) else None


def field_of(model: type[Model] | None, key: str) -> tuple[tuple[str, ...], type[Model] | None]:
    """Return the names of a field (in a file, in Python), and the class of its tables, if any.

    Parameters
    ----------
    model : type of Model or None
        Class of the table; None if it is unknown.
    key : str
        Name of the field in a file or in Python. An unknown name is returned unchanged.
    """
    if model is None:
        return (key,), None
    for name, info in model.model_fields.items():
        names = (info.alias or name, name)
        if key in names:
            return names, next(_models(info.annotation), None)
    return (key,), None


def _models(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _opened(table: Any, position: Any, inner: type[Model] | None, model: type[Model] | None) -> Any:
    """Return the value at a key or index; create a table there if a key inside will be set."""
    component = _component_of(inner)
    if isinstance(table, dict) and position not in table:
        kind = _class(model, table)
        info = kind.model_fields.get(position) if kind is not None else None
        default = info.default if info is not None else None
        table[position] = default.document() if isinstance(default, Component) else {}
    elif component is not None and isinstance(table[position], str):
        table[position] = {component.chosen_by: table[position]}
    return table[position]


def _are_positions(value: Any, entries: Sequence[Any]) -> bool:
    """Return whether a table sets single entries of a list by their indices or names."""
    positions = {str(position) for position in range(len(entries))}
    return isinstance(value, Mapping) and bool(value) and set(map(str, value)) <= positions


# --- texts -------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """Convert a Python value to plain values as in a parsed document."""
    if isinstance(value, Model):
        return value.given()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _short(key: str, value: Any) -> str:
    if isinstance(value, Component):
        value = getattr(value, value.chosen_by)
    if value is None:
        return one_line(f"{key} = default")
    value = _plain(value)
    return one_line(f"{key} = {value if isinstance(value, str) else show(value)}")
