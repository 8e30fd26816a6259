"""One measure over another on a whole grid of settings: a cloud of points, as table and figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.present.points import OPEN, Point, Points, enlarged
from airpath.reproduction.base import Cell, Table
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Cloud"]

COLOURS: Final = ("sky", "blue", "green", "orange", "red", "purple")
"""Of the lines."""


@dataclass(frozen=True)
class Cloud:
    """A grid of two parameters of a mechanism.

    Parameters
    ----------
    x, y : Measured
        Of the axes.
    decimals : tuple of int
        Of `y` and `x` in the table's entries.
    line : str
        Name of the parameter that is constant on a line.
    strength : str
        Name of the one that rises along it, with its unit.
    values : sequence of float
        Of that one.
    cells : mapping of int to sequence of Cell
        The lines, at most six, by the constant parameter; each in the order of `values`.
    plain : tuple of str and Cell
        Name and cell of what the mechanism is compared with.
    marked : mapping of str to tuple
        Markers and cells of settings that stand out, by their names in the legend.
    """

    x: Measured
    y: Measured
    decimals: tuple[int, int]
    line: str
    strength: str
    values: Sequence[float]
    cells: Mapping[int, Sequence[Cell]]
    plain: tuple[str, Cell]
    marked: Mapping[str, tuple[str, Cell]] = field(default_factory=dict)

    def table(self, title: str, session: Session) -> Table:
        """Return both measures, `y` first, a line for each value of the parameter that rises."""
        lines = []
        for place, value in enumerate(self.values):
            line = [f"{value:g}"]
            for cells in self.cells.values():
                estimates = [each.estimate(session, cells[place]) for each in (self.y, self.x)]
                pairs = zip(estimates, self.decimals, strict=True)
                line.append("/".join(f"{found.mean:.{d}f}" for found, d in pairs if found))
            lines.append(line)
        units = [f"{each.name}, {each.unit}" for each in (self.y, self.x)]
        heading = f"{' / '.join(units)}, by {self.line}"
        columns = [("", self.strength), *((heading, str(value)) for value in self.cells)]
        name, plain = self.plain
        both = [f"{each.text(session, plain)} {each.unit}" for each in (self.y, self.x)]
        return Table(title, columns, lines, [f"{name}: {', '.join(both)}."])

    def figure(
        self,
        session: Session,
        title: str,
        about: str,
        names: tuple[str, str],
        published: Mapping[str, tuple[str, Point]],
    ) -> Figure:
        """Return the figure: `y` over `x` from 0 on, and its part enlarged.

        Parameters
        ----------
        session : Session
            Has the cells.
        title, about : str
            Of the figure; how the lines run stands behind `about`.
        names : tuple of str
            Of the axes.
        published : mapping of str to tuple
            Markers and points of the paper by what the legend says of them.
        """
        pale = {"lw": 0.8, "alpha": 0.35}
        shown = []
        for (value, cells), colour in zip(self.cells.items(), COLOURS, strict=False):
            look = {"marker": "o", "color": plotting.COLOURS[colour], "markersize": 3.5}
            label = f"{self.line} {value}"
            shown.append(Points(label, self._points(cells, session), look, pale, begins=True))
        name, plain = self.plain
        for label, (marker, cell) in {**self.marked, name: ("*", plain)}.items():
            look = _look(marker, "black", 4)
            shown.append(Points(label, self._points([cell], session), look))
        for label, (marker, point) in published.items():
            shown.append(Points(label, [point], {**_look(marker, "grey", 5), **OPEN}))
        strength, _, unit = self.strength.partition(", ")
        about += f" · along each pale line {strength} rises from {self.values[0]:g} (large dot) "
        about += f"to {self.values[-1]:g} {unit}".rstrip()
        return enlarged(shown, names, title, about)

    def _points(self, cells: Sequence[Cell], session: Session) -> list[Point]:
        both = [[each.estimate(session, cell) for each in (self.x, self.y)] for cell in cells]
        return [
            Point(x.mean, y.mean, x.error_bar, y.error_bar)
            for x, y in both
            if x is not None and y is not None
        ]


def _look(marker: str, colour: str, zorder: int) -> dict[str, Any]:
    size = 11 if marker == "*" else 7
    return {
        "marker": marker,
        "color": plotting.COLOURS[colour],
        "markersize": size,
        "zorder": zorder,
    }
