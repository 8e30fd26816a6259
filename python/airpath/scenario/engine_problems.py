"""Translation of the engine's problem reports into the user's keys and units.

The engine checks ranges of values and rules between values. Its reports contain engine field names
and values in base units. This module finds the user's key and value and describes the accepted
values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from airpath.errors import show
from airpath.scenario.decibels import Decibels
from airpath.scenario.units import Quantity, quote
from airpath.scenario.values import OrWord

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from airpath.scenario.base import Model, Path

__all__ = [
    "Accepted",
    "EngineProblem",
    "Key",
    "Rejected",
    "field_name",
    "name_groups",
    "rejected",
    "written_path",
]

Bounds = tuple[float | None, bool, float | None, bool]
"""Lower bound, whether it is accepted itself; upper bound, whether it is accepted itself."""

Accepted = Bounds | str | None
"""Accepted range in base units, or advice as text; None if the reason contains the advice."""

EngineProblem = tuple[str, str, str, Accepted, list[str]]
"""Path of a field, its value, the reason, the accepted values, and the paths of the other fields in
the rule. The reason is empty if the value is outside a constant range."""

_SI_SUFFIXES = ("_hz", "_mps", "_m", "_db")
_SUFFIXES = frozenset([kind.key_suffix for kind in Quantity.__subclasses__()] + [*_SI_SUFFIXES])
"""Unit suffixes of the engine's field names, for base units and SI units."""


class Key:
    """Metadata of a field: its name in the resolved form if this is not the default name."""

    def __init__(self, name: str) -> None:
        self.name = name


class Rejected(NamedTuple):
    """A value in the user's scenario that the engine rejects, with advice.

    Parameters
    ----------
    path : tuple of str or int
        Path of keys to the value.
    value : object
        The value that the user set, or the default; None if the value is missing.
    what : str
        Reason for the rejection.
    accepted : str or None
        Advice on accepted values.
    example : str or None
        An accepted value.
    """

    path: Path
    value: object
    what: str
    accepted: str | None
    example: str | None

    @property
    def is_missing(self) -> bool:
        """True if a required value was not set."""
        return self.what == "missing"


def name_groups(problems: Iterable[EngineProblem], groups: Sequence[int]) -> list[EngineProblem]:
    """Replace indices of flows in problems by their groups, and remove duplicate problems.

    Parameters
    ----------
    problems : iterable of tuple
        Problems as reported by the engine, which identifies a flow by the index of its entry.
    groups : sequence of int
        Index of the group of each entry.
    """

    def named(path: str) -> str:
        first, _, rest = path.partition(".")
        number, dot, field = rest.partition(".")
        is_flow = first == "flows" and number.isdecimal()
        return f"flows.{groups[int(number)]}{dot}{field}" if is_flow else path

    found: dict[object, EngineProblem] = {}
    for field, value, what, accepted, others in problems:
        of_group = named(field), value, what, accepted, [named(other) for other in others]
        found.setdefault((*of_group[:4], *of_group[4]), of_group)
    return list(found.values())


class _Found(NamedTuple):
    """The value (and its path) in the user's table that belongs to an engine field."""

    path: Path
    value: Any
    info: FieldInfo | None
    given: Any
    table: Model

    @property
    def written(self) -> Any:
        """The value as the user wrote it, or the effective value if the user did not set it."""
        written = self.value if self.given is None else self.given
        if hasattr(written, "document"):
            return written.document()
        return str(written) if _has_unit(written) else written


def rejected(
    model: Model,
    given: Mapping[str, Any],
    problem: EngineProblem,
    user_path: Callable[[str], Sequence[str]] | None = None,
) -> Rejected:
    """Translate an engine problem into the user's keys and units.

    If the user did not set the rejected value, the result describes another value in the same rule
    that the user did set.

    Parameters
    ----------
    model : Model
        The table with the problem.
    given : mapping
        Keys of the table with the values that the user set.
    problem : tuple
        The problem as reported by the engine.
    user_path : callable, optional
        Function that returns the user's keys of an engine field; the name of the field may have a
        unit suffix. Default: the method of `model`.
    """
    field, _, what, accepted, others = problem
    user_path = user_path or model._user_path
    found = _follow(model, given, user_path(field))
    what = _with_keys(what, found.table)
    is_text = isinstance(accepted, str)
    advice, example = _with_keys(str(accepted), found.table) if is_text else None, None
    if isinstance(accepted, tuple):
        is_constant = not what
        bounds = _in_unit(accepted, found.value, field)
        what = what or _objection(found.value, bounds)
        advice = f"Use {_range(found.value, bounds)}"
        example = _example(found.info, found.value, bounds, is_constant=is_constant)
        word = OrWord.of(found.info.metadata) if found.info is not None else None
        if is_constant and word is not None:
            advice += f", or {quote(word)}"
    given_others = (_follow(model, given, user_path(other)) for other in others)
    other = next((other for other in given_others if other.given is not None), None)
    if found.given is not None or other is None:
        return Rejected(found.path, found.written, what, advice, example)
    if isinstance(accepted, tuple):
        what = f"{found.path[-1]} = {show(found.written)} is {what}"
        advice = f"Set {found.path[-1]} too, {_range(found.value, bounds)}"
    return Rejected(other.path, other.written, what, advice, None)


