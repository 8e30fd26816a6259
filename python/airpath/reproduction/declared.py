"""Published tables that a paper's ``paper.toml`` declares; `figures` has its figures.

```toml
[tables.table2]                 # published numbers next to measured ones, a line for each point
sweep = "table2"
file = "table2.csv"             # its line of a point has the point's values in the same columns
columns = {goodput = "goodput_kbps", delay = "delay_s"} # of the published numbers, by quantity
keys = {bearer = "bearer", minth = "minth"}             # headings of the columns that name a line
row = {bearer = "bearer", minth = "minth"}              # what names a row of the document
```

A row has entries of the point's place or of its published line, by name. The quantities are those
that the paper gives to `paper_of`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airpath.reproduction.base import Row
from airpath.reproduction.compare import Key, comparison
from airpath.reproduction.files import read_table
from airpath.reproduction.items import Cells, Evaluate, Found, item_of
from airpath.reproduction.published import line_of, parsed, published_mean
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import Sweeps

__all__ = ["table_item"]


class _Table:
    """A published table; parameters as of `table_item`."""

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
        self.lines = read_table(directory, spec["file"])

    def found(self, session: Session, title: str) -> Found:
        """Return the numbers of each point, published and measured: rows and the table."""
        names = list(self.spec["columns"])
        rows = self._rows(session, names)
        keys = [Key(*each) for each in self.spec["keys"].items()]
        shown = [self.quantities[name].shown() for name in names]
        runs = session.effort_of(self.cells[0]).describe()
        about = f"ours: {runs}; ± are {100 * session.paper.confidence:g} % intervals."
        return rows, [comparison(title, rows, keys, shown, [about])]

    def _rows(self, session: Session, names: Sequence[str]) -> list[Row]:
        rows = []
        for point in self.points:
            line = line_of(self.lines, point.place)
            entries = {**{name: parsed(text) for name, text in line.items()}, **point.place}
            place = {name: entries[entry] for name, entry in self.spec["row"].items()}
            for name in names:
                theirs = published_mean(line, self.spec["columns"][name]) if line else None
                rows.append(self.quantities[name].row(session, point.cell, place, theirs))
        return rows


def table_item(
    directory: Path,
    key: str,
    spec: Mapping[str, Any],
    sweeps: Sweeps,
    quantities: Mapping[str, Measured],
) -> tuple[Cells, Evaluate]:
    """Return the cells and the evaluation of a published table.

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
    table = _Table(directory, spec, sweeps, quantities)
    return item_of(directory, key, table.cells, table.found)
