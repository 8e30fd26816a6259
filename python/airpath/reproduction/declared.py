"""Published tables declared in a paper's ``paper.toml``; for declared figures, see `figures`.

```toml
[tables.table2]                 # published and measured numbers, a line for each point
points = "table2"               # as in `figures`. Default: the lines of the file
file = "table2.csv"             # the line of a point has the values of its axes in columns
columns = {goodput = "goodput_kbps", delay = "delay_s"} # published number of each quantity;
                                # empty: no published number
keys = {bearer = "bearer", minth = "minth"}             # headings of the columns that name a line
row = {bearer = "bearer", minth = "minth"}              # entries that name a row of the document
name = "..."                    # name of the item, if it differs from its title
parts = [                       # several tables; default: one with all quantities
  {title = "Table {number}, {bearer} kbit/s: goodput", shown = ["goodput"], notes = ["..."]},
  {title = "Table {number}: the model", shown = ["delay", "domain"], order = ["minth"]},
]
```

An entry of `row` names an axis of the point, or a column of its published line. In a table without
`points`, each published line is a point that is not simulated, and its columns are the point's
axes. The available quantities are those that the paper passes to `paper_of`. Each entry of `shown`
is a quantity, or the name of a column set of the paper. A quantity that is not in `columns` has no
row in the JSON document. Titles may contain the number of the table and axis values of the table's
first point. A part may override the entries from `points` to `row`. Its entry `order` lists the
entries by which its lines are sorted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from airpath.reproduction.base import Row, Table
from airpath.reproduction.chosen import POINTS, refuse_points
from airpath.reproduction.compare import ColumnSet, Key, NoteColumns, comparison
from airpath.reproduction.entries import (
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
from airpath.reproduction.quantities import MeasuredQuantity
from airpath.reproduction.session import Session
from airpath.reproduction.spread import Naming
from airpath.reproduction.sweeps import Sweeps, model_point

__all__ = ["table_item"]

_ROWS: Final[Mapping[str, Kind]] = {
    "points": POINTS,
    "file": TEXT,
    "columns": WORDS,
    "keys": WORDS,
    "row": WORDS,
}
_TABLE: Final[Mapping[str, Kind]] = {"name": TEXT, "parts": TABLES, **_ROWS}
_PART: Final[Mapping[str, Kind]] = {
    "title": TEXT,
    "shown": TEXTS,
    "notes": TEXTS,
    "order": TEXTS,
    **_ROWS,
}
_REQUIRED: Final = ("file", "columns", "keys", "row")


def _columns_of(shown: Any) -> ColumnSet | NoteColumns | None:
    """Return the columns of a quantity; return a column set unchanged; else return None."""
    if isinstance(shown, ColumnSet | NoteColumns):
        return shown
    return shown.shown() if hasattr(shown, "shown") else None


class _Part:
    """One table of an item: its points, their published lines, and the rows and columns."""

    def __init__(
        self,
        place: str,
        directory: Path,
        spec: Mapping[str, Any],
        sweeps: Sweeps,
        quantities: Mapping[str, Any],
        naming: Naming,
    ) -> None:
        self.spec, self._quantities, self._naming = spec, quantities, naming
        if not (directory / spec["file"]).is_file():
            refuse_value(place, "file", spec["file"], "no such file", "Use a file of the paper")
        lines = read_table(directory, spec["file"])
        if not lines:
            refuse_value(place, "file", spec["file"], "has no lines", "Use another file")
        printed = dict.fromkeys(name for line in lines for name in line)
        refuse_unknown(
            f"{place}.columns", filter(None, spec["columns"].values()), printed, "no column"
        )
        if "points" in spec:
            points = refuse_points(place, spec["points"], sweeps)
            found = [(point, line_of(lines, point.place)) for point in points]
        else:
            refuse_unknown(f"{place}.row", spec["row"].values(), printed, "no column")
            found = [(model_point(self._named({}, line)), line) for line in lines]
        self.points, self._lines = zip(*found, strict=True)
        naming.refuse_values(f"{place}.points", self.points, spec["keys"])
        self.shown = spec.get("shown") or list(spec["columns"])
        self._check(place)

    def _check(self, place: str) -> None:
        """Reject unknown names of quantities, columns and axes."""
        spec, quantities = self.spec, self._quantities
        known = [name for name, each in quantities.items() if hasattr(each, "row")]
        refuse_unknown(f"{place}.columns", spec["columns"], known, "no quantity")
        for point, line in zip(self.points, self._lines, strict=True):
            at = f"{place}.row" if line else f"{place}.row (a point without a published line)"
            refuse_unknown(at, spec["row"].values(), {**line, **point.place}, "no column or axis")
        for key in ("keys", "order"):
            refuse_unknown(f"{place}.{key}", spec.get(key, ()), spec["row"], "no entry of row")
        known = [name for name, each in quantities.items() if _columns_of(each) is not None]
        refuse_unknown(f"{place}.parts.shown", self.shown, known, "no quantity")
        refuse_fields(f"{place}.parts.title", spec["title"], {"number": "", **self.points[0].place})

    def _named(self, place: Mapping[str, Any], line: Mapping[str, str]) -> dict[str, Any]:
        """Return the entries that identify the row of a point."""
        entries = {**{name: parsed(text) for name, text in line.items()}, **place}
        return {name: entries[entry] for name, entry in self.spec["row"].items()}

    def rows(self, session: Session, columns: Mapping[str, str]) -> list[Row]:
        """Return the rows. `columns` maps a quantity to the file's column of published numbers."""
        rows = []
        for point, line in zip(self.points, self._lines, strict=True):
            place = self._named(point.place, line)
            for name, column in columns.items():
                quantity = self._quantities[name]
                if isinstance(quantity, MeasuredQuantity) and not point.cell.scenario:
                    continue
                published = published_mean(line, column) if line.get(column) else None
                rows.append(quantity.row(session, point.cell, place, published))
        return rows

    def table(self, session: Session, rows: Sequence[Row], title: str) -> Table:
        """Return the table of the given rows and of the other quantities in `shown`."""
        spec, quantities = self.spec, self._quantities
        more = [n for n in self.shown if n not in spec["columns"] and hasattr(quantities[n], "row")]
        whole = [*rows, *self.rows(session, dict.fromkeys(more, ""))]
        whole.sort(key=lambda row: [row.row[name] for name in spec.get("order", ())])
        word = self._naming.word
        keys = [Key(key, name, partial(word, key)) for key, name in spec["keys"].items()]
        about = []
        if any(isinstance(quantities[name], MeasuredQuantity) for name in self.shown):
            runs = session.effort_of(self.points[0].cell).describe()
            about = [f"Airpath: {runs}; ± are {100 * session.paper.confidence:g} % intervals."]
        columns = [found for n in self.shown if (found := _columns_of(quantities[n]))]
        return comparison(title, whole, keys, columns, [*about, *spec.get("notes", [])])


