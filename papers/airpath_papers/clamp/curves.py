"""Measures over another measure: rates over the mean queueing delay that a knob gives.

A knob of the scenario (a buffer, a parameter) is swept; the figures then show a measure over a
delay, for people choose a delay and no knob.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airpath.present import style as plotting
from airpath.present.points import Point, Points, draw
from airpath.reproduction.base import Cell
from airpath.reproduction.claims import Value
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Curve"]


@dataclass(frozen=True)
class Curve:
    """A measure of a sweep over another one.

    Parameters
    ----------
    label : str
        What the legend says.
    cells : sequence of Cell
        Of the sweep.
    over : callable
        Takes the abscissa out of a replication's statistics, s.
    value : Measured
        The ordinate.
    colour : str
        Of the palette of all figures.
    marker, line : str
        Matplotlib's. Default a dot and a solid line.
    """

    label: str
    cells: Sequence[Cell]
    over: Value
    value: Measured
    colour: str
    marker: str = "o"
    line: str = "-"

    def points(self, session: Session, last_ms: float, least_runs: int) -> list[Point]:
        """Return the simulated points in the order of their abscissas, ms.

        Parameters
        ----------
        session : Session
            Has the cells.
        last_ms : float
            The largest abscissa, ms.
        least_runs : int
            Points of fewer runs have no intervals.
        """
        points = []
        for cell in self.cells:
            x, y = session.estimate(cell, self.over), self.value.estimate(session, cell)
            if x is None or y is None or 1e3 * x.mean > last_ms:
                continue
            halves = (x.error_bar, y.error_bar) if x.reps >= least_runs else (0.0, 0.0)
            points.append(Point(1e3 * x.mean, y.mean, 1e3 * halves[0], halves[1]))
        return sorted(points)

    def draw(
        self, panel: Axes, session: Session, last_ms: float = float("inf"), least_runs: int = 1
    ) -> float:
        """Draw the curve; return its highest point, intervals apart."""
        points = self.points(session, last_ms, least_runs)
        colour = plotting.COLOURS[self.colour]
        look: dict[str, Any] = {"color": colour, "marker": self.marker, "markersize": 4}
        draw(panel, Points(self.label, points, look, {"lw": 1.0, "linestyle": self.line}))
        return max((point.y for point in points), default=0.0)
