"""Finds the advisories on the replications of a sweep's points, and summarises them by kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airpath.sweeps.plan import Point

if TYPE_CHECKING:
    from airpath.engine.advisory import Advisory
    from airpath.results.remarks import RunOutline
    from airpath.sweeps.job import Contents, Job
    from airpath.sweeps.readings import Readable, Readings
    from airpath.sweeps.runs import Run

__all__ = [
    "NOT_RECORDED",
    "Kind",
    "Outlines",
    "advisory_lines",
    "group_by_kind",
    "on_replications",
    "recorded_advisories",
]

NOT_RECORDED = "not recorded"
"""Text for a point whose advisories are not recorded in the ledger."""


class Outlines:
    """Summary of the outlines of a point's replications.

    Attributes
    ----------
    are_equal : bool
        Whether the flows of all replications are equal.
    may_concern : bool
        Whether the statistics of the replications are needed to find the advisories.
    """

    def __init__(self) -> None:
        self.are_equal = True
        self.may_concern = False
        self._first: bytes | None = None

    def add(self, outline: RunOutline | None) -> None:
        """Add the outline of a replication; None if an earlier call ran the replication."""
        if outline is None:
            self.may_concern = True
            return
        self._first = self._first or outline.flows
        self.are_equal = self.are_equal and outline.flows == self._first
        self.may_concern = self.may_concern or outline.may_concern


def on_replications(
    job: Job, contents: Contents, count: int, outlines: Outlines, runs: Iterable[Run]
) -> list[Advisory]:
    """Return the advisories on the replications of a point, as `airpath run` prints them.

    Parameters
    ----------
    job : Job
        Job of the point.
    contents : mapping
        Contents of the job's files, by SHA-256.
    count : int
        Number of replications.
    outlines : Outlines
        Outlines of these replications.
    runs : iterable of Run
        The replications, read only where the outlines do not suffice.
    """
    from airpath.results.remarks import count_advisories, remarks, table_advisories
    from airpath.scenario.tables import is_unfinished

    tables: dict[str, dict[str, Any]] = {
        file.key: {"complete": not is_unfinished(contents[file.sha256])}
        for file in job.files
        if file.role == "table"
    }
    if outlines.may_concern:
        return remarks(job.resolved, [run.measured() for run in runs], tables)
    return [*table_advisories(tables), *count_advisories(count, are_equal=outlines.are_equal)]


def recorded_advisories(
    ledger: Readable, point: Point, seed: int, number: int | None
) -> tuple[list[Mapping[str, str]], bool]:
    """Return the recorded advisories on a point, and True if no advisories are missing.

    Parameters
    ----------
    ledger : Readable
        Ledger to read.
    point : Point
        Point of the plan.
    seed : int
        Master seed of the point.
    number : int or None
        Number of replications that the results use; None if more replications are needed.
    """
    stored = ledger.advisories(point.digest, seed)
    of_runs = None if stored is None or stored[0] != number else stored[1]
    has_all = point.advisories is not None and of_runs is not None
    return [*(point.advisories or ()), *(of_runs or ())], has_all


@dataclass(frozen=True)
class Kind:
    """The advisories of one kind.

    Parameters
    ----------
    code : str
        Code of the kind.
    points : sequence of Point
        Points with an advisory of this kind, in order.
    first : mapping
        Advisory of the first of these points, as returned by `Advisory.to_dict`.
    """

    code: str
    points: Sequence[Point]
    first: Mapping[str, str]


def group_by_kind(noted: Iterable[tuple[Point, Iterable[Mapping[str, str]]]]) -> list[Kind]:
    """Group the advisories of all points by kind, in the order in which the kinds appear.

    Parameters
    ----------
    noted : iterable of (Point, iterable of mapping)
        Points with their advisories, each advisory as returned by `Advisory.to_dict`.
    """
    points: dict[str, list[Point]] = {}
    first: dict[str, Mapping[str, str]] = {}
    for point, found in noted:
        for each in found:
            code = each["code"]
            first.setdefault(code, each)
            of_code = points.setdefault(code, [])
            if not of_code or of_code[-1] is not point:
                of_code.append(point)
    return [Kind(code, points[code], each) for code, each in first.items()]


def advisory_lines(readings: Readings) -> list[str]:
    """Return a line for each kind of advisory: number of points, and the first of these points."""
    from airpath.engine.advisory import Advisory

    count = len(readings.points)
    lines = []
    for kind in group_by_kind((of.point, of.advisories) for of in readings.points):
        first = "" if len(kind.points) == 1 else "the first is "
        lines.append(
            f"{kind.code}: {len(kind.points)} of {count} points, {first}"
            f"{kind.points[0].title}: {Advisory(**kind.first)}"
        )
    missing = sum(of.complete and not of.has_all_advisories for of in readings.points)
    if missing:
        lines.append(f"advisories: {NOT_RECORDED} at {missing} of {count} points")
    return lines
