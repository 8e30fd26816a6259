"""Checks the points of a sweep: makes the job of each point and collects the problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airpath.engine.advisory import Advisory, find_advisories
from airpath.engine.inputs import Reading
from airpath.errors import BadValueError
from airpath.present.progress import Paced, ProgressCallback
from airpath.sweeps.axes import BASE, key_of, plain
from airpath.sweeps.base import Base
from airpath.sweeps.checks import Measurable, ProblemList, check_job, measurable, unknown_metrics
from airpath.sweeps.job import Contents, Job, engine_input, job_of
from airpath.sweeps.memo import Kept
from airpath.sweeps.plan import Point

if TYPE_CHECKING:
    from airpath.emulation.kernel import Kernel

__all__ = ["Labels", "PointChecks"]

Labels = Mapping[str, Mapping[str, str]]
"""Maps an axis to a mapping from `key_of` a value to the value's label."""


_AT_ONCE_S = 0.5
"""Progress is reported only if the check takes longer than this, s."""


class PointChecks:
    """Checks points and collects their jobs.

    Parameters
    ----------
    base : Base
        Base scenario of the points.
    labels : mapping
        Labels of the values of all axes.
    place : str
        Prefix of each line of an error.
    series : sequence of str
        Time series that are stored.
    metrics : sequence of str
        Columns of the results; at least one point must have each of them.
    engines : sequence of str
        Engines that compute each point.
    notify : callable or None
        Called with the fraction of checked points and a line of text.

    Attributes
    ----------
    jobs : dict of str to Job
        Jobs by digest.
    contents : dict of str to str
        Contents of the files of all jobs, by SHA-256.
    kernels : dict of str to Kernel
        Settings of the kernel's TCP of the jobs that are emulated, by digest.
    """

    def __init__(
        self,
        base: Base,
        labels: Labels,
        place: str,
        series: Sequence[str],
        metrics: Sequence[str],
        engines: Sequence[str],
        notify: ProgressCallback | None,
    ) -> None:
        self.jobs: dict[str, Job] = {}
        self.contents: dict[str, str] = {}
        self.kernels: dict[str, Kernel] = {}
        self._is_run = set(engines) != {"solve"}
        self._is_emulated = "emulate" in engines
        self._base = base
        self._labels = labels
        self._place = place
        self._series = series
        self._sought = list(metrics)
        self._example: Measurable | None = None
        self._notify = Paced(notify, _AT_ONCE_S)
        self._reading = Reading()
        # Emulations run in real time, so their number is small.
        self._assembly = None if self._is_emulated else base.assembly(labels, series, self._reading)
        self._problems = ProblemList(place)
        self._known: Kept[tuple[str, int], tuple[Any, str]] = Kept()

    def points(self, assigned: Sequence[Mapping[str, Any]]) -> list[Point]:
        """Return all points.

        Parameters
        ----------
        assigned : sequence of mapping
            The values of each point, by axis. They must not change while this object exists.

        Raises
        ------
        BadValueError
            If a point is not accepted; with every problem of every point.
        """
        points = []
        for number, values in enumerate(assigned):
            points += self._checked(number, values)
            if self._notify.is_due():
                text = f"checking, {number + 1} of {len(assigned)} points"
                self._notify((number + 1) / len(assigned), text + self._problems.count_text())
        lines = self._problems.lines()
        if not lines:
            lines = unknown_metrics(self._sought, self._example, self._place)
        if lines:
            raise BadValueError("\n".join(lines))
        return points

    def _checked(self, number: int, values: Mapping[str, Any]) -> list[Point]:
        """Return a list with the point with these values; empty if it has problems."""
        plain_values: dict[str, Any] = dict.fromkeys(self._labels)
        called = dict.fromkeys(self._labels, BASE)
        keys = {}
        for axis, value in values.items():
            # Points share the values of their axes.
            known, key = self._known.get((axis, id(value)), lambda v=value: _named(v))  # type: ignore[misc]
            plain_values[axis], keys[axis] = known, key
            called[axis] = self._labels[axis][key]
        try:
            job, found = self._job(values, keys)
        except BadValueError as error:
            self._problems.add(error, called)
            return []
        noted = [each.to_dict() for each in found]
        return [Point(number, plain_values, called, job.digest, noted)]

    def _job(
        self, values: Mapping[str, Any], keys: Mapping[str, str]
    ) -> tuple[Job, Sequence[Advisory]]:
        """Check and store the job of a point; return the job and the advisories on the scenario."""
        made = None if self._assembly is None else self._assembly.at(values, keys)
        if self._assembly and made and self._is_accepted(made.job, made.contents):
            self._keep(made.job, made.contents)
            found = self._assembly.advisories(made) if self._is_run else ()
            return self.jobs[made.job.digest], found
        scenario = self._base.at(values)
        job, contents = job_of(scenario, self._series, self._reading)
        if self._is_emulated:
            from airpath.sweeps.emulating import emulated

            job, kernel = emulated(scenario, job)
            self.kernels[job.digest] = kernel
        if job.digest not in self.jobs:
            check_job(scenario, job, contents)
        self._keep(job, contents)
        return job, find_advisories(scenario, job.resolved) if self._is_run else ()

    def _is_accepted(self, job: Job, contents: Contents) -> bool:
        """Return whether the engine accepts a job."""
        if job.digest in self.jobs:
            return True
        try:
            return not engine_input(job, contents).problems()
        except ValueError:
            return False

    def _keep(self, job: Job, contents: Contents) -> None:
        """Store a job, and find out which metrics exist."""
        if job.digest in self.jobs:
            return
        self.jobs[job.digest] = job
        self.contents |= contents
        if self._sought:
            found = measurable(job, contents)
            self._sought = [name for name in self._sought if not found.has(name)]
            self._example = self._example or found


def _named(value: Any) -> tuple[Any, str]:
    known = plain(value)
    return known, key_of(known)
