"""Provenance of a result: version, commit, scenario, seed, command."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airpath import _airpath

if TYPE_CHECKING:
    from airpath.engine.prepared import PreparedScenario

__all__ = ["as_comment", "build", "provenance", "source_line"]


def build() -> dict[str, str]:
    """Return version and commit of Airpath, the Python version and the platform."""
    return {
        "version": _airpath.version(),
        "commit": _airpath.commit(),
        "python": platform.python_version(),
        "platform": f"{sys.platform}-{platform.machine()}",
    }


def provenance(made: PreparedScenario, *, command: str, **settings: Any) -> dict[str, Any]:
    """Return the provenance of a run; it does not contain the time of the run.

    Parameters
    ----------
    made : PreparedScenario
        Prepared scenario; its TOML text reproduces the run.
    command : str
        The command line or call.
    **settings
        Further entries: seed, number of replications, confidence level, ...
    """
    scenario = made.scenario
    return {
        **build(),
        "command": command,
        **settings,
        **made.inputs.provenance(),
        **({"overrides": list(scenario.overrides)} if scenario.overrides else {}),
        "scenario_toml": scenario.to_toml(),
        "scenario": dict(made.resolved.document),
    }


def source_line(about: Mapping[str, Any]) -> str:
    """Return version, commit and command of a provenance, for the metadata of a figure."""
    return f"airpath {about['version']} ({about['commit']}), {about['command']}"


def as_comment(about: Mapping[str, Any]) -> str:
    """Return the provenance as lines that begin with ``# ``, for the header of a CSV file.

    The scenario is at the end, as TOML. The lines without the ``# `` are a valid scenario file.
    """
    shown = {key: value for key, value in about.items() if key not in ("scenario", "scenario_toml")}
    lines = [f"airpath {shown.pop('version')} ({shown.pop('commit')})"]
    lines += [f"{key}: {_plain(value)}" for key, value in shown.items()]
    if "scenario_toml" in about:
        lines += ["scenario:", *str(about["scenario_toml"]).splitlines()]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
