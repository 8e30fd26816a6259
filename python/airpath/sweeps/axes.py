"""Axis values of a sweep's points: combinations of axes, exclusions and labels.

Values have the types of TOML: numbers, strings, booleans, lists and tables. In Python, a component
can also be an object. The scenario receives the object; all other functions receive the equivalent
table (the *plain value*).
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airpath.errors import one_line, show
from airpath.scenario.base import Model
from airpath.scenario.decibels import Decibels
from airpath.scenario.units import Quantity

__all__ = [
    "BASE",
    "Assignments",
    "Dimension",
    "combined",
    "key_of",
    "labels_by_axis",
    "labels_of",
    "matches",
    "plain",
    "size",
    "values_by_axis",
]

BASE = "base"
"""Label of an axis at a point that does not change the base's value."""

_LONGEST_LABEL = 60

Assignments = Mapping[str, Any]
"""Values by axis."""


@dataclass(frozen=True)
class Dimension:
    """Axes that are varied together. A sweep contains all combinations of its dimensions.

    Parameters
    ----------
    source : str
        Key of the sweep file: ``grid``, ``zip``, ``points`` or ``random``.
    rows : sequence of mapping
        Values by axis, in order.
    """

    source: str
    rows: Sequence[Assignments]


def size(counts: Iterable[int]) -> int:
    """Return the product of the sizes of dimensions: the number of points before exclusions."""
    return math.prod(counts)


def combined(dimensions: Sequence[Dimension]) -> Iterator[dict[str, Any]]:
    """Yield a mapping from axis to value for each point; the last dimension varies fastest."""
    for rows in itertools.product(*(dimension.rows for dimension in dimensions)):
        yield {axis: value for row in rows for axis, value in row.items()}


# --- values ------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return a value in a form that TOML and JSON can represent.

    Raises
    ------
    TypeError
        If TOML cannot represent the value.
    """
    if isinstance(value, Model):
        return value.given()
    if isinstance(value, (Quantity, Decibels)):
        return str(value)
    if isinstance(value, (bool, int, str)):
        return value
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return plain(value.tolist())
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    raise TypeError(show(value))


def key_of(value: Any) -> str:
    """Return a text that identifies a plain value: equal values have equal texts."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def values_by_axis(dimensions: Iterable[Dimension]) -> dict[str, list[Any]]:
    """Return the distinct plain values of each axis, in order."""
    found: dict[str, dict[str, Any]] = {}
    for dimension in dimensions:
        for row in dimension.rows:
            for axis, value in row.items():
                known = plain(value)
                found.setdefault(axis, {}).setdefault(key_of(known), known)
    return {axis: list(values.values()) for axis, values in found.items()}


# --- labels ------------------------------------------------------------------------------------


def labels_by_axis(rows: Sequence[Assignments]) -> dict[str, dict[str, str]]:
    """Return, for each axis, a mapping from the `key_of` each value to the value's label.

    Parameters
    ----------
    rows : sequence of mapping
        The plain values of each point, by axis.
    """
    axes = values_by_axis([Dimension("points", rows)])
    return {
        axis: dict(zip(map(key_of, values), labels_of(values), strict=True))
        for axis, values in axes.items()
    }


def labels_of(values: Sequence[Any]) -> list[str]:
    """Return distinct labels of the values of an axis, for tables and figures.

    The label of a table is its kind. If several tables have the same kind, the keys in which they
    differ are added.

    Parameters
    ----------
    values : sequence of plain values
        Distinct values.
    """
    texts = [_text(value) for value in values]
    called: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        called.setdefault(text, []).append(place)
    for kind, places in called.items():
        if len(places) == 1:
            continue
        tables = [values[place] for place in places]
        differ = _differing([table for table in tables if isinstance(table, Mapping)])
        for place in places:
            texts[place] = _with(kind, values[place], differ)
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    for place, text in enumerate(texts):
        number, free = numbers.get(text, 1), text
        while free in taken:
            number += 1
            free = f"{text} ({number})"
        numbers[text] = number
        texts[place] = free
        taken.add(free)
    return texts


def _text(value: Any) -> str:
    """Return a value as text; for a component, its kind."""
    if isinstance(value, str):
        return one_line(value) or '""'
    kind = kind_of(value)
    if kind:
        return one_line(kind)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(item)}" for key, item in value.items()) or "{}"
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "[]"
    return show(value)


def kind_of(value: Any) -> str | None:
    """Return the kind of a table that describes a component."""
    for key in ("kind", "profile"):
        if isinstance(value, Mapping) and isinstance(value.get(key), str):
            return str(value[key])
    return None


def _differing(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    keys = dict.fromkeys(key for table in tables for key in table)
    return [
        key
        for key in keys
        if len({key_of(table[key]) if key in table else None for table in tables}) > 1
    ]


def _with(kind: str, value: Any, differ: Sequence[str]) -> str:
    if not isinstance(value, Mapping):
        return kind
    rest = [_key_text(key, value[key]) for key in differ if key in value]
    whole = ", ".join([kind, *rest])
    return whole if len(whole) <= _LONGEST_LABEL else f"{whole[: _LONGEST_LABEL - 1]}…"


def _key_text(key: str, value: Any) -> str:
    # The unit of a quantity replaces the key.
    text = _text(value)
    has_unit = isinstance(value, str) and " " in value and key != "file"
    return text if has_unit and key in ("limit", "rate") else f"{key} {text}"


# --- exclusion ---------------------------------------------------------------------------------


def matches(value: Any, label: str, wanted: Any) -> bool:
    """Return whether an exclusion matches a value.

    An exclusion matches if it equals the value, its label, the kind of the table, or a subset of
    the table's keys.

    Parameters
    ----------
    value : plain value
        Value of a point; its label is `BASE` if the point does not set the axis.
    label : str
        Label of the value.
    wanted : plain value
        Value of the axis in the exclusion.
    """
    if key_of(value) == key_of(wanted) or (isinstance(wanted, str) and wanted == label):
        return True
    if isinstance(value, Mapping) and isinstance(wanted, str):
        return kind_of(value) == wanted
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        inside = {key: value[key] for key in wanted if key in value}
        return bool(wanted) and key_of(inside) == key_of(wanted)
    return False
