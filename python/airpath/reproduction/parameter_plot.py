"""Measures over a parameter, for several groups of cells, as table and figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.present.points import Point, draw_means
from airpath.reproduction.base import Cell, Table
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LOOKS", "ParameterPlot", "means_of"]

LOOKS: Final = (("blue", "o"), ("orange", "s"), ("green", "D"), ("red", "P"))
"""Colour and marker of each group."""


@dataclass(frozen=True)
class ParameterPlot:
    """Cells over a parameter.

    Parameters
    ----------
    parameter, unit : str
        The parameter, and what its values are.
    values : sequence of int or float
        Of the parameter.
    groups : mapping of str to sequence of Cell
        At most as many as `looks`; each has a cell for each value.
    quantities : mapping of str to Measured
        What is shown, by the titles of the figure's panels.
    looks : sequence of tuple
        Colour and marker of each group. Default: those of the first four.
    """

    parameter: str
    unit: str
    values: Sequence[float]
    groups: Mapping[str, Sequence[Cell]]
    quantities: Mapping[str, Measured]
    looks: Sequence[tuple[str, str]] = LOOKS

    def table(self, title: str, session: Session, notes: Sequence[str]) -> Table:
        """Return the table: a line for each value, the quantities of each group."""
        shown = list(self.quantities.values())
        lines = [
            [
                f"{value:g}",
                *(q.text(session, cells[n]) for cells in self.groups.values() for q in shown),
            ]
            for n, value in enumerate(self.values)
        ]
        columns = [("", self.parameter)]
        columns += [(group, each.name) for group in self.groups for each in shown]
        return Table(title, columns, lines, notes)

    def panels(self, session: Session) -> Figure:
        """Return the figure without its heading: a panel for each quantity, from 0 on."""
        figure = plotting.new_figure(4.8 * len(self.quantities), 4.8)
        panels: Any = figure.subplots(1, len(self.quantities))
        for panel, (name, quantity) in zip(panels, self.quantities.items(), strict=True):
            self.draw(panel, quantity, session)
            axis = f"{self.parameter}, {self.unit}"
            panel.set(xlabel=axis, title=name, xlim=(0, 1.03 * max(self.values)))
            panel.set_ylim(bottom=0)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        return figure

    def draw(self, panel: Axes, quantity: Measured, session: Session) -> None:
        """Draw a quantity of all groups over the parameter."""
        for (group, cells), (colour, marker) in zip(self.groups.items(), self.looks, strict=False):
            points = means_of(session, quantity, cells, self.values)
            draw_means(panel, points, colour, marker, group)


def means_of(
    session: Session, quantity: Measured, cells: Sequence[Cell], places: Sequence[float]
) -> list[Point]:
    """Return the means of the simulated ones of some cells, each at its place on the x axis."""
    known = [(x, quantity.estimate(session, cell)) for x, cell in zip(places, cells, strict=True)]
    return [Point(x, e.mean, 0.0, e.error_bar) for x, e in known if e is not None]
