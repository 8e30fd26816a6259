"""Conversion of a scenario to TOML text."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.errors import dotted, quoted
from airpath.scenario.tables import PREFIX as TABLES
from airpath.scenario.traces import PREFIX as TRACES

if TYPE_CHECKING:
    from airpath.scenario.scenario import Scenario

__all__ = ["to_toml", "write_table"]

_FILES = {"file": TRACES, "table": TABLES}
"""Maps each key whose value is a file to the prefix of values that are not paths."""


def to_toml(scenario: Scenario, relative_to: str | Path | None = None) -> str:
    """Return the text of a TOML file that defines `scenario`; see `Scenario.to_toml`."""
    document = scenario.document()
    for table in _tables(document):
        for key, prefix in _FILES.items():
            if isinstance(table.get(key), str) and not table[key].startswith(prefix):
                # Path.resolve would replace symbolic links.
                path = os.path.abspath((scenario.directory or Path()) / table[key])  # noqa: PTH100
                if relative_to is not None:
                    path = os.path.relpath(path, relative_to)
                table[key] = Path(path).as_posix()
    return "\n".join(write_table(document)).strip() + "\n"


def _tables(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _tables(item)
    elif isinstance(value, list):
        for item in value:
            yield from _tables(item)


def write_table(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the lines of a table: first its plain keys, then its nested tables."""
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping) and value}
    arrays = {key: value for key, value in table.items() if not path and _is_array(value)}
    plain = {key: v for key, v in table.items() if key not in inner and key not in arrays}
    if path and (plain or not inner):
        yield ""
        yield f"[{dotted(path)}]"
    for key, value in plain.items():
        yield f"{dotted((key,))} = {_value(value)}"
    for key, value in inner.items():
        yield from write_table(value, (*path, key))
    for key, value in arrays.items():
        for item in value:
            yield ""
            yield f"[[{dotted((*path, key))}]]"
            for name, entry in item.items():
                yield f"{dotted((name,))} = {_value(entry)}"


def _is_array(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be written to a scenario")
        return repr(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{dotted((key,))} = {_value(item)}" for key, item in value.items())
        return f"{{{inner}}}"
    return f"[{', '.join(_value(item) for item in value)}]"
