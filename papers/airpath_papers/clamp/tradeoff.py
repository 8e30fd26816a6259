"""Measures over another measure: rates over the mean queueing delay that a knob gives.

A knob of the scenario (a buffer, a parameter) is swept; papers then show what is measured over what
else is measured, for people choose a delay and no knob.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from airpath.present import style as plotting
from airpath.present.points import Point, Points, draw
from airpath.reproduction.base import Cell
from airpath.reproduction.claims import Value, means
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Curve", "OutsideSweepError", "Tradeoff"]


class OutsideSweepError(ValueError):
    """An abscissa that no two cells of a sweep enclose."""


@dataclass(frozen=True)
class Tradeoff:
    """Cells of a sweep, placed by something that is measured in them.

    Parameters
    ----------
    cells : sequence of Cell
        In the order of the knob; at least two.
    over : callable
        Takes out of a replication's statistics what places it: the abscissa.
    """

    cells: Sequence[Cell]
    over: Value

    def places(self, session: Session) -> list[float]:
        """Return the abscissa of each cell, the mean over its runs."""
        return means(session, self.cells, self.over)

    def at(self, session: Session, place: float, value: Value) -> float:
        """Return a measure at an abscissa, by linear interpolation between two neighbours.

        Parameters
        ----------
        session : Session
            Has the cells.
        place : float
            The abscissa.
        value : callable
            Takes the measure out of a replication's statistics.

        Raises
        ------
        OutsideSweepError
            If the sweep does not reach the abscissa.
        """
        (before, x_before), (after, x_after) = self.neighbours(session, place)
        low, high = means(session, [before, after], value)
        share = (place - x_before) / (x_after - x_before)
        return low + share * (high - low)

    def neighbours(
        self, session: Session, place: float
    ) -> tuple[tuple[Cell, float], tuple[Cell, float]]:
        """Return the two neighbours of the sweep around an abscissa, each with its own.

        Raises
        ------
        OutsideSweepError
            If the sweep does not reach the abscissa.
        """
        found = zip(self.cells, self.places(session), strict=True)
        for before, after in pairwise(sorted(found, key=lambda each: each[1])):
            if before[1] <= place <= after[1] and before[1] < after[1]:
                return before, after
        low, high = min(self.places(session)), max(self.places(session))
        raise OutsideSweepError(
            f"{place:g} is outside the sweep, which goes from {low:g} to {high:g}"
        )

    def between(self, session: Session, low: float, high: float) -> list[Cell]:
        """Return the cells whose abscissa is from `low` to `high`, in rising order of it."""
        found = zip(self.places(session), range(len(self.cells)), strict=True)
        return [self.cells[n] for place, n in sorted(found) if low <= place <= high]

    def spacing(self, session: Session) -> float:
        """Return the largest ratio of neighbouring abscissas."""
        places = sorted(self.places(session))
        return max(after / before for before, after in pairwise(places))


@dataclass(frozen=True)
class Curve:
    """How a measure of a sweep is drawn.

    Parameters
    ----------
    label : str
        What the legend says.
    along : Tradeoff
        The sweep.
    value : Measured
        The ordinate.
    colour : str
        Of the palette of all figures.
    marker, line : str
        Matplotlib's. Default a dot and a solid line.
    """

    label: str
    tradeoff: Tradeoff
    value: Measured
    colour: str
    marker: str = "o"
    line: str = "-"

    def draw(self, panel: Axes, session: Session, scale: float = 1.0) -> None:
        """Draw the cells that were simulated, with intervals; `scale` multiplies the abscissa."""
        points = []
        for cell in self.tradeoff.cells:
            x, y = session.estimate(cell, self.tradeoff.over), self.value.estimate(session, cell)
            if x is not None and y is not None:
                point = Point(scale * x.mean, y.mean, scale * x.error_bar, y.error_bar)
                points.append(point)
        colour = plotting.COLOURS[self.colour]
        look: dict[str, Any] = {"color": colour, "marker": self.marker, "markersize": 4}
        line = {"lw": 1.0, "linestyle": self.line}
        draw(panel, Points(self.label, sorted(points), look, line))
