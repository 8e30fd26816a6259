"""Checks the types and ranges of function arguments, with uniform error messages.

A message contains the Python name of the argument; on the command line, the name of the option.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from airpath.errors import MISSING, BadValueError, Problem, UnitError, quoted, show

if TYPE_CHECKING:
    from airpath.scenario.decibels import Decibels
    from airpath.scenario.units import Quantity

__all__ = [
    "called_by_option",
    "check_all",
    "display_name",
    "error_prefix",
    "fraction",
    "master_seed",
    "number",
    "path_like",
    "problem_line",
    "quantity",
    "replication_count",
    "text",
    "whole",
    "word",
    "worker_threads",
]

_Q = TypeVar("_Q", bound="Quantity | Decibels")

LARGEST_THREADS = 10**4

LARGEST_REPS = 10**6
"""Largest number of replications of one call."""

LARGEST = 1e300
"""Numbers must be below this value."""


# --- names -------------------------------------------------------------------------------------

_OPTION: ContextVar[Callable[[str], str] | None] = ContextVar("option", default=None)
"""While a command runs: function that takes an argument's name and returns the option's name."""


@contextmanager
def called_by_option(option: Callable[[str], str]) -> Iterator[None]:
    """While the block runs, messages contain the names of options instead of arguments.

    Parameters
    ----------
    option : callable
        Returns the option of an argument: ``--out`` for ``directory``.
    """
    before = _OPTION.set(option)
    try:
        yield
    finally:
        _OPTION.reset(before)


def display_name(argument: str) -> str:
    """Return the name of an argument in messages: ``reps``, or ``--reps`` on the command line."""
    option = _OPTION.get()
    return argument if option is None else option(argument)


def error_prefix(argument: str, value: object) -> str:
    """Return the prefix of a line about a value: ``reps = 0``, or ``--reps: 0``."""
    sign = " =" if _OPTION.get() is None else ":"
    # Paths are shown in full, because their end matters.
    shown = quoted(os.fspath(value)) if isinstance(value, Path) else show(value)
    return f"{display_name(argument)}{sign} {shown}"


def problem_line(
    argument: str, value: object, what: str, accepted: str | None, example: str | None = None
) -> str:
    """Return the line about a value of an argument.

    Parameters
    ----------
    argument : str
        Python name of the argument.
    value : object
        Given value.
    what, accepted, example
        As in `airpath.errors.Problem`.
    """
    return str(Problem(error_prefix(argument, value), (), MISSING, what, accepted, example))


# --- checks ------------------------------------------------------------------------------------


def whole(name: str, value: Any, low: float, high: int | None, accepted: str) -> str | None:
    """Check an integer; return the problem in one line, or None if the integer is accepted."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        return f"{error_prefix(name, value)}: not an integer. {accepted}."
    if number < low and low > 0:
        return f"{error_prefix(name, value)}: below {low}. {accepted}."
    if high is not None and number > high and low > 0:
        return f"{error_prefix(name, value)}: above {high}. Use an integer from {low} to {high}."
    if number < low or (high is not None and number > high):
        return f"{error_prefix(name, value)}: not accepted. {accepted}."
    return None


def master_seed(value: Any) -> str | None:
    """Check the argument `seed`; return the problem in one line, or None."""
    return whole("seed", value, 0, 2**64 - 1, "Use an integer from 0 to 2^64 - 1")


def replication_count(value: Any) -> str | None:
    """Check the argument `reps`; return the problem in one line, or None."""
    return whole("reps", value, 1, LARGEST_REPS, "Use an integer from 1 on")


def worker_threads(value: Any) -> str | None:
    """Check the argument `threads` (which may be None); return the problem in one line, or None."""
    if value is None:
        return None
    return whole("threads", value, 1, LARGEST_THREADS, "Use an integer from 1 on")


def fraction(name: str, value: Any) -> str | None:
    """Check a number between 0 and 1; return the problem in one line, or None."""
    accepted = "Use a fraction, for example 0.99"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or value != value:
        return f"{error_prefix(name, value)}: not a number. {accepted}."
    if not 0 < value < 1:
        return f"{error_prefix(name, value)}: not between 0 and 1. {accepted}."
    return None


def number(name: str, value: Any, example: str) -> str | None:
    """Check a finite number; return the problem in one line, or None."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # Integers with hundreds of digits cannot be converted to floats.
    if not is_number or not -LARGEST < value < LARGEST:
        return f"{error_prefix(name, value)}: not a finite number. Use one, for example {example}."
    return None


def word(name: str, value: Any, accepted: Iterable[str]) -> str | None:
    """Check a value that must be in `accepted`; return the problem in one line, or None."""
    if isinstance(value, str) and value in accepted:
        return None
    words = " or ".join(accepted)
    return f"{error_prefix(name, value)}: not one of the accepted words. Use {words}."


def text(name: str, value: Any) -> str | None:
    """Check that a value is a string; return the problem in one line, or None."""
    return None if isinstance(value, str) else f"{error_prefix(name, value)}: not a text. Use one."


def quantity(name: str, kind: type[_Q], value: Any) -> _Q:
    """Return a value as a quantity with a unit, a `Duration` for example.

    Raises
    ------
    BadValueError
        If the value is no such quantity; the message names the argument.
    """
    try:
        return cast(_Q, kind.of(value))
    except UnitError as error:
        line = problem_line(name, value, error.what, error.accepted, error.example)
        raise BadValueError(line) from None


def path_like(name: str, value: Any) -> str | None:
    """Check a path; return the problem in one line, or None."""
    if isinstance(value, (str, os.PathLike)):
        return None
    return f"{error_prefix(name, value)}: not a path. Use a text or a pathlib.{Path.__name__}."


def check_all(*lines: str | None) -> None:
    """Raise an error with a line for each wrong argument.

    Raises
    ------
    BadValueError
        If at least one line is not None.
    """
    found = [line for line in lines if line is not None]
    if found:
        raise BadValueError("\n".join(found))
