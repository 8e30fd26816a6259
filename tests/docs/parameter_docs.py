"""Parameters of scenario classes: reads the docstrings and compares them with the classes.

The text of a parameter consists of full sentences. The sentence that starts with *Default* contains
the default and then its source: ``Default 15 ms (RFC 8033 §4.2).``
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from airpath.scenario.base import Component, Model
from airpath.scenario.units import Quantity

_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.*)$")
_SENTENCE = re.compile(r"(?<=[.)`])\s+(?=[A-Z`])")


class DocError(Exception):
    """A docstring that contradicts its class."""


@dataclass(frozen=True)
class Parameter:
    """One parameter, as described in the docstring.

    `key` is its name in a file, `default` the default as written in a file, `source` its source.
    """

    name: str
    key: str
    type: str
    meaning: str
    default: str
    source: str


def models() -> dict[str, type[Model]]:
    """Return the public classes of scenarios by name."""
    return {
        model.public_name(): model for model in _below(Model) if not model.__name__.startswith("_")
    }


def _below(base: type[Model]) -> Iterator[type[Model]]:
    for model in base.__subclasses__():
        if model.__module__.startswith("airpath."):
            yield model
        yield from _below(model)


def summary(model: type[Model]) -> str:
    """Return the docstring before the parameters, in Markdown."""
    text = inspect.cleandoc(model.__doc__ or "").partition("\nParameters\n---")[0]
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph).replace("``", "`")


def parameters(model: type[Model]) -> list[Parameter]:
    """Return the parameters that the docstring describes, in order.

    Raises
    ------
    DocError
        If the docstring lacks a parameter or has an additional one, or if a default or the list of
        values differs from the class.
    """
    described = {
        name: (kind, text) for names, kind, text in _entries(model) for name in names.split(", ")
    }
    fields = own_fields(model)
    _refuse(model, set(described) ^ set(fields), "in the docstring or in the class alone")
    return [
        _parameter(model, name, fields[name], kind, text)
        for name, (kind, text) in described.items()
    ]


def own_fields(model: type[Model]) -> dict[str, FieldInfo]:
    """Return the fields that the class must describe: those that its family does not share.

    The key that selects the class is excluded. `Source` describes the keys of every flow.
    """
    shared: set[str] = set()
    if issubclass(model, Component):
        shared.add(model.chosen_by)
        shared |= set(models()["traffic.Source"].model_fields) if _is_a_source(model) else set()
    return {name: info for name, info in model.model_fields.items() if name not in shared}


def _is_a_source(model: type[Model]) -> bool:
    return any(base.__name__ == "Source" for base in model.__mro__[1:])


def nested(model: type[Model]) -> list[type[Model]]:
    """Return the tables (not components) that are elements of list-valued keys of the class."""
    found = []
    for info in own_fields(model).values():
        if typing.get_origin(info.annotation) is list:
            (member,) = typing.get_args(info.annotation)
            if isinstance(member, type) and issubclass(member, Model):
                found.append(member)
    return found


def _refuse(model: type[Model], names: set[str], what: str) -> None:
    if names:
        raise DocError(f"{model.public_name()}: {', '.join(sorted(names))}: {what}")


def _entries(model: type[Model]) -> Iterator[tuple[str, str, str]]:
    """Yield names, type and text of each entry under *Parameters*."""
    text = inspect.cleandoc(model.__doc__ or "")
    _, _, body = text.partition("\nParameters\n----------\n")
    body = re.split(r"\n\w+\n-+\n", body)[0]
    entry: tuple[str, str] | None = None
    lines: list[str] = []
    for line in [*body.splitlines(), "end : end"]:
        found = _ENTRY.match(line)
        if found is None:
            lines.append(line)
            continue
        if entry is not None:
            yield (*entry, " ".join(" ".join(lines).split()))
        entry, lines = (found[1], found[2]), []


def _parameter(model: type[Model], name: str, info: FieldInfo, kind: str, text: str) -> Parameter:
    place = f"{model.public_name()}.{name}"
    sentences = _SENTENCE.split(text)
    defaults = [sentence for sentence in sentences if sentence.startswith("Default")]
    rest = [sentence for sentence in sentences if sentence not in defaults]
    if len(defaults) > 1:
        raise DocError(f"{place}: two sentences on the default")
    _check_words(place, kind, info)
    default, source = _default(place, info, defaults[0] if defaults else None)
    meaning = " ".join(rest)
    if not meaning.endswith("."):
        raise DocError(f"{place}: {meaning!r} is no whole sentence")
    key = info.alias or name
    return Parameter(name, key, kind, meaning, default, source)


def _check_words(place: str, kind: str, info: FieldInfo) -> None:
    accepted = next(
        (
            words
            for item in info.metadata
            if (words := getattr(getattr(item, "func", None), "words", None))
        ),
        None,
    )
    documented = tuple(re.findall(r'"([^"]+)"', kind))
    if accepted is not None and documented != accepted:
        raise DocError(f"{place}: the type is {kind}, expected one of: {accepted}")


def _default(place: str, info: FieldInfo, sentence: str | None) -> tuple[str, str]:
    """Return the default as written in a file, and its source."""
    if info.is_required():
        if sentence is not None:
            raise DocError(f"{place}: {sentence!r}, but it must be given")
        return "*required*", ""
    value = info.get_default(call_default_factory=True, validated_data={})
    if value is None or value is PydanticUndefined:
        return _nothing(place, sentence)
    if isinstance(value, Model) and sentence is None:
        return "`{}`", ""
    match = re.match(r"Default (.*)\.$", sentence or "")
    ways = sorted(_spellings(value), key=len, reverse=True)
    for way in ways:
        if match and re.match(rf"{re.escape(way)}(?![\w.]*\w)", match[1]):
            return f"`{_in_a_file(value)}`", _source(match[1][len(way) :])
    raise DocError(f"{place}: the class has {ways[-1]}, the docstring {sentence!r}")


def _nothing(place: str, sentence: str | None) -> tuple[str, str]:
    if sentence is None:
        return "—", ""
    match = re.match(r"Default: (.*)\.$", sentence)
    if match is None:
        raise DocError(f"{place}: nothing is there by default, the docstring has {sentence!r}")
    value, _, source = match[1].partition(" (")
    return value, _source(f"({source}") if source else ""


def _spellings(value: Any) -> list[str]:
    if isinstance(value, Quantity):
        return [str(value)]
    if isinstance(value, bool):
        return [str(value)]
    if isinstance(value, str):
        return [value, f'"{value}"', f'``"{value}"``']
    if isinstance(value, (int, float)):
        return [f"{value:.15g}"]
    if value == []:
        return ["none"]
    if isinstance(value, (list, tuple)):
        return [_in_a_file(value)]
    if isinstance(value, Component):
        return _spellings(_kind(value))
    raise DocError(f"{value!r}: no way to write it is known")


def _kind(component: Component) -> str:
    return str(getattr(component, component.chosen_by))


def _in_a_file(value: Any) -> str:
    if isinstance(value, Component):
        value = _kind(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_in_a_file, value))}]"
    if isinstance(value, (Quantity, str)):
        return f'"{value}"'
    return f"{value:.15g}" if isinstance(value, (int, float)) else str(value)


def _source(text: str) -> str:
    """Return the source that follows a default, without the punctuation between them."""
    text = text.strip().lstrip(",;:").strip()
    found = re.match(r"^\(([^()]*)\)(.*)$", text)
    return found[1] + found[2] if found else text
