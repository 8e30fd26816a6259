"""All tables that a scenario file can contain, found by a search through the model classes.

A host is a complete scenario with a table of one class at one position. The accepted values of a
key are read from its annotation and its documentation, not from its validator; a validator that
accepts too much is therefore found.
"""

from __future__ import annotations

import copy
import json
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic.fields import FieldInfo

from airpath.scenario import Scenario
from airpath.scenario.base import Component, Model

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Path = tuple[str | int, ...]

FILES = {"trace": "good.trace", "rate-trace": "good.csv", "adaptive": "airpath:802.16-ctc-awgn"}
"""Mapping from the kind of a link to the files that it reads, in the directory of the scenario."""

GOOD: dict[str, Any] = {
    "duration": "100 s",
    "bottleneck": {"aqm": "gred", "link": {"kind": "fixed", "rate": "10 Mbit/s"}},
    "flows": [{"base_rtt": "2 s"}],
}


class Literal(str):
    """A value as written in a TOML file, valid or invalid."""


@dataclass(frozen=True)
class Host:
    """A valid scenario with a table of one class at one position."""

    model: type[Model]
    path: Path
    document: Mapping[str, Any]

    @property
    def name(self) -> str:
        kind = self.table.get(self.model.chosen_by) if issubclass(self.model, Component) else None
        name = self.model.public_name()
        return name if kind is None else f"{name}[{kind}]"

    @property
    def table(self) -> Mapping[str, Any]:
        found: Any = self.document
        for step in self.path:
            found = found[step]
        return typing.cast(Mapping[str, Any], found)

    def with_keys(self, changes: Mapping[str, Any], drop: str | None = None) -> str:
        """Return the file with keys of the table changed, or one of them removed."""
        document = copy.deepcopy(dict(self.document))
        table: Any = document
        for step in self.path:
            table = table[step]
        table.update(changes)
        if drop is not None:
            del table[drop]
        return toml(document)


def toml(document: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_value(value)}\n" for key, value in document.items())


def _value(value: Any) -> str:
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_value(v)}" for key, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)


# --- search ------------------------------------------------------------------------------------


def hosts() -> list[Host]:
    """Return one host for each class that a scenario can contain."""
    found: dict[type[Model], Host] = {}
    _walk(Host(Scenario, (), GOOD), found)
    return list(found.values())


def _walk(host: Host, found: dict[type[Model], Host]) -> None:
    if host.model in found:
        return
    found[host.model] = host
    # The short form first: the hosts of components have the path of `GOOD`.
    for name, info in sorted(host.model.model_fields.items(), key=lambda item: item[0] == "hops"):
        key = info.alias or name
        for model, in_list in _models(info):
            if (host.model.public_name(), key) == ("link.Radio", "policy"):
                # Each has a host on an adaptive link; a radio rejects some.
                continue
            for choice in _choices(model):
                table = _smallest(choice)
                document = copy.deepcopy(dict(host.document))
                parent: Any = document
                for step in host.path:
                    parent = parent[step]
                _release_memory(host.model, parent, key)
                if getattr(choice, "obeys_price", False):
                    document["bottleneck"]["aqm"] = {"kind": "clamp", "a": "5500 B"}
                if getattr(choice, "has_stations", False):
                    document["ack_path"] = {"kind": "reverse"}
                if choice.public_name() == "link.SmallPackets":
                    # A code rate other than the link's requires a code.
                    parent["fec"] = {"code_rate": 0.93}
                if choice.public_name() == "request.NoRequest":
                    # Without requests, grants must be proactive.
                    parent["grant"] = {"kind": "blind-bi"}
                parent[key] = _list_of(table, info) if in_list else table
                path: Path = (*host.path, key, 0) if in_list else (*host.path, key)
                _walk(Host(choice, path, document), found)


def _release_memory(model: type[Model], table: dict[str, Any], key: str) -> None:
    """Remove keys that contradict a key."""
    others = {"egress": ["base_rtt"], "access": ["base_rtt"], "return": ["base_rtt"]}
    others |= {
        "video": ["size", "on_off"],
        "requests": ["size", "on_off", "video"],
        "rate_based": ["buffer_based"],
    }
    others |= {"on_off": ["size"], "pareto": ["exponential"], "on": ["burst"], "snr": ["snr_db"]}
    others["triangular"] = ["exponential", "pareto"]
    others["hops"] = ["bottleneck"]
    for other in others.get(key, ()):
        table.pop(other, None)


def _list_of(table: dict[str, Any], info: FieldInfo) -> list[Any]:
    """Return a list of tables, as long as the list in the field's example."""
    count = len(_example(info)) if info.examples else 1
    return [table, *(dict(table) for _ in range(count - 1))]


def _example(info: FieldInfo) -> Any:
    return tomllib.loads(f"x = {info.examples[0]}")["x"]  # type: ignore[index]


def _models(info: FieldInfo) -> Iterator[tuple[type[Model], bool]]:
    for part in members(info):
        if typing.get_origin(part) is list:
            yield from ((m, True) for m in typing.get_args(part) if is_model(m))
        elif is_model(part):
            yield part, False


def is_model(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, Model)


def _choices(model: type[Model]) -> list[type[Model]]:
    is_family = issubclass(model, Component) and "family" in vars(model)
    return list(model.registry.values()) if is_family else [model]  # type: ignore[attr-defined]


def _smallest(model: type[Model]) -> dict[str, Any]:
    """Return a table with the required keys only, from the examples in the class."""
    table: dict[str, Any] = {}
    if issubclass(model, Component):
        table[model.chosen_by] = model.model_fields[model.chosen_by].default
        if getattr(model, "needs_path", False):
            table["base_rtt"] = "2 s"
    kind = table.get("kind")
    for name, info in model.model_fields.items():
        if info.is_required() or info.examples:
            table[info.alias or name] = _example(info)
    if model.public_name() == "Control":
        table = {"at": "50 s", "rate": "128 kbit/s"}
    if model.public_name() == "Hop":
        table["link"] = {"kind": "fixed", "rate": "10 Mbit/s"}
    if model.public_name() == "snr.Trace":
        table["file"] = "snr.csv"
    elif kind in FILES:
        table["table" if kind == "adaptive" else "file"] = FILES[kind]
    if model.public_name() == "traffic.RandomSize":
        table["exponential"] = "10 kB"
    if model.public_name() == "traffic.OnOff":
        table["burst"] = "10 kB"
    return table


def members(info: FieldInfo) -> list[Any]:
    """Return the types of which a field accepts one."""
    return list(_members(info.annotation))


def _members(annotation: Any) -> Iterator[Any]:
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        for part in typing.get_args(annotation):
            yield from _members(part)
    elif origin is typing.Annotated:
        yield from _members(typing.get_args(annotation)[0])
    else:
        yield annotation
