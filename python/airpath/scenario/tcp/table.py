"""Reads the table of TCP parameters, `tcp_options.toml`, once per process and on first use.

Imports nothing of the package, so that the class can be generated again from the table even if it
is broken.
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
"""Values of parameters, one of which each has: ``{"recovery": ["sack", "prr"]}``."""


class Option(NamedTuple):
    """Value of a parameter in a profile, as a scenario file has it, and its source."""

    value: Any
    source: str


class Needs(NamedTuple):
    """What a value of a parameter requires of others; the keys are those of the table."""

    value: Any
    any_of: Sequence[Condition]
    otherwise: Any
    problem: str
    fix: str


class Kernel(NamedTuple):
    """What a kernel does with a parameter; the keys are those of the table."""

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
    """Return the table as it is written."""
    return tomllib.loads(FILE.read_text("utf-8"))


@cache
def parameters() -> Mapping[str, Parameter]:
    """Return all parameters by name, in the order of the resolved scenario.

    Raises
    ------
    TypeError
        If the table lacks a key of a parameter, or has one that is unknown.
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
    """Return the groups of parameters of a model: names, what is covered, what is rejected.

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
