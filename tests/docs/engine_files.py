"""Writes what Rust reads of the Python classes: the TCP profiles and a sample of every component.

`make generate-docs` runs it with the pages of the reference. The profiles belong to the engine, for
its own tests and for plug-ins; the samples are for the suites that go through every component.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import airpath as ap
from airpath.scenario import FAMILIES
from airpath.scenario.base import Component
from airpath.scenario.checking import with_types_alone
from airpath.scenario.tcp.profiles import profiles

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


class _Names:
    """Names the files of a component as they are written."""

    def trace_key(self, file: str, field: object) -> str:
        return file

    def table_key(self, table: str, field: object) -> str:
        return table


def tcp_profiles() -> dict[str, Any]:
    """Return the parameters of each profile as a resolved scenario has them."""
    return {name: _tcp(name).resolved_source(_Names(), ())["options"] for name in profiles()}


def _tcp(profile: str) -> ap.traffic.Tcp:
    # The engine reads what is being written.
    return with_types_alone(lambda: ap.traffic.Tcp(profile=profile, base_rtt="0 s"))


def samples() -> dict[str, dict[str, Any]]:
    """Return every component in its resolved form, with defaults and its class's examples."""
    found: dict[str, dict[str, Any]] = {}
    for name, family in FAMILIES.items():
        resolved = [_resolved(sample(component)) for component in family.registry.values()]
        found[name] = {component["kind"]: component for component in resolved}
    return found


def sample(component: type[Component]) -> Component:
    """Return a part of its defaults, and of the example of each key that must be given.

    The engine does not check it: it may have been built before the component was added.
    """
    given = {
        name: tomllib.loads(f"value = {info.examples[0]}")["value"]
        for name, info in component.model_fields.items()
        if info.examples
    }
    return with_types_alone(lambda: component(**given))


def _resolved(component: Component) -> dict[str, Any]:
    if isinstance(component, ap.cc.Congestion):
        return component.resolved_control(_Names(), ())
    return component.resolved(_Names(), ())


FILES: dict[str, Callable[[], Any]] = {
    "crates/tcp/generated/profiles.json": tcp_profiles,
    "crates/conformance/generated/samples.json": samples,
}


def text(name: str) -> str:
    """Return the content of the file."""
    return json.dumps(FILES[name](), indent=2, ensure_ascii=False) + "\n"


def main(notify: Callable[[str], object] = print) -> int:
    """Write the files that are not as the classes have them."""
    for name in FILES:
        file = ROOT / name
        if not file.is_file() or file.read_text("utf-8") != text(name):
            file.write_text(text(name), "utf-8")
            notify(f"{name}: rewritten")
    return 0


if __name__ == "__main__":
    sys.exit(main())