def _with_keys(text: str, table: Model) -> str:
    """Replace the engine's field names in a reason by the keys of the user's table."""
    # Words without an underscore are not replaced: they may be ordinary words.
    return re.sub(r"\b[a-z0-9]+_\w+", lambda word: field_name(table, word[0]) or word[0], text)


def _example(info: FieldInfo | None, value: Any, bounds: Bounds, *, is_constant: bool) -> Any:
    """Return an example: the field's default in the user's notation, or the field's own example."""
    if info is None:
        return None
    default = info.default
    if type(default) is type(value) and _contains(bounds, default):
        return quote(str(default)) if _has_unit(default) else _plain(default, default)
    if is_constant and not info.examples and isinstance(value, Quantity):
        usual = type(value).parse(value.example)
        return quote(value.example) if _contains(bounds, usual) else None
    return info.examples[0] if is_constant and info.examples else None


def _follow(model: Model, given: Any, keys: Sequence[str]) -> _Found:
    """Follow the user's keys, and return the path, value, field and given value found there."""
    path: list[str | int] = []
    value: Any = model
    table, info = model, None
    for key in keys:
        if isinstance(value, (list, tuple)) and key.isdecimal() and int(key) < len(value):
            index = int(key)
            listed = isinstance(given, (list, tuple)) and index < len(given)
            path.append(index)
            value, info, given = value[index], None, given[index] if listed else None
            continue
        name = field_name(value, key)
        if name is None or (isinstance(given, str) and path):
            break  # The engine's form of a value, {"packets": 100}; or only a kind.
        table, info = value, type(value).model_fields[name]
        known = given if isinstance(given, Mapping) else {}
        path.append(name if name in known else info.alias or name)
        value, given = value._effective(name), known.get(path[-1])
    return _Found(tuple(path), value, info, given, table)


def written_path(model: Model, keys: Sequence[str]) -> Path:
    """Return the longest part of a path of keys that exists in the user's tables.

    Parameters
    ----------
    model : Model
        The table.
    keys : sequence of str
        Keys returned by the `_user_path` of the table.
    """
    return _follow(model, {}, keys).path


def field_name(model: Any, key: str) -> str | None:
    """Return the name of the model's field that has the name `key` in the engine."""
    fields = getattr(type(model), "model_fields", {})
    if key in fields:
        return key
    if key in getattr(model, "engine_keys", {}):
        return str(model.engine_keys[key])
    for name, info in fields.items():
        named = next((m.name for m in info.metadata if isinstance(m, Key)), None)
        if key == named or key.removeprefix(name) in _SUFFIXES:
            return str(name)
    return None


def _has_unit(value: Any) -> bool:
    return isinstance(value, (Quantity, Decibels))


def _in_unit(bounds: Bounds, value: Any, field: str) -> Bounds:
    """Return bounds in base units of `value`; for quantities, "at least 1" becomes "above 0"."""
    if not isinstance(value, Quantity):
        return bounds
    low, takes_low, high, takes_high = bounds
    if field.endswith(_SI_SUFFIXES) and value.si_factor is not None:
        low, high = (end if end is None else end * value.si_factor for end in (low, high))
    if low == 1 and takes_low:
        low, takes_low = 0, False
    return low, takes_low, high, takes_high


def _objection(value: Any, bounds: Bounds) -> str:
    low, takes_low, high, takes_high = bounds
    if low is not None and (value < low or (value == low and not takes_low)):
        return f"{'below' if takes_low else 'not above'} {_plain(value, low)}"
    if high is not None and (value > high or (value == high and not takes_high)):
        return f"{'above' if takes_high else 'not below'} {_plain(value, high)}"
    return "not accepted"


def _range(value: Any, bounds: Bounds) -> str:
    low, takes_low, high, takes_high = bounds
    if low is not None and low == high:
        return _number(value, low)
    if isinstance(value, Quantity):
        noun = value.noun
    elif isinstance(value, Decibels):
        noun = "level"
    else:
        noun = "integer" if isinstance(value, int) else "number"
    head = f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    if low is None:
        return f"{head} {'up to' if takes_high else 'below'} {_number(value, high)}"
    lowest = f"{head} {'from' if takes_low else 'above'} {_number(value, low)}"
    if high is None:
        return f"{lowest} on" if takes_low else lowest
    joined = {
        (True, True): "to",
        (True, False): "to below",
        (False, True): "and at most",
        (False, False): "and below",
    }[takes_low, takes_high]
    return f"{lowest} {joined} {_number(value, high)}"


def _contains(bounds: Bounds, value: Any) -> bool:
    low, takes_low, high, takes_high = bounds
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    is_high = low is None or value > low or (takes_low and value == low)
    is_low = high is None or value < high or (takes_high and value == high)
    return is_high and is_low


def _plain(value: Any, number: float | None) -> str:
    """Return a number in base units as text, with the unit of `value`."""
    assert number is not None
    if isinstance(value, Decibels):
        return str(Decibels(number))
    if isinstance(value, Quantity) and number:
        return str(type(value)(int(number)))
    return str(int(number)) if number == int(number) and abs(number) < 1e9 else f"{number:g}"


def _number(value: Any, number: float | None) -> str:
    text = _plain(value, number)
    return quote(text) if _has_unit(value) and number else text
