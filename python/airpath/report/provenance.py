"""Last section of each report: the provenance of the results, and links to the data files."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airpath.report.blocks import Block, Code, Facts, Links, Section
from airpath.report.report_files import ReportFiles

if TYPE_CHECKING:
    from airpath.execution import Execution

__all__ = ["execution_facts", "made_by", "provenance"]

_IN_SECTIONS = frozenset({"scenario", "scenario_toml", "scenarios"})
"""Keys that are omitted, because they are shown as a scenario file or are too long."""


def made_by(made: Mapping[str, Any]) -> str:
    """Return version and commit of a provenance."""
    return f"airpath {made['version']} ({made['commit']})"


def execution_facts(
    execution: Execution | None, replications: int | None = None
) -> list[tuple[str, str]]:
    """Return run time and machine as facts, with the number of replications."""
    if execution is None:
        return [("run time", "not recorded")]
    time = _duration(execution.wall_s)
    if replications is not None:
        time += f" for {replications} {'replication' if replications == 1 else 'replications'}"
    if execution.cpu_s is not None:
        time += f", {_duration(execution.cpu_s)} of processor time"
    name = "machine" if len(execution.machines) == 1 else "machines"
    return [("run time", time), (name, "; ".join(map(str, execution.machines)))]


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {left} s"


def provenance(
    made: Mapping[str, Any],
    files: Iterable[str],
    report_files: ReportFiles,
    *,
    more: Sequence[tuple[str, str]] = (),
    without: Collection[str] = (),
    scenario: str = "",
) -> Section:
    """Return the section of the provenance.

    Parameters
    ----------
    made : mapping
        The provenance.
    files : iterable of str
        Names of files; existing files are linked.
    report_files : ReportFiles
        Directory of these files.
    more : sequence of tuple of str
        Further facts.
    without : collection of str
        Keys of `made` that another section shows.
    scenario : str
        Heading above the scenario file, if the provenance has one. Default: the file is not shown.
    """
    facts = [
        (name.replace("_", " "), _plain(value))
        for name, value in made.items()
        if name not in _IN_SECTIONS and name not in without and value not in ({}, [])
    ]
    blocks: list[Block] = [Facts([*facts, *more])]
    if scenario and "scenario_toml" in made:
        blocks.append(Code(scenario, str(made["scenario_toml"])))
    links = [report_files.link(name) for name in files if report_files.has(name)]
    return Section("provenance", "Provenance", [*blocks, *([Links(links)] if links else [])])


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)
