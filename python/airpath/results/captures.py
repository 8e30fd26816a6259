"""Packet captures: one pcapng file per capture point of the path, readable by Wireshark."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from airpath.arguments import check_all, display_name, error_prefix, whole
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError
from airpath.files import NewFile, output_directory
from airpath.results.provenance import as_comment
from airpath.scenario import Scenario
from airpath.scenario.base import nearest
from airpath.scenario.capture_points import capture_points

__all__ = ["CapturePlan", "captures_of", "checked_points"]


def checked_points(points: Sequence[str], resolved: ResolvedScenario) -> list[str]:
    """Return the capture points without duplicates, in the order of `capture_points`.

    Parameters
    ----------
    points : sequence of str
        Names of points; a string has names separated by commas.
    resolved : ResolvedScenario
        The resolved scenario.

    Raises
    ------
    BadValueError
        If points are unknown. The message names all unknown points.
    """
    if isinstance(points, str):
        points = points.split(",")
    known = capture_points(resolved.document)
    if not isinstance(points, Iterable):
        wrong = f"{error_prefix('capture', points)}: not a list of points"
        raise BadValueError(f"{wrong}. Expected one of: {', '.join(known)}.")
    points = list(points)
    problems = [
        f"{error_prefix('capture', point)}: not one of the accepted words. "
        f"{nearest(str(point), known)}."
        for point in points
        if point not in known
    ]
    if problems:
        raise BadValueError("\n".join(problems))
    return [point for point in known if point in points]


class CapturePlan:
    """Capture request: points, replication and output directory.

    Parameters
    ----------
    directory : path
        Directory; created if it does not exist.
    points : sequence of str
        Names of capture points.
    replication : int
        Index of the replication, from 0.
    """

    def __init__(
        self, directory: str | os.PathLike[str], points: Sequence[str], replication: int
    ) -> None:
        self.directory = output_directory(directory, "capture_to")
        self.replication = replication
        self.files = {point: self.directory / f"{point}.pcapng" for point in points}
        # Report unwritable files before the run.
        self._new = {point: NewFile(path) for point, path in self.files.items()}

    def request(self, about: Mapping[str, Any], name: str) -> tuple[Any, ...]:
        """Return the request to the engine: replication, comments, and the file of each point."""
        full = f"{as_comment(about)}# captured replication: {self.replication}\n"
        lines = (line.removeprefix("#").removeprefix(" ") for line in full.splitlines())
        short = (
            f"airpath {about['version']} ({about['commit']}); scenario {name}; "
            f"seed {about['seed']}; replication {self.replication}"
        )
        files = [(point, os.fspath(file.partial)) for point, file in self._new.items()]
        return self.replication, ("\n".join(lines), short), files

    @contextmanager
    def whole_or_not_at_all(self) -> Iterator[None]:
        """Remove incomplete capture files when the block ends."""
        try:
            yield
        finally:
            for file in self._new.values():
                file.drop()

    def keep(self, finished: Collection[int]) -> dict[str, Path]:
        """Rename the capture files to their final names if `finished` has their replication."""
        if self.replication not in finished:
            return {}
        for file in self._new.values():
            file.keep()
        return dict(self.files)


def captures_of(
    scenario: Scenario,
    resolved: ResolvedScenario,
    points: Sequence[str] | None,
    replication: int | None,
    directory: str | os.PathLike[str] | None,
    reps: int,
) -> CapturePlan | None:
    """Return the capture plan of a run, or None if the run captures nothing.

    Parameters
    ----------
    scenario : Scenario
        Scenario; its `capture` has the defaults of the other parameters.
    resolved : ResolvedScenario
        The resolved scenario.
    points : sequence of str, optional
        Names of capture points.
    replication : int, optional
        Index of the replication, from 0.
    directory : path, optional
        Output directory; created if it does not exist. None disables captures.
    reps : int
        Number of replications of the run.

    Raises
    ------
    BadValueError
        If a point is unknown, the replication is not run, or points are given without a directory.
    """
    if replication is not None:
        to = f"Use one from 0 to {reps - 1}"
        check_all(whole("capture_replication", replication, 0, None, to))
    if directory is None:
        if points is not None and checked_points(points, resolved):
            raise BadValueError(
                f"{display_name('capture')}: needs a directory. "
                f"Set {display_name('capture_to')} as well."
            )
        return None
    points = scenario.capture.points if points is None else points
    chosen = checked_points(points, resolved) if points else []
    number = scenario.capture.replication if replication is None else replication
    if not number < reps:
        given = f"{scenario.file or scenario.name}: capture.replication = {number}"
        head = given if replication is None else error_prefix("capture_replication", number)
        accepted = f"Use an integer from 0 to {reps - 1}, below {display_name('reps')}"
        raise BadValueError(f"{head}: is not run. {accepted}.")
    return CapturePlan(directory, chosen, number) if chosen else None
