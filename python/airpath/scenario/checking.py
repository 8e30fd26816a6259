"""Validation of scenario tables: checks keys and types, and lets the engine check the rest.

The engine checks ranges of values and rules between values. All problems are reported together. A
rule between values is checked if these values can be read, even if other values are wrong.
"""

from __future__ import annotations

import json
import operator
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import InitErrorDetails

from airpath.scenario.engine_problems import rejected, written_path
from airpath.scenario.faults import Path, as_missing, closest, explained, fault, nearest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from airpath.scenario.base import Context, Model

__all__ = ["NO_FILES", "as_json", "checked", "with_types_alone"]

Values = Mapping[str, Any]
ModelT = TypeVar("ModelT", bound="Model")
T = TypeVar("T")

_TYPES_ALONE: ContextVar[bool] = ContextVar("_TYPES_ALONE", default=False)
"""True while only keys and types of tables are checked, without the engine."""
_STAND_INS: ContextVar[bool] = ContextVar("_STAND_INS", default=False)
"""True while values that cannot be read are replaced by valid values."""


def checked(
    kind: type[ModelT], data: Any, handler: Callable[[Values], ModelT], from_file: bool
) -> ModelT:
    """Return the table with the given values after all checks.

    Parameters
    ----------
    kind : type
        Class of the table.
    data : object
        The table as the user wrote it.
    handler : callable
        Function that reads the values of known keys.
    from_file : bool
        True if `data` has the keys of a TOML file, not those of Python.

    Raises
    ------
    ValidationError
        With all problems found.
    """
    if not isinstance(data, Mapping):
        raise fault("not a table", f"Expected one of: {', '.join(kind.keys(from_file=from_file))}")
    known, keys = kind._known_keys(), kind.keys(from_file=from_file)
    unknown = {str(key): value for key, value in data.items() if key not in known}
    lines = [
        InitErrorDetails(type=fault("unknown key", nearest(key, keys)), loc=(key,), input=value)
        for key, value in unknown.items()
    ]
    given = {key: value for key, value in data.items() if key in known}

    def read(values: Values) -> ModelT:
        result = handler(values)
        result._check_alternatives()
        return result

    if _STAND_INS.get():
        return _read_with_stand_ins(kind, read, given)
    result: ModelT | None = None
    try:
        result = read(given)
        lines += _engine_faults(result, given)
    except ValidationError as error:
        found = cast(Iterable[Any], error.errors(include_url=False))
        wrong = [explained(line, kind.model_fields) for line in found]
        lines += [*wrong, *_other_faults(kind, read, given, {line["loc"] for line in wrong})]
    if lines:
        meant = {closest(key, keys) for key in unknown}
        lines = [line for line in lines if not (_is_missing(line) and line["loc"][0] in meant)]
        raise ValidationError.from_exception_data(kind.__name__, lines)
    return cast(ModelT, result)


def _is_missing(line: InitErrorDetails) -> bool:
    context = getattr(line["type"], "context", None) or {}
    return bool(context.get("missing")) and len(line.get("loc", ())) == 1


def with_types_alone(read: Callable[[], T]) -> T:
    """Return the result of `read`, which reads tables; only their keys and types are checked."""
    token = _TYPES_ALONE.set(True)
    try:
        return read()
    finally:
        _TYPES_ALONE.reset(token)


def as_json(resolve: Callable[[Context, Path], Values]) -> str:
    """Return the resolved form of a separate table (without scenario) as JSON for the engine."""
    return json.dumps(resolve(NO_FILES, ()), allow_nan=False)


class _NoFiles:
    """Context for a table without scenario. Files are not opened; the scenario checks them."""

    def trace_key(self, file: str, field: Path) -> str:
        return file

    def table_key(self, table: str, field: Path) -> str:
        return table

    def delay_points(self, file: str, field: Path) -> list[tuple[int, int]]:
        return []


NO_FILES = _NoFiles()


def _other_faults(
    kind: type[ModelT], read: Callable[[Values], ModelT], given: Values, wrong: Collection[Path]
) -> list[InitErrorDetails]:
    """Return the engine's problems in a table that also has faults at the paths `wrong`."""

    def read_with_stand_ins() -> ModelT:
        token = _STAND_INS.set(True)
        try:
            return _read_with_stand_ins(kind, read, given)
        finally:
            _STAND_INS.reset(token)

    # If the faults are only range errors of nested tables, all values can be read.
    result, unread = _read_with_types_alone(lambda: read(given)), frozenset[Path]()
    if result is None:
        result, unread = _read_with_types_alone(read_with_stand_ins), frozenset(wrong)
    if result is None:
        return []
    found = _engine_faults(result, given, unread)
    return [line for line in found if line["loc"] not in wrong]


def _read_with_stand_ins(
    kind: type[ModelT], read: Callable[[Values], ModelT], given: Values
) -> ModelT:
    """Read a table and replace the values that cannot be read by valid values."""
    try:
        return read(given)
    except ValidationError as error:
        keys = {str(line["loc"][0]) for line in error.errors(include_url=False) if line["loc"]}
        stand_ins = _with_stand_ins(kind.model_fields, given, keys)
        if stand_ins is None:
            raise
        return read(stand_ins)


def _engine_faults(
    table: Model, given: Values, unread: Collection[Path] = ()
) -> list[InitErrorDetails]:
    """Return the problems that the engine finds in a table whose values have the right types.

    Parameters
    ----------
    table : Model
        The table.
    given : mapping
        Keys of the table with the values that the user set.
    unread : collection of tuple
        Paths of values that were replaced. Problems that depend on these values are omitted.
    """
    faults = []
    for problem in [] if _TYPES_ALONE.get() else table._engine_problems():
        field, _, reason, _, others = problem
        is_rule = bool(reason) and not others
        if unread and (is_rule or any(_is_of(table, path, unread) for path in (field, *others))):
            continue
        found = rejected(table, given, problem)
        error = fault(found.what, found.accepted, found.example)
        error = as_missing(error) if found.is_missing else error
        faults.append(InitErrorDetails(type=error, loc=found.path, input=found.value))
    return faults


def _is_of(table: Model, engine_path: str, paths: Collection[Path]) -> bool:
    """Return whether an engine field is at, below or above one of the paths."""
    keys = written_path(table, table._user_path(engine_path))
    return any(all(map(operator.eq, keys, path)) for path in paths)


def _read_with_types_alone(read: Callable[[], ModelT]) -> ModelT | None:
    """Read a table and check only keys and types; return None if a type is wrong."""
    if _TYPES_ALONE.get():
        return None
    try:
        return with_types_alone(read)
    except ValidationError:
        return None


def _with_stand_ins(
    fields: Mapping[str, FieldInfo], given: Values, keys: Collection[str]
) -> Values | None:
    """Return a copy of the values in which the values of `keys` are replaced by valid values.

    The replacements are defaults or examples of the fields. The result is None if a key has
    neither.
    """
    values = {key: value for key, value in given.items() if key not in keys}
    for name, info in fields.items():
        if info.is_required() and {name, info.alias} & set(keys):
            if not info.examples:
                return None
            values[name] = tomllib.loads(f"value = {info.examples[0]}")["value"]
    return values
