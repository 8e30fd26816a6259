"""What is wrong with the points of a sweep, each problem once, and what can be measured of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from airpath import _airpath
from airpath.errors import MISSING, AirpathError, BadValueError, Problem, ScenarioError, quoted
from airpath.scenario import Scenario
from airpath.sweep.job import Job, compiled, run_job
from airpath.sweep.metrics import advice, is_known
from airpath.wording import in_words

__all__ = ["Complaints", "Measurable", "checked", "unknown_metrics"]

_MOST_LINES = 20


@dataclass(frozen=True)
class Measurable:
    """What can be measured of a job, as a replication of no length shows.

    Parameters
    ----------
    run : mapping or None
        What it measured; None where it cannot be had, and every metric counts as known.
    resolved : mapping
        The resolved scenario.
    """

    run: Mapping[str, Any] | None
    resolved: Mapping[str, Any]

    def has(self, name: str) -> bool:
        """Return whether there is a metric."""
        return self.run is None or is_known(name, self.run, self.resolved)


def checked(scenario: Scenario, job: Job, contents: Mapping[str, str]) -> Measurable:
    """Let the engine wire a job, and return what can be measured of it.

    Parameters
    ----------
    scenario : Scenario
        What the job was made from, for messages.
    job : Job
        What is to be run.
    contents : mapping
        Of its files.

    Raises
    ------
    BadValueError
        If the engine does not accept it.
    """
    files = compiled(job, contents)
    try:
        _airpath.check(job.text, files.traces, files.tables, files.snr)
    except ValueError as error:
        raise BadValueError(in_words(scenario, str(error))) from None
    resolved = job.resolved
    record = {**resolved["record"], "series": []}
    short = {**resolved, "duration_ns": 1, "warmup_ns": 0, "controls": [], "record": record}
    try:
        runs = run_job(replace(job, text=json.dumps(short)), contents, 1, 0, 1)
    except AirpathError:
        return Measurable(None, resolved)
    return Measurable(runs[0].measured(), resolved)


class Complaints:
    """Problems of points, those that are the same told once.

    Parameters
    ----------
    place : str
        What begins each line.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._found: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}
        self.example: Measurable | None = None

    def metrics(self, names: Iterable[str], found: Measurable) -> None:
        """Keep a point from which unknown metrics can be explained."""
        if self.example is None and found.run is not None:
            self.example = found

    def add(self, error: BadValueError, labels: Mapping[str, str]) -> None:
        """Keep what is wrong with a point.

        Parameters
        ----------
        error : BadValueError
            What is wrong.
        labels : mapping of str to str
            What the point's values are called, by axis.
        """
        problems = error.problems if isinstance(error, ScenarioError) else str(error).split("\n")
        for line in dict.fromkeys(map(str, problems)):
            at = ", ".join(f"{axis} = {label}" for axis, label in labels.items())
            self._found.setdefault(line, [at])
            self._counts[line] = self._counts.get(line, 0) + 1

    def lines(self) -> list[str]:
        """Return a line for each problem: at how many points, and at which first."""
        found = []
        for line, (first,) in self._found.items():
            count = self._counts[line]
            if not first:
                found.append(line)
            elif count == 1:
                found.append(f"{line} At the point {first}.")
            else:
                found.append(f"{line} At {count} points, first {first}.")
        if len(found) > _MOST_LINES:
            found = [*found[:_MOST_LINES], f"and {len(found) - _MOST_LINES} more problems."]
        return found


def unknown_metrics(
    names: Sequence[str], known: Iterable[str], example: Measurable | None, place: str
) -> list[str]:
    """Return a line for each metric that no point has.

    Parameters
    ----------
    names, known : sequence of str
        All that are wanted, and those that some point has.
    example : Measurable or None
        Of a point, for advice.
    place : str
        What begins each line.
    """
    there = set(known)
    lines = []
    for name in names:
        if name in there:
            continue
        accepted = None
        if example is not None and example.run is not None:
            accepted = advice(name, example.run, example.resolved)
        what = "no point has this metric"
        lines.append(str(Problem(f"{place}: metrics: {quoted(name)}", (), MISSING, what, accepted)))
    return lines
