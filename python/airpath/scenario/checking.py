"""How a table is checked: keys and types here, ranges and rules between values by the engine.

All problems are reported at once. A rule over several values is checked if these can be read,
even if other values are wrong.
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
"""Whether tables are read without the checks of the engine."""
_STAND_INS: ContextVar[bool] = ContextVar("_STAND_INS", default=False)
"""Whether others stand in for values that cannot be read."""


def checked(
    kind: type[ModelT], data: Any, handler: Callable[[Values], ModelT], from_file: bool
) -> ModelT:
    """Return a table whose values are accepted.

    Parameters
    ----------
    kind : type
        Class of the table.
    data : object
        What the user gave.
    handler : callable
        Reads the values of known keys.
    from_file : bool
        Whether the keys are those of a TOML file.

    Raises
    ------
    ValidationError
        With every problem found.
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
    """Return the result of `read` on tables that the engine does not check."""
    token = _TYPES_ALONE.set(True)
    try:
        return read()
    finally:
        _TYPES_ALONE.reset(token)


def as_json(resolve: Callable[[Context, Path], Values]) -> str:
    """Return the resolved form of a table alone, as the engine reads it."""
    return json.dumps(resolve(NO_FILES, ()), allow_nan=False)


class _NoFiles:
    """Resolves a table alone: its files are checked with the scenario."""

    def trace_key(self, file: str, field: Path) -> str:
        return file

    def table_key(self, table: str, field: Path) -> str:
        return table


NO_FILES = _NoFiles()


def _other_faults(
    kind: type[ModelT], read: Callable[[Values], ModelT], given: Values, wrong: Collection[Path]
) -> list[InitErrorDetails]:
    """Return the problems that the engine finds in a table that has faults at `wrong`."""

    def read_with_stand_ins() -> ModelT:
        token = _STAND_INS.set(True)
        try:
            return _read_with_stand_ins(kind, read, given)
        finally:
            _STAND_INS.reset(token)

    # Where the faults are ranges of tables inside, all values can be read.
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
    """Return a table in which others replace the values that cannot be read."""
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
    """Return the problems that the engine finds in values of the right types.

    Parameters
    ----------
    table : Model
        The table.
    given : mapping
        Its keys as the user gave them.
    unread : collection of tuple
        Paths of values that have a stand-in. What depends on one of them is left out.
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
    """Return whether a field of the engine is of a value at one of the paths, or contains one."""
    keys = written_path(table, table._user_path(engine_path))
    return any(all(map(operator.eq, keys, path)) for path in paths)


def _read_with_types_alone(read: Callable[[], ModelT]) -> ModelT | None:
    """Return a table that the engine does not check; None if a type is wrong."""
    if _TYPES_ALONE.get():
        return None
    try:
        return with_types_alone(read)
    except ValidationError:
        return None


def _with_stand_ins(
    fields: Mapping[str, FieldInfo], given: Values, keys: Collection[str]
) -> Values | None:
    """Return the values; others of the right type replace those of `keys`.

    Defaults and examples stand in; None if a key has neither.
    """
    values = {key: value for key, value in given.items() if key not in keys}
    for name, info in fields.items():
        if info.is_required() and {name, info.alias} & set(keys):
            if not info.examples:
                return None
            values[name] = tomllib.loads(f"value = {info.examples[0]}")["value"]
    return values
