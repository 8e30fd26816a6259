"""Helpers for the check of a sweep's points: list of distinct problems, available metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from airpath.engine.error_paths import refuse
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import MISSING, AirpathError, BadValueError, Problem, ScenarioError, quoted
from airpath.scenario import Scenario
from airpath.scenario.overrides import UnknownKeyProblem
from airpath.sweeps.job import Job, engine_input, run_job
from airpath.sweeps.metrics import advice, is_known

__all__ = ["Measurable", "ProblemList", "check_job", "measurable", "unknown_metrics"]

_MOST_LINES = 20


@dataclass(frozen=True)
class Measurable:
    """Metrics that are available for a job, found by a replication of one nanosecond.

    Parameters
    ----------
    run : mapping or None
        Measurements of this replication; None if it failed. Every metric then counts as available.
    resolved : ResolvedScenario
        The resolved scenario.
    """

    run: Mapping[str, Any] | None
    resolved: ResolvedScenario

    def has(self, name: str) -> bool:
        """Return whether the job has a metric."""
        return self.run is None or is_known(name, self.run, self.resolved)


def check_job(scenario: Scenario, job: Job, contents: Mapping[str, str]) -> None:
    """Check a job by building its network in the engine.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the job, for messages.
    job : Job
        Job to check.
    contents : mapping
        Contents of the job's files, by SHA-256.

    Raises
    ------
    BadValueError
        If the engine does not accept the job.
    """
    refuse(scenario, job.resolved, engine_input(job, contents))


def measurable(job: Job, contents: Mapping[str, str]) -> Measurable:
    """Find the metrics of a job by a replication of one nanosecond.

    Parameters
    ----------
    job : Job
        Job to check.
    contents : mapping
        Contents of the job's files, by SHA-256.
    """
    resolved = job.resolved
    short = resolved.recorded(series=[]).replace(duration_ns=1, warmup_ns=0, controls=[])
    try:
        runs = run_job(job.with_scenario(short), contents, 1, 0, 1)
    except AirpathError:
        return Measurable(None, resolved)
    return Measurable(runs[0].measured(), resolved)


class ProblemList:
    """List of the problems of points. Equal problems are reported once.

    Parameters
    ----------
    place : str
        Prefix of each line.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._found: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}

    def add(self, error: BadValueError, labels: Mapping[str, str]) -> None:
        """Add the problems of a point.

        Parameters
        ----------
        error : BadValueError
            Problems of the point.
        labels : mapping of str to str
            Labels of the point's values, by axis.
        """
        if isinstance(error, ScenarioError):
            lines = [str(self._placed(problem, labels)) for problem in error.problems]
        else:
            lines = str(error).split("\n")
        for line in dict.fromkeys(lines):
            at = ", ".join(f"{axis} = {label}" for axis, label in labels.items())
            self._found.setdefault(line, [at])
            self._counts[line] = self._counts.get(line, 0) + 1

    def _placed(self, problem: Problem, axes: Iterable[str]) -> Problem:
        """Return the problem; if an axis sets the value, replace the location by the sweep's.

        An unknown key is reported without a value, because no value of it is accepted.
        """
        if isinstance(problem, UnknownKeyProblem):
            field = tuple(problem.key.split("."))
            return Problem(self._place, field, MISSING, problem.what, problem.accepted)
        of_axis = any(f"{problem.field_name}.".startswith(f"{axis}.") for axis in axes)
        if not (of_axis and problem.place):
            return problem
        value = MISSING if problem.what == "unknown key" else problem.value
        return replace(problem, place=self._place, value=value)

    def count_text(self) -> str:
        """Return the end of a sentence with the number of problems; empty without problems."""
        count = len(self._found)
        return f", {count} problem{'s' * (count > 1)}" if count else ""

    def lines(self) -> list[str]:
        """Return a line for each problem, with the number of points and the first point."""
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


def unknown_metrics(names: Sequence[str], example: Measurable | None, place: str) -> list[str]:
    """Return a line for each metric that no point has.

    Parameters
    ----------
    names : sequence of str
        Names of the metrics that no point has.
    example : Measurable or None
        Metrics of one point, to suggest similar names.
    place : str
        Prefix of each line.
    """
    lines = []
    for name in names:
        accepted = None
        if example is not None and example.run is not None:
            accepted = advice(name, example.run, example.resolved)
        head = f"{place}: metrics: {quoted(name)}"
        lines.append(str(Problem(head, (), MISSING, "no point has this metric", accepted)))
    return lines