def table_item(
    directory: Path,
    key: str,
    spec: Mapping[str, Any],
    sweeps: Sweeps,
    quantities: Mapping[str, Any],
    naming: Naming,
) -> tuple[Cells, Evaluate]:
    """Return the cells of a published table, and the function that evaluates the table.

    Parameters
    ----------
    directory : Path
        Directory of the paper.
    key : str
        Key of the item.
    spec : mapping
        Table of the item in ``paper.toml``.
    sweeps : Sweeps
        Sweeps of the paper.
    quantities : mapping
        Maps names to quantities, and to `ColumnSet`s of their rows.
    naming : Naming
        Display names of the values of `keys`.

    Raises
    ------
    BadValueError
        If a key, the name of a quantity, column or axis, or a title is not accepted.
    """
    place = f"{directory.name}/{MANIFEST}: tables.{key}"
    refuse_wrong(place, spec, _TABLE, _REQUIRED)
    whole = {name: entry for name, entry in spec.items() if name in _ROWS}
    parts = []
    for each in spec.get("parts", [{"title": ""}]):
        refuse_wrong(f"{place}.parts", each, _PART, ["title"])
        parts.append(_Part(place, directory, {**whole, **each}, sweeps, quantities, naming))
    known = {"number": key.removeprefix("table"), **parts[0].points[0].place}
    refuse_fields(f"{place}.name", spec.get("name", ""), known)

    def found(session: Session, title: str) -> Found:
        rows: dict[str, list[Row]] = {}
        tables = []
        for part in parts:
            own = json.dumps([part.spec.get(name) for name in _ROWS if name != "keys"])
            if own not in rows:
                rows[own] = part.rows(session, part.spec["columns"])
            of = {**known, **part.points[0].place}
            named = part.spec["title"].format(**of) or title
            tables.append(part.table(session, rows[own], named))
        return [row for each in rows.values() for row in each], tables

    cells = [point.cell for part in parts for point in part.points if point.cell.scenario]
    name = spec.get("name", "").format(**known)
    return item_of(directory, key, list(dict.fromkeys(cells)), found, name=name)
