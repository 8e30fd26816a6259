"""``airpath check``: validate a scenario and print its resolved form."""

from __future__ import annotations

from typing import Any

from airpath import _airpath, api
from airpath.cli import options, output
from airpath.scenario import Scenario
from airpath.scenario.traffic.flows import Tcp

__all__ = ["check", "explicit"]


def check(
    scenario: options.Scenario,
    set_: options.Set = [],  # noqa: B006  (typer copies it)
    parts: options.Parts = [],  # noqa: B006  (typer copies it)
    json: options.Json = False,
) -> int:
    """Check a scenario and print every key, defaults included.

    The JSON document is the resolved form: SI units, each group of flows.
    """
    output.load_parts(parts)
    chosen = api.load(scenario, output.load_options(set_))
    prepared = api.check(chosen)
    resolved = prepared.resolved
    for advisory in prepared.advisories:
        output.note(str(advisory))
    if json:
        output.print_json(resolved.document)
        return 0
    flows = len(resolved.flows)
    print(f"# {scenario}: accepted by airpath {_airpath.version()}, {flows} flows.")
    print("# Every key and every TCP option, defaults included; this is a scenario file again.")
    print(explicit(chosen).to_toml(), end="")
    return 0


def explicit(scenario: Scenario) -> Scenario:
    """Return the scenario with every TCP option set explicitly instead of by a profile."""
    groups = [
        _copy(group, tcp=group.config()) if isinstance(group, Tcp) else group
        for group in scenario.flows
    ]
    copied: Scenario = _copy(scenario, flows=groups)
    return copied


def _copy(model: Any, **changes: Any) -> Any:
    return model.model_copy(update=changes)
