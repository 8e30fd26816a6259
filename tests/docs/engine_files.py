"""Write the files that Rust reads: the TCP profiles, and a sample of every component.

`make generate-docs` runs this script with the pages of the reference. The engine, its tests and
plug-ins read the profiles; test suites that cover every component read the samples.
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
    """A resolver that uses the file name itself as the key of a trace or table."""

    def trace_key(self, file: str, field: object) -> str:
        return file

    def table_key(self, table: str, field: object) -> str:
        return table

    def delay_points(self, file: str, field: object) -> list[tuple[int, int]]:
        return []


def tcp_profiles() -> dict[str, Any]:
    """Return the parameters of each profile, as in a resolved scenario."""
    return {name: _tcp(name).resolved_source(_Names(), ())["options"] for name in profiles()}


def _tcp(profile: str) -> ap.traffic.Tcp:
    # The engine reads the file that this script writes, so validation by the engine is disabled.
    return with_types_alone(lambda: ap.traffic.Tcp(profile=profile, base_rtt="0 s"))


def samples() -> dict[str, dict[str, Any]]:
    """Return every component in resolved form, with defaults and with the examples of its class."""
    found: dict[str, dict[str, Any]] = {}
    for name, family in FAMILIES.items():
        resolved = [_resolved(sample(component)) for component in family.registry.values()]
        found[name] = {component["kind"]: component for component in resolved}
    return found


def sample(component: type[Component]) -> Component:
    """Return a component with its defaults, and with the example of each required key.

    The engine does not check the component, because the compiled engine may lack it.
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
    """Write the files whose content differs from the classes."""
    for name in FILES:
        file = ROOT / name
        if not file.is_file() or file.read_text("utf-8") != text(name):
            file.write_text(text(name), "utf-8")
            notify(f"{name}: rewritten")
    return 0


if __name__ == "__main__":
    sys.exit(main())
