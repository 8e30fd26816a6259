"""Possible errors in a key of a scenario: every wrong type, range, unit and spelling."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Collection, Iterator
from typing import Any

from corpus_case import Case
from corpus_tables import Host, Literal, is_model, members
from pydantic.fields import FieldInfo

from airpath.scenario.base import Component
from airpath.scenario.decibels import Decibels
from airpath.scenario.units import Packets, Quantity, Size

ANYTHING_ELSE = {
    "a truth value": ("true", {"truth"}),
    "an integer": ("7", {"whole", "decimal"}),
    "a decimal number": ("2.5", {"decimal"}),
    "a text": ('"house"', {"text"}),
    "an empty text": ('""', {"text"}),
    "a blank text": ('" \\t "', {"text"}),
    "a text of control characters": ('"\\u0000\\u001b[2J"', {"text"}),
    "a very long text": (f'"{"x" * 10_000}"', {"text"}),
    "a number as text": ('"7"', {"text"}),
    "digits of another script": ('"٣ ms"', {"text"}),
    "a date": ("1979-05-27", set[str]()),
    "a time of day": ("07:32:00", set[str]()),
    "an empty list": ("[]", {"list"}),
    "a list in a list": ("[[1]]", set[str]()),
    "a list of tables": ("[{nonsense = 1}, {nonsense = 2}]", set[str]()),
    "a deep list": (f"{'[' * 60}{']' * 60}", set[str]()),
    "a table": ("{nonsense = 1}", set[str]()),
    "an empty table": ("{}", {"table"}),
    "no number": ("nan", set[str]()),
    "infinity": ("inf", set[str]()),
    "minus infinity": ("-inf", set[str]()),
    "more than 64 bits": ("99999999999999999999999", set[str]()),
    "thousands of digits": ("1" + "0" * 4000, set[str]()),
    "far below its range": ("-1e12", set[str]()),
    "far above its range": ("1e12", set[str]()),
}
"""Mapping from a value, as TOML text, to the field types that accept it."""


def faults(host: Host, skip: Collection[str] = ()) -> Iterator[Case]:
    """Yield every case of one host, except for some of its fields."""
    for name, info in host.model.model_fields.items():
        if name in skip:
            continue
        key = info.alias or name
        chooses = issubclass(host.model, Component) and key == host.model.chosen_by
        values = _kind_faults(host) if chooses else _value_faults(host, name, info)
        for kind, value in values:
            yield _case(host, kind, key, {key: Literal(value)})
        if not chooses:
            yield from _misspelt(host, key, info)
        if info.is_required():
            yield _case(host, "a key that is missing", key, {}, drop=key)


def _case(
    host: Host,
    kind: str,
    key: str,
    changes: dict[str, Any],
    drop: str | None = None,
    advice: str = "",
) -> Case:
    field = ".".join(map(str, (*host.path, key)))
    return Case(
        "scenario",
        kind,
        f"{host.name}.{key}",
        ("check", "bad.toml"),
        f"bad.toml: {field}",
        advice,
        {"bad.toml": host.with_keys(changes, drop).encode()},
    )


def _misspelt(host: Host, key: str, info: FieldInfo) -> Iterator[Case]:
    """Yield cases of a misspelt key: the message names the right one."""
    value = info.examples[0] if info.examples else "1"
    words = {
        "a key with a letter too many": f"{key}s",
        "a key with a letter missing": key[: len(key) // 2] + key[len(key) // 2 + 1 :],
        "a key in capitals": key.upper(),
        "a key with a hyphen": key.replace("_", "-"),
    }
    known = host.model.keys()
    for kind, word in words.items():
        if word in known or len(word) < 3 or word in host.table:
            continue
        near = key if kind != "a key in capitals" and len(key) > 3 else ""
        advice = "unknown key" + (f". The nearest is {near};" if near else "")
        yield _case(host, kind, word, {word: Literal(value)}, advice=advice)


def _kind_faults(host: Host) -> Iterator[tuple[str, str]]:
    """Yield wrong values of the key that selects the class."""
    kind = host.table[host.model.chosen_by]  # type: ignore[attr-defined]
    yield "a kind in capitals", f'"{kind.upper()}"'
    yield "a kind with a letter too many", f'"{kind}x"'
    for name in ("a truth value", "an integer", "an empty text", "an empty list", "a table"):
        yield name, ANYTHING_ELSE[name][0]
    yield "a date", "1979-05-27"


def _value_faults(host: Host, name: str, info: FieldInfo) -> Iterator[tuple[str, str]]:
    takes = takes_of(host, name, info)
    quantities = [m for m in _all_members(host, name, info) if _is_quantity(m)]
    if _words(host, name) and "text" not in takes:
        yield "a word in capitals", f'"{_words(host, name)[0].upper()}"'
        yield "a word with a letter too many", f'"{_words(host, name)[-1]}s"'
    for kind, (value, good_for) in ANYTHING_ELSE.items():
        if not takes & good_for:
            yield kind, value
    if quantities:
        yield from _unit_faults(quantities, is_count="whole" in takes)
    above_zero = "above 0" in _described(host, name)
    if quantities and above_zero:
        yield "zero where more is needed", f'"0 {next(iter(quantities[0].units))}"'
    if takes & {"whole", "decimal"} and above_zero:
        yield "zero where more is needed", "0"


def takes_of(host: Host, name: str, info: FieldInfo) -> set[str]:
    """Return the types of values that a field accepts."""
    takes: set[str] = set()
    for member in _all_members(host, name, info):
        takes |= _takes(member)
    if _words(host, name):
        takes.discard("text")
    return takes


def _all_members(host: Host, name: str, info: FieldInfo) -> list[Any]:
    """Return the values that a field accepts, also if its annotation is `Any`."""
    return [Size, typing.Literal["unlimited"]] if name == "initial_ssthresh" else members(info)


def _is_quantity(member: Any) -> bool:
    return isinstance(member, type) and issubclass(member, (Quantity, Decibels))


def _takes(member: Any) -> set[str]:
    origin = typing.get_origin(member)
    if is_model(member):
        chosen = getattr(member, "usual_kind", lambda: None)()
        required = any(info.is_required() for info in member.model_fields.values())
        is_family = "family" in vars(member)
        return {"table"} if chosen or not (required or is_family) else set()
    if origin is list:
        return {"list"}
    return {bool: {"truth"}, int: {"whole"}, float: {"whole", "decimal"}, str: {"text"}}.get(
        member, set()
    )


def _unit_faults(kinds: list[type[Quantity]], is_count: bool) -> Iterator[tuple[str, str]]:
    """Yield texts that are no quantity; keys that accept counts are in packets without a unit."""
    kind = kinds[0]
    unit = next(iter(kind.units))
    accepted = {unit for one in (*kinds, *([Packets] if is_count else [])) for unit in one.units}
    if not is_count:
        yield "a number without its unit", "5"
    yield "a decimal number without its unit", "5.5"
    yield "a text without its unit", '"5"'
    yield "an unknown unit", '"5 parsecs"'
    others = {"ms", "Mbit/s", "kB", "packets", "/s"} - accepted
    for other in sorted(others):
        yield "a unit of something else", f'"5 {other}"'
    swapped = [u.swapcase() for u in kind.units if u.swapcase() not in accepted and u.isascii()]
    for wrong in swapped[:1]:
        yield "a unit in the wrong case", f'"5 {wrong}"'
    yield "a unit twice", f'"5 {unit} {unit}"'
    yield "a unit without its number", f'"{unit}"'
    if not issubclass(kind, Decibels):
        yield "a number below 0 with its unit", f'"-1 {unit}"'
    yield "more than can be counted", f'"1e99 {unit}"'
    yield "an exponent without end", f'"1e999999999 {unit}"'
    yield "no number with a unit", f'"nan {unit}"'
    yield "infinity with a unit", f'"inf {unit}"'
    yield "a decimal comma", f'"1,5 {unit}"'
    yield "a sum", f'"1 {unit} + 1 {unit}"'
    yield "a hexadecimal number", f'"0x10 {unit}"'


def _words(host: Host, name: str) -> list[str]:
    """Return the words that a key may have, from the class's documentation."""
    return re.findall(r'"([a-z0-9-]+)"', _described(host, name).partition("\n")[0])


def _described(host: Host, name: str) -> str:
    """Return the documentation of a key of a class."""
    for model in host.model.__mro__:
        text = inspect.cleandoc(vars(model).get("__doc__") or "")
        found = re.search(rf"^(?:[\w, ]+, )?{name}(?:, [\w, ]+)? : (.*\n(?: .*\n?)*)", text, re.M)
        if found:
            return found[1]
    return ""
