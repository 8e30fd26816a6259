"""An extension of griffe: how the Python API of the site shows the classes of a scenario."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

BASE = "airpath.scenario.base._Base"
SCENARIO = "airpath.scenario.scenario.Scenario"
_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
_PARAMETER = re.compile(r"^(\w+) : (.*(?:\n(?!\w).*)*)", re.MULTILINE)
_OPTIONAL = re.compile(r"\bDefault|, optional")


class Models(griffe.Extension):
    """Constructors by their documented parameters, without the members that the engine reads."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Change the classes that describe a scenario."""
        for model in list(_models(pkg)):
            for name in list(model.members):
                if model.path != SCENARIO or name == "__init__":
                    model.del_member(name)
            model.set_member("__init__", griffe.Function("__init__", parameters=_parameters(model)))


def _models(module: griffe.Module | griffe.Class) -> Iterator[griffe.Class]:
    for member in module.members.values():
        if isinstance(member, griffe.Module):
            yield from _models(member)
        elif isinstance(member, griffe.Class) and BASE in [
            member.path,
            *(base.path for base in member.mro()),
        ]:
            yield member


def _parameters(model: griffe.Class) -> griffe.Parameters:
    """Return the parameters that the docstring lists, with `...` for a default."""
    section = _SECTION.search(model.docstring.value if model.docstring else "")
    listed = _PARAMETER.findall(section[1]) if section else []
    keyword = griffe.ParameterKind.keyword_only
    named = (
        griffe.Parameter(name, kind=keyword, default="..." if _OPTIONAL.search(text) else None)
        for name, text in listed
    )
    return griffe.Parameters(griffe.Parameter("self"), *named)
