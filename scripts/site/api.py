"""An extension of griffe: which members of the package the Python API of the site shows."""

from __future__ import annotations

from typing import Any

import griffe

MODEL = "airpath.scenario.base.Model"
SCENARIO = "airpath.scenario.scenario.Scenario"


class Members(griffe.Extension):
    """Leave out the members of components, which the engine reads, and constructors of `**data`."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Remove the members of the classes that describe a scenario."""
        for model in list(_models(pkg)):
            for name in list(model.members):
                if model.path != SCENARIO or name == "__init__":
                    model.del_member(name)


def _models(module: griffe.Module | griffe.Class) -> Any:
    for member in module.members.values():
        if isinstance(member, griffe.Module):
            yield from _models(member)
        elif isinstance(member, griffe.Class) and MODEL in (
            member.path,
            *(base.path for base in member.mro()),
        ):
            yield member
