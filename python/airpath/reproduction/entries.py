"""Checks the entries of declared items when a paper is loaded.

A `Kind` describes the values that a key accepts. A mapping from keys to kinds describes a table of
``paper.toml``. Each wrong entry is reported in one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from string import Formatter
from typing import Any, Final, NamedTuple

from airpath.errors import MISSING, BadValueError, Problem
from airpath.reproduction.files import refuse_unknown

__all__ = [
    "COUNT",
    "FLAG",
    "NUMBER",
    "NUMBERS",
    "TABLE",
    "TABLES",
    "TEXT",
    "TEXTS",
    "TEXT_OR_TEXTS",
    "WORDS",
    "Kind",
    "is_list",
    "is_number",
    "numbers",
    "reads_as_number",
    "refuse_fields",
    "refuse_numbers",
    "refuse_value",
    "refuse_wrong",
]


class Kind(NamedTuple):
    """Kind of value that a key accepts: description, test, and example."""

    name: str
    accepts: Callable[[Any], bool]
    example: str


def is_list(value: Any, of: Callable[[Any], bool] = lambda _value: True) -> bool:
    """Return whether a value is a list whose entries meet a condition."""
    return isinstance(value, list | tuple) and all(map(of, value))


def is_number(value: Any) -> bool:
    """Return whether a value is a number, and not true or false."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def numbers(least: int, most: int) -> Kind:
    """Return the kind for a list with `least` to `most` numbers."""
    count = str(least) if least == most else f"{least} or {most}"
    return Kind(
        f"a list of {count} number{'s' * (most > 1)}",
        lambda value: is_list(value, is_number) and least <= len(value) <= most,
        str([float(n) for n in range(most)]),
    )


TEXT: Final = Kind("a text", _is_text, '"snr_db"')
TEXTS: Final = Kind("a list of texts", lambda v: is_list(v, _is_text), '["goodput", "delay"]')
TEXT_OR_TEXTS: Final = Kind(
    "a text or a list of texts", lambda v: _is_text(v) or is_list(v, _is_text), '["goodput"]'
)
NUMBER: Final = Kind("a number", is_number, "60.0")
COUNT: Final = Kind("a number from 1 on", lambda v: type(v) is int and v > 0, "2")
FLAG: Final = Kind("true or false", lambda v: isinstance(v, bool), "true")
NUMBERS: Final = Kind("a list of numbers", lambda v: is_list(v, is_number), "[1.0, 2.0]")
TABLE: Final = Kind("a table", _is_table, '{size = "buffer"}')
WORDS: Final = Kind(
    "a table of texts",
    lambda v: _is_table(v) and all(map(_is_text, v.values())),
    '{size = "buffer"}',
)
TABLES: Final = Kind("a list of tables", lambda v: is_list(v, _is_table), '[{title = "..."}]')


def refuse_wrong(
    place: str, spec: Any, kinds: Mapping[str, Kind], required: Iterable[str] = ()
) -> None:
    """Reject unknown keys of a table, missing keys, and values of the wrong kind.

    Parameters
    ----------
    place : str
        File and table, for example ``sbd/paper.toml: figures.fig1``.
    spec : mapping
        The table.
    kinds : mapping of str to Kind
        Kind of each key.
    required : iterable of str
        Keys that the table must have. Default: none.

    Raises
    ------
    BadValueError
        If entries are wrong. The message has one line for each wrong entry.
    """
    if not isinstance(spec, Mapping):
        refuse_value(place, "", spec, "not a table", "Use a table")
    refuse_unknown(place, spec, kinds)
    wrong = [(key, MISSING, "missing") for key in required if key not in spec]
    wrong += [
        (key, value, f"not {kinds[key].name}")
        for key, value in spec.items()
        if not kinds[key].accepts(value)
    ]
    found = [
        Problem(place, (key,), value, what, f"Use {kinds[key].name}", kinds[key].example)
        for key, value, what in wrong
    ]
    if found:
        raise BadValueError("\n".join(map(str, found)))


def refuse_value(place: str, key: str, value: Any, what: str, accepted: str) -> None:
    """Reject the value of a key; `what` describes the problem, `accepted` how to fix it."""
    raise BadValueError(str(Problem(place, (key,) if key else (), value, what, accepted)))


def refuse_numbers(place: str, names: Iterable[str]) -> None:
    """Reject names that cannot be parsed as numbers."""
    for name in names:
        if not reads_as_number(name):
            refuse_value(place, "", name, "not a number", "Use a number")


def reads_as_number(text: str) -> bool:
    """Return whether a text can be parsed as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def refuse_fields(place: str, text: str, known: Mapping[str, Any] | Sequence[str]) -> None:
    """Reject a format string that `str.format` cannot format.

    Parameters
    ----------
    place : str
        File, table and key, for messages.
    text : str
        The format string.
    known : mapping or sequence of str
        Names that may occur in braces; the empty name stands for ``{}``. A mapping has an example
        value for each name, with which the format is tested. For a sequence of names, the test
        values are strings.
    """
    given = known if isinstance(known, Mapping) else dict.fromkeys(known, "")
    try:
        names = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise BadValueError(str(Problem(place, (), text, f"no format: {error}"))) from None
    refuse_unknown(f"{place} = {text!r}", names, given, "unknown name in braces")
    try:
        text.format(given.get("", ""), **{k: v for k, v in given.items() if k})
    except ValueError as error:
        raise BadValueError(str(Problem(place, (), text, f"no format: {error}"))) from None
