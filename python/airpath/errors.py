"""The exceptions and warnings of Airpath.

All errors are derived from `AirpathError`. `BadValueError` is also a `ValueError`, so that code can
catch it without importing Airpath's exceptions. The text of an error has one line per problem:
location, key, value, accepted values, example.
"""

from __future__ import annotations

import numbers
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from airpath.comparison import Comparison
    from airpath.results import Result
    from airpath.sweeps.result import Sweep

__all__ = [
    "MISSING",
    "AdvisoryWarning",
    "AirpathError",
    "AirpathWarning",
    "BadValueError",
    "ComparisonInterrupted",
    "Interrupted",
    "MachineError",
    "ModelWarning",
    "OverrideWarning",
    "Problem",
    "RunError",
    "ScenarioError",
    "SweepInterrupted",
    "UnitError",
]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONGEST_VALUE = 60
_MOST_LINES = 20


class AirpathError(Exception):
    """Base class of all errors that Airpath raises."""


class BadValueError(AirpathError, ValueError):
    """A value that is not accepted. The message states the accepted values."""


class RunError(AirpathError):
    """A run that was started with good input and failed."""


class MachineError(RunError):
    """A run failed because of the machine. Other runs of this kind would fail, too."""


class AirpathWarning(UserWarning):
    """Base class of all warnings: aspects to check before a result is used."""


class OverrideWarning(AirpathWarning):
    """An override removed keys that the new component does not have."""


class AdvisoryWarning(AirpathWarning):
    """Points of a sweep have an advisory, as `airpath run` prints for single scenarios."""


class ModelWarning(AirpathWarning):
    """A model's result may be inaccurate; the text has the reason and the size of the error."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during `airpath.simulate` or `airpath.emulate`.

    Attributes
    ----------
    result : Result
        Result with the replications that were finished before Ctrl-C, possibly none. Its attribute
        `interrupted` is True.
    """

    def __init__(self, result: Result) -> None:
        self.result = result
        done = f"{len(result.replications)} of {result.requested} replications"
        super().__init__(f"interrupted: {done} were finished")

    def __reduce__(self) -> tuple[type[Interrupted], tuple[Result]]:
        return type(self), (self.result,)


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C during `airpath.sweep`.

    Attributes
    ----------
    sweep : Sweep
        The sweep with the replications that were finished before Ctrl-C.
    """

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        super().__init__("interrupted: what was finished is kept")

    def __reduce__(self) -> tuple[type[SweepInterrupted], tuple[Sweep]]:
        return type(self), (self.sweep,)


class ComparisonInterrupted(KeyboardInterrupt):
    """Ctrl-C during `airpath.compare`.

    Attributes
    ----------
    comparison : Comparison or None
        Comparison of the engines that were finished before Ctrl-C; None if fewer than two engines
        were finished.
    """

    def __init__(self, comparison: Comparison | None) -> None:
        self.comparison = comparison
        super().__init__("interrupted")

    def __reduce__(self) -> tuple[type[ComparisonInterrupted], tuple[Comparison | None]]:
        return type(self), (self.comparison,)


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""Value of a field that is not set (`None` can be a value)."""


class UnitError(BadValueError):
    """A text or number that is not the expected quantity.

    Parameters
    ----------
    value : object
        The given value.
    what : str
        The problem, for example ``not a rate``.
    accepted : str
        Fix, without the full stop: ``Write a number with bit/s``.
    example : str or None
        Accepted value, in the user's syntax.
    """

    def __init__(self, value: object, what: str, accepted: str, example: str | None) -> None:
        self.value = value
        self.what = what
        self.accepted = accepted
        self.example = example
        super().__init__(str(Problem(None, (), value, what, accepted, example)))

    def __reduce__(self) -> tuple[type[UnitError], tuple[object, str, str, str | None]]:
        return type(self), (self.value, self.what, self.accepted, self.example)


@dataclass(frozen=True)
class Problem:
    """One problem and its fix.

    Parameters
    ----------
    place : str or None
        The file, ``--set``, or the called class; None if there is only the value.
    field : tuple of str or int
        The path of the field from the top of the file, for example ``("flows", 0, "count")``.
    value : object
        The given value; `MISSING` if there is none.
    what : str
        The problem, for example ``not a rate``.
    accepted : str or None
        Fix, a sentence without its full stop.
    example : str or None
        Accepted value, in the user's syntax.
    """

    place: str | None
    field: tuple[str | int, ...]
    value: object
    what: str
    accepted: str | None = None
    example: str | None = None

    @property
    def field_name(self) -> str:
        """The field's path as one text, ``flows.0.count``, as in ``--set``."""
        return dotted(self.field)

    def __str__(self) -> str:
        head = self.field_name
        if self.value is not MISSING:
            head = f"{head} = {show(self.value)}" if head else show(self.value)
        components = [
            component
            for component in (one_line(self.place) if self.place else "", head)
            if component
        ]
        text = ": ".join([*components, self.what]) + "."
        if self.accepted:
            text += f" {self.accepted}"
            text += f", for example {self.example}." if self.example else "."
        return text


class ScenarioError(BadValueError):
    """A scenario that cannot run, with all problems found.

    Parameters
    ----------
    problems : sequence of Problem
        At least one. `str()` of the error gives one line for each of the first twenty, and the
        number of the others.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: Sequence[Problem] = tuple(problems)
        lines = [str(problem) for problem in self.problems[:_MOST_LINES]]
        if len(self.problems) > _MOST_LINES:
            lines.append(f"and {len(self.problems) - _MOST_LINES} more problems.")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[Sequence[Problem]]]:
        return type(self), (self.problems,)


def dotted(path: Iterable[str | int]) -> str:
    """Return a field's path as text; keys with special characters are quoted as in TOML."""
    return ".".join(
        str(component)
        if isinstance(component, int) or _BARE_KEY.fullmatch(component)
        else quoted(component)
        for component in path
    )


def quoted(text: str) -> str:
    """Return `text` as a TOML string on one line, with unprintable characters escaped."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def show(value: object) -> str:
    """Return a value in TOML syntax, on one line, shortened if it is long."""
    text = _show(value, depth=0)
    if len(text) <= _LONGEST_VALUE:
        return text
    return text[: _LONGEST_VALUE - 1].rstrip() + "…"


def _show(value: object, depth: int) -> str:
    if depth > 5:
        return "…"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # Only the beginning is shown, so only the beginning is escaped.
        return quoted(value[: _LONGEST_VALUE + 1])
    if type(value) is int:
        # Python does not print integers with more than about 4300 digits.
        return str(value) if abs(value) < 10**_LONGEST_VALUE else hex(value)
    if isinstance(value, Mapping):
        pairs = list(value.items())[:_LONGEST_VALUE]
        inner = ", ".join(f"{dotted((str(key),))} = {_show(v, depth + 1)}" for key, v in pairs)
        return f"{{{inner}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_show(v, depth + 1) for v in value[:_LONGEST_VALUE])}]"
    return one_line(_as_text(value)[: _LONGEST_VALUE + 1])


def _as_text(value: object) -> str:
    """Return a text for a value that TOML lacks: Python's text for data, otherwise the type."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if value is None or isinstance(value, (numbers.Number, bytes, set, date, time, timedelta)):
        return str(value)
    if isinstance(value, os.PathLike):
        return quoted(os.fspath(value))
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return " ".join(str(value).split())
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def one_line(text: str) -> str:
    """Return `text` on one line, with unprintable characters escaped."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )
