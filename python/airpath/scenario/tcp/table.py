"""Reads the table of TCP parameters, `tcp_options.toml`, once per process at first use.

The module imports nothing from the package, so that a broken generated class can be generated again
from the table.
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
"""Accepted values by parameter; each parameter must have one: ``{"recovery": ["sack", "prr"]}``."""


class Option(NamedTuple):
    """Value of a parameter in a profile, in the notation of a scenario file, and its source."""

    value: Any
    source: str


class Needs(NamedTuple):
    """Requirements of a parameter's value on other parameters; the keys are those of the table."""

    value: Any
    any_of: Sequence[Condition]
    otherwise: Any
    problem: str
    fix: str


class Kernel(NamedTuple):
    """Effect of a kernel on a parameter; the keys are those of the table."""

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
    """A TCP parameter; the keys are those of the table.

    Parameters
    ----------
    name : str
        Key in a scenario.
    resolved : str
        Key in a resolved scenario.
    profiles : mapping of str to Option
        Value and source in each profile.
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
    """Return all parameters by name, in the order of the resolved scenario.

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
    """Return whether each parameter that a condition names has one of its values."""
    return all(values[name] in accepted for name, accepted in condition.items())


def model_groups(model: str) -> Mapping[str, tuple[Sequence[str], str, str]]:
    """Return the parameter groups of a model: names, covered values, rejected values.

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
