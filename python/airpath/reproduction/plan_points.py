"""Points of papers in the plan of a ledger: their names, and which of them are out of date.

Several commands share a ledger: other items, other modes, other papers. The name of a point has all
in which their points differ, so that no two of them have the same name.
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
    """Return the values that name a point in a ledger.

    Parameters
    ----------
    paper : Paper
        Whose point it is.
    cell : SweepPoint
        What computes it.
    effort : Effort
        Of the point: how long it is simulated.
    """
    series = {"record.series": list(cell.series)} if cell.series else {}
    times = {"duration_s": effort.duration_s, "warmup_s": effort.warmup_s}
    return {"paper": paper.key, "scenario": cell.scenario, **cell.axes, **times, **series}


class CurrentPoints:
    """Decides whether a point of a plan is one that the paper has today.

    It is if a sweep, an item or a claim has its values, and its scenario is still the same. Points
    of a function that no sweep uses are computed by the paper: their scenarios decide. All points
    of others are left as they are.

    Parameters
    ----------
    paper : Paper
        Whose points are checked.
    """

    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self._reading = Reading()

    @cached_property
    def known(self) -> set[SweepPoint]:
        """What computes the points of sweeps, items and claims, of all modes."""
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
        """Return whether a point of a plan is one of today's."""
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
