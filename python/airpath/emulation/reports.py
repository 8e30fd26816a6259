"""Reads the results of the emulation program and converts them to the format of `Result`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from airpath.errors import RunError, one_line
from airpath.results.ss import COLUMNS
from airpath.results.stored import Columns

__all__ = ["Recorded", "Report", "kernel_of", "problems_of", "read"]

_WIDTHS = {"time_s": 8, "id": 4, "queue": 4, "value": 8}
_NOTHING: Columns = (b"", b"", b"", b"")


@dataclass(frozen=True)
class Report:
    """Measurements of one run.

    Parameters
    ----------
    replication : dict
        The statistics, in the simulator's format for a replication.
    validity : dict
        Validity report.
    kernel : dict
        Settings read back from the kernel, and the kernel's counters.
    command : dict or None
        How the commands ended; None without commands.
    series : dict of str to Columns
        Maps the name of each recorded series to its columns.
    ss : dict of str to bytes
        State of the TCP senders over time (as printed by ``ss``): maps a column's name to its data.
    problems : list of str
        Other problems, for example flows that did not start, or a server command that ended.
    connections : list of dict
        Connections that the commands opened.
    """

    replication: dict[str, Any]
    validity: dict[str, Any]
    kernel: dict[str, Any]
    command: dict[str, Any] | None
    series: dict[str, Columns]
    ss: dict[str, bytes]
    problems: list[str] = field(default_factory=list)
    connections: list[dict[str, Any]] = field(default_factory=list)


def read(results: IO[bytes], number: int, series: Iterable[str]) -> Report:
    """Read the results that the emulation program wrote.

    Parameters
    ----------
    results : file
        File with sections. Each section is a line of JSON with `name` and `bytes`, followed by
        `bytes` bytes of data.
    number : int
        Index of the replication, from 0.
    series : iterable of str
        Names of the recorded series.

    Raises
    ------
    RunError
        If a section is missing or invalid.
    """
    try:
        sections = _sections(results)
        if "report.json" not in sections:
            raise RunError("emulation: no result: the program wrote none.")
        found = json.loads(sections["report.json"])
        replication = {**found["replication"], "replication": number, "flows": found["flows"]}
        validity = {"valid": False, "reasons": [], **found["validity"]}
        return Report(
            replication,
            validity,
            dict(found.get("kernel") or {}),
            found.get("command"),
            {name: _columns(sections, name) for name in series},
            {name: sections.get(f"ss/{name}", b"") for name in COLUMNS},
            _problems(found, validity),
            [dict(row) for row in found.get("connections") or ()],
        )
    except OSError as error:
        raise RunError(f"emulation: no result: {error}") from None
    except (ValueError, TypeError, KeyError) as error:
        raise RunError(
            f"emulation: the result is not understood: {type(error).__name__}: {error}"
        ) from None


def _problems(found: Mapping[str, Any], validity: Mapping[str, Any]) -> list[str]:
    problems = [one_line(str(line)) for line in found.get("problems") or ()]
    if missing := validity.get("uncaptured_packets"):
        problems.append(f"the captures lack {missing} packets: they came too fast to be written")
    return problems


def problems_of(reports: Sequence[Report]) -> list[str]:
    """Return the problems of all runs; if there are several runs, prefix the replication's index.

    Parameters
    ----------
    reports : sequence of Report
        Reports, one for each run.
    """
    several = len(reports) > 1
    return [
        f"replication {report.replication['replication']}: {line}" if several else line
        for report in reports
        for line in report.problems
    ]


def _sections(results: IO[bytes]) -> dict[str, bytes]:
    """Return a mapping from each section's name to its data."""
    sections = {}
    results.seek(0)
    while line := results.readline():
        head = json.loads(line)
        data = sections[head["name"]] = results.read(head["bytes"])
        if len(data) != head["bytes"]:
            raise ValueError(f"{head['name']} has {len(data)} of {head['bytes']} bytes")
    return sections


def _columns(sections: Mapping[str, bytes], name: str) -> Columns:
    """Return the columns of a series; empty columns if the series was not recorded."""
    if f"series/{name}.time_s" not in sections:
        return _NOTHING
    parts = {part: sections[f"series/{name}.{part}"] for part in _WIDTHS}
    if len({len(data) // _WIDTHS[part] for part, data in parts.items()}) != 1:
        raise ValueError(f"columns of {name} that differ in length")
    return parts["time_s"], parts["id"], parts["queue"], parts["value"]


def kernel_of(kernels: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Combine the kernel settings and counters of several runs.

    Parameters
    ----------
    kernels : sequence of mapping
        The attribute `kernel` of each `Report`.

    Returns
    -------
    kernel : dict
        Settings of the first run. `counters` maps a side and a counter's name to a list with one
        value per run.
    """
    if not kernels:
        return {}
    counters: dict[str, dict[str, list[Any]]] = {}
    for number, kernel in enumerate(kernels):
        for side, counted in (kernel.get("counters") or {}).items():
            for name, value in counted.items():
                row = counters.setdefault(side, {}).setdefault(name, [0] * len(kernels))
                row[number] = value
    return {**kernels[0], "counters": counters}


@dataclass
class Recorded:
    """Recorded data of the finished replications. An index counts finished replications, from 0."""

    reports: list[Report] = field(default_factory=list)

    def series(self, index: int, name: str) -> Columns:
        """Return the columns of a series: times, IDs, queue indices, values."""
        return self.reports[index].series.get(name, _NOTHING)

    def ss(self, index: int) -> Mapping[str, bytes]:
        """Return the columns of the senders' state (as printed by ``ss``)."""
        return self.reports[index].ss

    def flow_monitor(self, index: int) -> str:
        """Return an empty JSON list, because emulation has no flow monitor."""
        return "[]"
