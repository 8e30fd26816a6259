"""Tables whose entries are text, for display on a terminal, in a notebook or in a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

__all__ = ["MARK", "Cell", "Column", "Entry", "Table", "Tone"]

_LONGEST_LINE = 24
"""Entries with at most this number of characters are not wrapped."""

MARK = "!"
"""Prefix that marks an entry outside its tolerance."""

Tone = Literal["", "good", "bad", "quiet"]
"""Evaluation of an entry, which determines its colour."""


@dataclass(frozen=True)
class Cell:
    """Entry of a table with additional attributes.

    Parameters
    ----------
    text : str
        Displayed text.
    value : float or None
        Number by which the column is sorted; None for words and missing numbers.
    tone : Tone
        Evaluation, which determines the colour. Default: none.
    hint : str
        Text that is shown on hover. Default: none.
    """

    text: str
    value: float | None = None
    tone: Tone = ""
    hint: str = ""

    @property
    def is_long(self) -> bool:
        """Whether the entry may be wrapped."""
        return len(self.text) > _LONGEST_LINE


Column = str | tuple[str, str]
"""Heading of a column, or its group and heading; adjacent columns of a group share its name."""

Entry = str | Cell
"""An entry of a table."""


@dataclass(frozen=True)
class Table:
    """Table for display.

    Parameters
    ----------
    title : str
        Title of the table.
    columns : sequence of Column
        Headings of the columns.
    rows : sequence of sequence of Entry
        Rows; each has an entry for each column.
    notes : sequence of str
        Sentences below the table. Default: none.
    folded : bool
        Whether a report shows the table only after a click. Default False.
    """

    kind: ClassVar[str] = "table"
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Entry]]
    notes: Sequence[str] = ()
    folded: bool = False

    @cached_property
    def headings(self) -> list[tuple[str, str]]:
        """Group and heading of each column; the group may be empty."""
        return [("", each) if isinstance(each, str) else each for each in self.columns]

    @cached_property
    def texts(self) -> list[list[str]]:
        """The rows as text."""
        return [[each if isinstance(each, str) else each.text for each in row] for row in self.rows]

    @cached_property
    def cells(self) -> list[list[Cell]]:
        """The rows as cells."""
        return [
            [Cell(each) if isinstance(each, str) else each for each in row] for row in self.rows
        ]

    @cached_property
    def groups(self) -> list[tuple[str, int]]:
        """Name and number of columns of each group; empty without groups."""
        spans: list[tuple[str, int]] = []
        for group, _name in self.headings:
            if spans and spans[-1][0] == group:
                spans[-1] = (group, spans[-1][1] + 1)
            else:
                spans.append((group, 1))
        return spans if any(group for group, _span in spans) else []

    @cached_property
    def numeric(self) -> list[bool]:
        """For each column, whether it contains numbers."""
        columns = zip(*self.cells, strict=True) if self.rows else [()] * len(self.columns)
        return [any(cell.value is not None for cell in column) for column in columns]
