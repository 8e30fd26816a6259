"""Example of each kind of component, with values for its required parameters."""

from __future__ import annotations

import sys
from typing import Any

from airpath.scenario.base import Component

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["inline", "sample"]


def inline(family: type[Component], kind: str) -> str:
    """Return the inline table of a component: its kind, and example values of the required
    parameters.
    """
    fields = family.registry[kind].model_fields.items()
    given = [f"{key} = {info.examples[0]}" for key, info in fields if info.examples]
    return "{" + ", ".join([f'kind = "{kind}"', *given]) + "}"


def sample(family: type[Component], kind: str) -> dict[str, Any]:
    """Return the inline table of a component as a dictionary."""
    table: dict[str, Any] = tomllib.loads(f"component = {inline(family, kind)}")["component"]
    return table
