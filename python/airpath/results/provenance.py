"""What made a result: version, commit, scenario, seed, command."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from airpath import _airpath
from airpath.files import LARGEST, read_bytes

if TYPE_CHECKING:
    from airpath.engine.resolved import ResolvedScenario
    from airpath.scenario import Scenario

__all__ = ["as_comment", "build", "provenance"]


def build() -> dict[str, str]:
    """Return version and commit of Airpath, and of what runs it."""
    return {
        "version": _airpath.version(),
        "commit": _airpath.commit(),
        "python": platform.python_version(),
        "platform": f"{sys.platform}-{platform.machine()}",
    }


def provenance(
    *,
    scenario: Scenario,
    resolved: ResolvedScenario,
    traces: Mapping[str, str],
    tables: Mapping[str, str] | None = None,
    unfinished: Collection[str] = (),
    command: str,
    **settings: Any,
) -> dict[str, Any]:
    """Return the provenance of a run; it depends on what was asked for, not on when.

    Parameters
    ----------
    scenario : Scenario
        As the user gave it. Its TOML text gives the same run again.
    resolved : ResolvedScenario
        The same in SI base units, every flow and every TCP option listed.
    traces : mapping of str to str
        File of each trace by its name in `resolved`.
    tables : mapping of str to str
        File of each error-rate table by its name in `resolved`. Default: none.
    unfinished : collection of str
        Those of `tables` of which points are missing. Default: none.
    command : str
        The command line or call.
    **settings
        Seed, replications, confidence, ...
    """
    of_tables = _files(tables or {})
    for name in unfinished:
        of_tables[name]["complete"] = False
    return {
        **build(),
        "command": command,
        **settings,
        "traces": _files(traces),
        **({"tables": of_tables} if tables else {}),
        **({"overrides": list(scenario.overrides)} if scenario.overrides else {}),
        "scenario_toml": scenario.to_toml(),
        "scenario": dict(resolved.document),
    }


def _files(files: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    return {name: {"file": file, "sha256": _sha256(file)} for name, file in files.items()}


def _sha256(file: str) -> str:
    return hashlib.sha256(read_bytes(file, LARGEST)).hexdigest()


def as_comment(about: Mapping[str, Any]) -> str:
    """Return the provenance as lines that begin with ``# ``, for the head of a CSV file.

    The scenario comes last, as TOML; without the ``# `` it can be run again.
    """
    shown = {key: value for key, value in about.items() if key not in ("scenario", "scenario_toml")}
    lines = [f"airpath {shown.pop('version')} ({shown.pop('commit')})"]
    lines += [f"{key}: {_plain(value)}" for key, value in shown.items()]
    if "scenario_toml" in about:
        lines += ["scenario:", *str(about["scenario_toml"]).splitlines()]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
