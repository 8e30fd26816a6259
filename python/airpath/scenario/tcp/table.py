"""Reader of the table of TCP parameters, `tcp_options.toml`, which is parsed at first use.

This module imports nothing else from the package. Therefore the generated class `TcpConfig` can be
generated again even if it is broken.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Kernel", "Needs", "Option", "Parameter", "holds", "model_groups", "parameters", "table"]

FILE = Path(__file__).with_name("tcp_options.toml")

Condition = Mapping[str, Sequence[Any]]
"""Maps parameters to accepted values: ``{"recovery": ["sack", "prr"]}``. All must match."""


class Option(NamedTuple):
    """Value of a parameter in a profile, in the notation of a scenario file, and its source."""

    value: Any
    source: str


class Needs(NamedTuple):
    """Requirements of a parameter's value on other parameters, with the keys of the table."""

    value: Any
    any_of: Sequence[Condition]
    otherwise: Any
    problem: str
    fix: str


class Kernel(NamedTuple):
    """How a Linux kernel implements a parameter, with the keys of the table."""

    setting: str = ""
    sysctls: Mapping[str, Mapping[str, str]] = {}
    number: Mapping[str, Any] = {}
    without: str = ""
    once: bool = False
    does: str = ""
    same: Sequence[Any] = ()
    same_from: int | None = None
    when: Condition = {}
    unless: Condition = {}
    refuses: Mapping[str, str] = {}
    counter: str = ""


class Parameter(NamedTuple):
    """A TCP parameter, with the keys of the table.

    Parameters
    ----------
    name : str
        Key of the parameter in a scenario.
    resolved : str
        Key of the parameter in a resolved scenario.
    profiles : mapping of str to Option
        Maps the name of each profile to the parameter's value and its source.
    """

    name: str
    resolved: str
    profiles: Mapping[str, Option]
    type: str
    meaning: str
    values: Mapping[str, str] = {}
    note: str = ""
    page: str = ""
    example: str = ""
    needs: Needs | None = None
    acts: str = ""
    kernel: Kernel = Kernel()
    models: Mapping[str, str] = {}


@cache
def table() -> Mapping[str, Any]:
    """Return the parsed table."""
    return tomllib.loads(FILE.read_text("utf-8"))


@cache
def parameters() -> Mapping[str, Parameter]:
    """Map names to all parameters, in the order of the resolved scenario.

    Raises
    ------
    TypeError
        If a parameter lacks a key or has an unknown key.
    """
    return {name: _parameter(name, keys) for name, keys in table()["option"].items()}


def _parameter(name: str, keys: Mapping[str, Any]) -> Parameter:
    rest = dict(keys)
    needs, kernel = rest.pop("needs", None), rest.pop("kernel", {})
    usual = f"{name}_ns" if keys["type"].startswith("time") else name
    return Parameter(
        name,
        rest.pop("resolved", usual),
        {profile: Option(*rest.pop(profile)) for profile in table()["profiles"]},
        needs=None if needs is None else Needs(**needs),
        kernel=Kernel(**kernel),
        **rest,
    )


def holds(condition: Condition, values: Mapping[str, Any]) -> bool:
    """Return whether the values fulfil a condition."""
    return all(values[name] in accepted for name, accepted in condition.items())


def model_groups(model: str) -> Mapping[str, tuple[Sequence[str], str, str]]:
    """Map each parameter group of a model to parameter names, covered and rejected values.

    Raises
    ------
    ValueError
        If a parameter names a group that the model does not have.
    """
    texts: Mapping[str, Sequence[str]] = table()["model"][model]
    members: dict[str, list[str]] = {group: [] for group in texts}
    for name, row in parameters().items():
        group = row.models.get(model, "rest")
        if group not in members:
            raise ValueError(f"{FILE.name}: {name}: models.{model} = {group!r}: no such group")
        members[group].append(name)
    return {group: (names, texts[group][0], texts[group][1]) for group, names in members.items()}
