"""Published tables that a paper's ``paper.toml`` declares; `figures` has its figures.

```toml
[tables.table2]                 # published numbers next to measured ones, a line for each point
sweep = "table2"
file = "table2.csv"             # its line of a point has the point's values in the same columns
columns = {goodput = "goodput_kbps", delay = "delay_s"} # of the published numbers, by quantity
keys = {bearer = "bearer", minth = "minth"}             # headings of the columns that name a line
row = {bearer = "bearer", minth = "minth"}              # what names a row of the document
name = "..."                    # of the item, if it is not its title
words.domain = ["theirs", "ours"] # columns of words: entries of `Row.extra`
parts = [                       # several tables; default: one with all quantities
  {title = "Table {number}, {bearer} kbit/s: goodput", shown = ["goodput"], notes = ["..."]},
  {title = "Table {number}: the model", shown = ["delay", "domain"]},
]
```

A row has entries of the point's place or of its published line, by name. The quantities are those
that the paper gives to `paper_of`, measured or computed. Titles may name the number of the table
and values of its first point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from airpath.reproduction.base import Row, Table
from airpath.reproduction.compare import Key, NoteColumns, comparison
from airpath.reproduction.entries import (
    TABLE,
    TABLES,
    TEXT,
    TEXTS,
    WORDS,
    Kind,
    refuse_fields,
    refuse_value,
    refuse_wrong,
)
from airpath.reproduction.files import MANIFEST, read_table, refuse_unknown
from airpath.reproduction.items import Cells, Evaluate, Found, item_of
from airpath.reproduction.published import line_of, parsed, published_mean
from airpath.reproduction.quantities import Computed, Measured
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import Sweeps

__all__ = ["table_item"]

_TABLE: Final[Mapping[str, Kind]] = {
    "sweep": TEXT,
    "file": TEXT,
    "name": TEXT,
    "words": TABLE,
    "parts": TABLES,
    "columns": WORDS,
    "keys": WORDS,
    "row": WORDS,
}
_REQUIRED: Final = ("sweep", "file", "columns", "keys", "row")
_PART: Final[Mapping[str, Kind]] = {"title": TEXT, "shown": TEXTS, "notes": TEXTS}
_PAIR: Final = Kind(
    "a list of two texts",
    lambda value: TEXTS.accepts(value) and len(value) == 2,
    '["theirs", "ours"]',
)


class _Table:
    """A published table; parameters as of `table_item`."""

    def __init__(
        self,
        directory: Path,
        key: str,
        spec: Mapping[str, Any],
        sweeps: Sweeps,
        quantities: Mapping[str, Measured | Computed],
    ) -> None:
        self.key, self.spec = key, spec
        self.quantities = quantities
        place = f"{directory.name}/{MANIFEST}: tables.{key}"
        refuse_wrong(place, spec, _TABLE, _REQUIRED)
        if not (directory / spec["file"]).is_file():
            refuse_value(place, "file", spec["file"], "no such file", "Write a file of the paper")
        self.lines = read_table(directory, spec["file"])
        refuse_unknown(f"{place}.sweep", [spec["sweep"]], sweeps.names(), "no sweep")
        self.points = sweeps.points(spec["sweep"])
        if not self.points:
            refuse_value(place, "sweep", spec["sweep"], "has no points", "Write another sweep")
        self.cells = [point.cell for point in self.points]
        self._check(place)

    def _check(self, place: str) -> None:
        """Refuse names of quantities, columns and places that there are not, and wrong parts."""
        spec, words = self.spec, self.spec.get("words", {})
        refuse_unknown(f"{place}.columns", spec["columns"], self.quantities, "no quantity")
        printed = [*dict.fromkeys(name for line in self.lines for name in line)]
        refuse_unknown(f"{place}.columns", spec["columns"].values(), printed, "no column")
        for point in self.points:
            line = line_of(self.lines, point.place)
            at = f"{place}.row" if line else f"{place}.row (a point without a published line)"
            refuse_unknown(at, spec["row"].values(), {**line, **point.place}, "no column or axis")
        refuse_unknown(f"{place}.keys", spec["keys"], spec["row"], "no entry of row")
        for name, entries in words.items():
            refuse_wrong(f"{place}.words", {name: entries}, {name: _PAIR})
        shown = [*spec["columns"], *words]
        for part in spec.get("parts", []):
            refuse_wrong(f"{place}.parts", part, _PART, ["title"])
            refuse_unknown(f"{place}.parts.shown", part.get("shown", []), shown, "not in columns")
        for at, text in [
            (f"{place}.name", spec.get("name", "")),
            *((f"{place}.parts.title", part["title"]) for part in spec.get("parts", [])),
        ]:
            refuse_fields(at, text, {"number": "", **self.points[0].place})

    def found(self, session: Session, title: str) -> Found:
        """Return the numbers of each point, published and measured: rows and the table."""
        rows = self._rows(session)
        parts = self.spec.get("parts", [{"title": title}])
        return rows, [self._table(session, rows, **part) for part in parts]

    def _table(
        self,
        session: Session,
        rows: Sequence[Row],
        title: str,
        shown: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> Table:
        keys = [Key(*each) for each in self.spec["keys"].items()]
        names, words = shown or list(self.spec["columns"]), self.spec.get("words", {})
        columns = [
            NoteColumns(name, words[name]) if name in words else self.quantities[name].shown()
            for name in names
        ]
        about = []
        if any(isinstance(self.quantities.get(name), Measured) for name in names):
            runs = session.effort_of(self.cells[0]).describe()
            about = [f"ours: {runs}; ± are {100 * session.paper.confidence:g} % intervals."]
        return comparison(self.formatted(title), rows, keys, columns, [*about, *notes])

    def formatted(self, title: str) -> str:
        """Return a title with the number of the table and the values that it names."""
        number = self.key.removeprefix("table")
        return title.format(number=number, **self.points[0].place)

    def _rows(self, session: Session) -> list[Row]:
        rows = []
        for point in self.points:
            line = line_of(self.lines, point.place)
            entries = {**{name: parsed(text) for name, text in line.items()}, **point.place}
            place = {name: entries[entry] for name, entry in self.spec["row"].items()}
            for name, column in self.spec["columns"].items():
                theirs = published_mean(line, column) if line and line[column] else None
                rows.append(self.quantities[name].row(session, point.cell, place, theirs))
        return rows


def table_item(
    directory: Path,
    key: str,
    spec: Mapping[str, Any],
    sweeps: Sweeps,
    quantities: Mapping[str, Measured | Computed],
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
    quantities : mapping
        By name.

    Raises
    ------
    BadValueError
        If an entry is not accepted: a key, the name of a quantity, column or axis, a title.
    """
    table = _Table(directory, key, spec, sweeps, quantities)
    name = table.formatted(spec.get("name", ""))
    return item_of(directory, key, table.cells, table.found, name=name)
