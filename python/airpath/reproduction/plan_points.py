"""Names the points of papers in the plan of a ledger, and detects outdated points.

Several commands with different items, modes and papers may share a ledger. The name of a point
contains all values in which points may differ, so that names are unique.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from airpath.engine.inputs import Reading
from airpath.errors import AirpathError
from airpath.reproduction.base import Effort, Paper
from airpath.sweeps.axes import key_of
from airpath.sweeps.job import job_of

if TYPE_CHECKING:
    from airpath.reproduction.sweeps import SweepPoint
    from airpath.sweeps.plan import Point

__all__ = ["CurrentPoints", "named"]


def named(paper: Paper, cell: SweepPoint, effort: Effort) -> dict[str, Any]:
    """Return the values that identify a point in a ledger.

    Parameters
    ----------
    paper : Paper
        Paper of the point.
    cell : SweepPoint
        Cell of the point.
    effort : Effort
        Effort of the mode; it has the default duration and warm-up.
    """
    series = {"record.series": list(cell.series)} if cell.series else {}
    times = {"duration_s": effort.duration_s, "warmup_s": effort.warmup_s}
    return {"paper": paper.key, "scenario": cell.scenario, **cell.axes, **times, **series}


class CurrentPoints:
    """Test whether a point of a plan still belongs to the paper.

    A point belongs to the paper if a sweep, an item or a claim contains a cell with its axis
    values, and its scenario is unchanged. For points of a scenario function that no sweep uses,
    only the scenario is compared. Points of other papers are always accepted.

    Parameters
    ----------
    paper : Paper
        Paper whose points are checked.
    """

    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self._reading = Reading()

    @cached_property
    def known(self) -> set[SweepPoint]:
        """Cells of sweeps, items and claims, in all modes."""
        found = self._paper.sweeps.known_cells()
        for item in self._paper.items:
            found.update(() if callable(item.cells) else item.cells)
        for claim in self._paper.claims:
            found.update(claim.cells)
        return found

    @cached_property
    def _own_times(self) -> Mapping[tuple[Any, ...], list[tuple[float, float]]]:
        """Durations and warm-ups of the cells, s, by scenario, axes and series."""
        found: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
        for cell in self.known:
            times = (cell.duration_s, cell.warmup_s)
            found.setdefault((cell.scenario, cell.text, cell.series), []).append(times)
        return found

    @cached_property
    def _functions(self) -> set[str]:
        return {cell.scenario for cell in self.known}

    def __call__(self, point: Point) -> bool:
        """Return whether a point of a plan is up to date."""
        from airpath.reproduction.sweeps import SweepPoint

        axes = dict(point.values)
        if axes.pop("paper", None) != self._paper.key:
            return True
        times = (axes.pop("duration_s"), axes.pop("warmup_s"))
        series = tuple(axes.pop("record.series", ()))
        cell = SweepPoint(axes.pop("scenario"), key_of(axes), series=series)
        if cell.scenario in self._functions and not any(
            all(own < 0 or own == time for own, time in zip(spans, times, strict=True))
            for spans in self._own_times.get((cell.scenario, cell.text, series), [])
        ):
            return False
        try:
            scenario = self._paper.sweeps.scenario(cell, Effort(1, *times))
            job, _ = job_of(scenario, scenario.record.series, self._reading)
        except AirpathError:
            return False
        return job.digest == point.digest
