"""Items that a paper's ``paper.toml`` declares: a published table, a figure over an axis.

```toml
[tables.table2]                 # published numbers next to measured ones, a line for each point
sweep = "table2"
file = "table2.csv"             # its line of a point has the point's values in the same columns
columns = {goodput = "goodput_kbps", delay = "delay_s"} # of the published numbers, by quantity
keys = {bearer = "bearer", minth = "minth"}             # headings of the columns that name a line
row = {bearer = "bearer", minth = "minth"}              # what names a row of the document

[figures.fig1]                  # a panel for each quantity, a curve for each value of an axis
sweep = "fig1"
title = "..."                   # if it is not that of the item
x = {size = "buffer, SDUs"}     # the axis and its name
curves = {flows = ["1 flow", "2 flows"]}
panels = {goodput = "goodput, kbit/s", delay = "delay, s"}
row = {buffer = "size", flows = "flows"}
file = "table6.csv"             # published points, if there are any: lines that name a curve
columns = {goodput = "goodput_kbps", delay = "delay_s"}
where = {size = 40}             # values of the points that they belong to
label = "paper, Table 6"
note = "..."                    # below the table
```

A row has entries of the point's place or of its published line, by name. The quantities are those
that the paper gives to `paper_of`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.reproduction.base import Row
from airpath.reproduction.compare import Key, comparison
from airpath.reproduction.files import read_table
from airpath.reproduction.items import Cells, Evaluate, Found, grouped, item_of
from airpath.reproduction.parameter_plot import ParameterPlot
from airpath.reproduction.published import parsed, published_mean
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import Sweeps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure_item", "table_item"]


class _Declared:
    """What both kinds have: the points of a sweep, the published lines, the rows.

    Parameters
    ----------
    directory : Path
        Of the paper.
    spec : mapping
        The table of the item in ``paper.toml``.
    sweeps : Sweeps
        Of the paper.
    quantities : mapping of str to Measured
        By name.
    """

    def __init__(
        self,
        directory: Path,
        spec: Mapping[str, Any],
        sweeps: Sweeps,
        quantities: Mapping[str, Measured],
    ) -> None:
        self.spec = spec
        self.points = sweeps.points(spec["sweep"])
        self.cells = [point.cell for point in self.points]
        self.quantities = quantities
        self.lines = read_table(directory, spec["file"]) if "file" in spec else []

    def _line_of(self, place: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the published line of a point; empty if there is none."""
        for line in self.lines:
            shared = [axis for axis in place if axis in line]
            if shared and all(parsed(line[axis]) == place[axis] for axis in shared):
                return line
        return {}

    def _rows(self, session: Session, names: Sequence[str], *, compared: bool) -> list[Row]:
        rows = []
        for point in self.points:
            line = self._line_of(point.place) if compared else {}
            entries = {**{name: parsed(text) for name, text in line.items()}, **point.place}
            place = {name: entries[entry] for name, entry in self.spec["row"].items()}
            for name in names:
                column = self.spec["columns"][name] if line else None
                theirs = None if column is None else published_mean(line, column)
                rows.append(self.quantities[name].row(session, point.cell, place, theirs))
        return rows


class _Table(_Declared):
    """A published table."""

    def found(self, session: Session, title: str) -> Found:
        """Return the numbers of each point, published and measured: rows and the table."""
        names = list(self.spec["columns"])
        rows = self._rows(session, names, compared=True)
        keys = [Key(*each) for each in self.spec["keys"].items()]
        shown = [self.quantities[name].shown() for name in names]
        runs = session.effort_of(self.cells[0]).describe()
        about = f"ours: {runs}; ± are {100 * session.paper.confidence:g} % intervals."
        return rows, [comparison(title, rows, keys, shown, [about])]


class _Figure(_Declared):
    """Quantities over an axis, a curve for each value of another."""

    @property
    def plot(self) -> ParameterPlot:
        """The figure and its table."""
        [(x, name)] = self.spec["x"].items()
        [(axis, labels)] = self.spec["curves"].items()
        curves = grouped(self.points, lambda point: point.place[axis])
        parameter, _, unit = name.partition(", ")
        return ParameterPlot(
            parameter,
            unit,
            [point.place[x] for point in next(iter(curves.values()))],
            {
                label: [point.cell for point in points]
                for label, points in zip(labels, curves.values(), strict=True)
            },
            {title: self.quantities[name] for name, title in self.spec["panels"].items()},
            dodge=self.spec.get("dodge", 0.0),
        )

    def found(self, session: Session, title: str) -> Found:
        """Return a row for each measured number, and the table of the points."""
        rows = self._rows(session, list(self.spec["panels"]), compared=False)
        return rows, [self.plot.table(title, session, [self.spec["note"]])]

    def drawn(self, session: Session) -> Figure:
        """Return the figure."""
        return self.plot.panels(session, self._published())

    def _published(self) -> dict[str, dict[str, Any]]:
        """Return the published points by quantity and curve."""
        [x], [(axis, labels)] = self.spec["x"], self.spec["curves"].items()
        values = dict.fromkeys(point.place[axis] for point in self.points)
        found: dict[str, dict[str, Any]] = {name: {} for name in self.spec["panels"]}
        where = self.spec.get("where", {})
        for value, label in zip(values, labels, strict=True):
            places = [
                p.place for p in self.points if {axis: value, **where}.items() <= p.place.items()
            ]
            line = self._line_of(places[0]) if places else {}
            for name, column in self.spec.get("columns", {}).items() if line else ():
                mean = published_mean(line, column)
                found[name][label] = (where[x], f"{self.spec['label']}, {label}", mean)
        return found


def table_item(directory: Path, key: str, *about: Any) -> tuple[Cells, Evaluate]:
    """Return the cells and the evaluation of a published table; `about` as of `figure_item`."""
    table = _Table(directory, *about)
    return item_of(directory, key, table.cells, table.found)


def figure_item(
    directory: Path,
    key: str,
    spec: Mapping[str, Any],
    sweeps: Sweeps,
    quantities: Mapping[str, Measured],
) -> tuple[Cells, Evaluate]:
    """Return the cells and the evaluation of a figure over an axis.

    Parameters
    ----------
    directory : Path
        Of the paper.
    key : str
        Of the item.
    spec : mapping
        Its table in ``paper.toml``.
    sweeps : Sweeps
        Of the paper.
    quantities : mapping of str to Measured
        By name.
    """
    figure = _Figure(directory, spec, sweeps, quantities)
    legend = lambda session: f"{100 * session.paper.confidence:g} % intervals."  # noqa: E731
    about = (directory, key, figure.cells, figure.found, figure.drawn, legend)
    return item_of(*about, title=spec.get("title", ""))
