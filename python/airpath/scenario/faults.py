"""Errors that validators raise for invalid values, and their conversion into messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from airpath.errors import MISSING, Problem, ScenarioError

__all__ = [
    "OF_FIELD",
    "Path",
    "as_missing",
    "closest",
    "explained",
    "fault",
    "faults_at",
    "nearest",
    "problems_of",
]

Path = tuple[str | int, ...]
"""Keys and list indices from the top level of the file to a value."""


OF_FIELD = ""
"""Value of `example` that selects the field's default, or the field's own example."""


def fault(
    what: str, accepted: str | None = None, example: str | None = None
) -> PydanticCustomError:
    """Create the error that a validator raises: problem, accepted values, and an example."""
    return PydanticCustomError(
        "airpath", "{what}", {"what": what, "accepted": accepted, "example": example}
    )


def faults_at(*faults: tuple[Path, object, PydanticCustomError]) -> ValidationError:
    """Create the error for faults at paths inside the value under validation."""
    return ValidationError.from_exception_data(
        "airpath",
        [InitErrorDetails(type=error, loc=path, input=value) for path, value, error in faults],
    )


def problems_of(error: ValidationError, place: str | None) -> list[Problem]:
    """Convert a validation error into problems, each with its location.

    A validator may also have raised a `ScenarioError`, whose problems are returned, or another
    `ValueError`, whose text is the problem.
    """
    lines = cast(Iterable[Any], error.errors(include_url=False))
    return [problem for line in lines for problem in _problems_of_line(line, place)]


def _problems_of_line(line: Any, place: str | None) -> Sequence[Problem]:
    context = line.get("ctx", {})
    raised = context.get("error")
    if isinstance(raised, ScenarioError):
        return raised.problems
    value = MISSING if context.get("missing") else line["input"]
    if "what" not in context:
        value = MISSING if isinstance(value, Mapping) else value
        context = {"what": str(raised or line["msg"]).rstrip("."), "accepted": None}
    what, accepted, example = context["what"], context["accepted"], context.get("example")
    return [Problem(place, tuple(line["loc"]), value, what, accepted, example)]


def closest(word: str, known: Sequence[str]) -> str | None:
    """Return the likely intended word: a similar word, or the only known word that contains it."""
    similar = difflib.get_close_matches(word[:100], known, n=1, cutoff=0.6)
    containing = [each for each in known if word in each.split("_")]
    return similar[0] if similar else containing[0] if len(containing) == 1 else None


def nearest(word: str, accepted: Iterable[str]) -> str:
    """Return advice on an unknown word: the closest accepted word, and all accepted words."""
    known = list(accepted)
    close, everything = closest(word, known), ", ".join(known)
    expected = f"xpected one of: {everything}"
    return f"E{expected}" if close is None else f"The nearest is {close}; e{expected}"


_BUILT_IN: Mapping[str, tuple[str, str]] = {
    "list_type": ("not a list", "Use a list in square brackets"),
    "tuple_type": ("not a list", "Use a list in square brackets"),
    "string_type": ("not a text", "Use a text in double quotes"),
    "bool_type": ("not a truth value", "Use true or false"),
}


def explained(line: Any, fields: Mapping[str, FieldInfo]) -> InitErrorDetails:
    """Replace the message of one of pydantic's errors by a message in Airpath's style."""
    kind, path = line["type"], line["loc"]
    key = path[0] if path else None
    by_key = {info.alias or name: info for name, info in fields.items()}
    info = by_key.get(cast(str, key)) or fields.get(cast(str, key))
    example = info.examples[0] if info is not None and info.examples else None
    if kind == "airpath":
        context = line["ctx"]
        if context["example"] == OF_FIELD and info is not None:
            is_number = type(info.default) in (int, float) and not info.examples
            context = {**context, "example": f"{info.default:g}" if is_number else example}
        error = PydanticCustomError("airpath", "{what}", context)
        return InitErrorDetails(type=error, loc=path, input=line["input"])
    if kind == "missing":
        context = {
            "what": "missing",
            "accepted": f"Set {key} = {example}" if example else f"Set {key}",
            "example": None,
            "missing": True,
        }
    elif kind in _BUILT_IN:
        what, accepted = _BUILT_IN[kind]
        context = {"what": what, "accepted": accepted, "example": example}
    else:
        message = line["msg"].rstrip(".")
        context = {"what": message[:1].lower() + message[1:], "accepted": None, "example": None}
    return InitErrorDetails(
        type=PydanticCustomError("airpath", "{what}", cast(dict[str, Any], context)),
        loc=path,
        input=line["input"],
    )


def as_missing(error: PydanticCustomError) -> PydanticCustomError:
    """Convert a fault to the fault of a missing key, whose message shows no value."""
    return PydanticCustomError("airpath", "{what}", {**(error.context or {}), "missing": True})
