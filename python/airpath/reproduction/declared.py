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
from typing import Any

from airpath.reproduction.base import Cell, ItemResult, Row
from airpath.reproduction.compare import Key, comparison
from airpath.reproduction.files import read_table
from airpath.reproduction.formulas import Point
from airpath.reproduction.parameter_plot import ParameterPlot
from airpath.reproduction.published import parsed, published_mean
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import Sweeps

__all__ = ["DeclaredFigure", "DeclaredTable", "called"]


def called(key: str, title: str) -> str:
    """Return the title of an item after its name in the paper: ``Table 2: ...``."""
    name = key.rstrip("0123456789")
    word = {"table": "Table", "fig": "Fig."}.get(name)
    return title if word is None else f"{word} {key.removeprefix(name)}: {title}"


class _Declared:
    """What both kinds have: the points of a sweep, the published lines, the rows.

    Parameters
    ----------
    directory : Path
        Of the paper.
    key, title : str
        Of the item.
    spec : mapping
        Its table in ``paper.toml``.
    sweeps : Sweeps
        Of the paper.
    quantities : mapping of str to Measured
        By name.
    """

    def __init__(
        self,
        directory: Path,
        key: str,
        title: str,
        spec: Mapping[str, Any],
        sweeps: Sweeps,
        quantities: Mapping[str, Measured],
    ) -> None:
        self.key, self.title, self.spec = key, title, spec
        self.points = sweeps.points(spec["sweep"])
        self.quantities = quantities
        self.lines = read_table(directory, spec["file"]) if "file" in spec else []

    def evaluate(self, session: Session, out: Path | None) -> ItemResult:
        """Return the item, given the session and the directory of its files, if any are wanted."""
        raise NotImplementedError

    @property
    def cells(self) -> list[Cell]:
        """What is simulated."""
        return [point.cell for point in self.points]

    @property
    def heading(self) -> str:
        """The title after the name of the item: ``Table 2: ...``."""
        return called(self.key, self.spec.get("title", self.title))

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

    def _about(self, session: Session) -> str:
        runs = session.effort_of(self.cells[0]).describe()
        return f"ours: {runs}; ± are {100 * session.paper.confidence:g} % intervals."


class DeclaredTable(_Declared):
    """A published table."""

    def evaluate(self, session: Session, _out: Path | None) -> ItemResult:
        """Return the table: the numbers of each point, published and measured."""
        names = list(self.spec["columns"])
        rows = self._rows(session, names, compared=True)
        keys = [Key(*each) for each in self.spec["keys"].items()]
        shown = [self.quantities[name].shown() for name in names]
        table = comparison(self.heading, rows, keys, shown, [self._about(session)])
        known = [row for row in rows if row.ours is not None]
        complete = session.complete(self.cells)
        return ItemResult(self.key, self.title, known, [table], complete=complete)


class DeclaredFigure(_Declared):
    """Quantities over an axis, a curve for each value of another."""

    @property
    def plot(self) -> ParameterPlot:
        """The figure and its table."""
        [(x, name)] = self.spec["x"].items()
        [(axis, labels)] = self.spec["curves"].items()
        curves: dict[Any, list[Point]] = {}
        for point in self.points:
            curves.setdefault(point.place[axis], []).append(point)
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

    def evaluate(self, session: Session, out: Path | None) -> ItemResult:
        """Return the figure, a table of its points, and a row for each measured number."""
        complete, figures = session.complete(self.cells), []
        if out is not None and complete:
            about = f"{session.about}, {100 * session.paper.confidence:g} % intervals"
            stem = f"{session.paper.key}-{self.key}"
            figures = session.draw(
                lambda: self.plot.figure(session, self.heading, about, self._published()),
                *(out, stem, self.heading, session.about),
            )
        rows = self._rows(session, list(self.spec["panels"]), compared=False)
        known = [row for row in rows if row.ours is not None]
        table = self.plot.table(self.heading, session, [self.spec["note"]])
        return ItemResult(self.key, self.heading, known, [table], figures, complete=complete)

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
