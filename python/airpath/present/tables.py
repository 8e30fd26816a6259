"""Tables to show, every entry as text: on a terminal, as HTML, in a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

__all__ = ["MARK", "Cell", "Column", "Entry", "Table", "Tone"]

_LONGEST_LINE = 24
"""Characters of an entry that is kept on one line."""

MARK = "!"
"""Begins an entry that is outside its tolerance."""

Tone = Literal["", "good", "bad", "quiet"]
"""Meaning of an entry, shown by its colour."""


@dataclass(frozen=True)
class Cell:
    """An entry of a table with more than its text.

    Parameters
    ----------
    text : str
        The text that is shown.
    value : float or None
        The key by which the column is sorted; None for words and for missing numbers.
    tone : Tone
        Selects the colour. Default: none.
    hint : str
        Shown on hover. Default: nothing.
    """

    text: str
    value: float | None = None
    tone: Tone = ""
    hint: str = ""

    @property
    def is_long(self) -> bool:
        """Whether it may take several lines."""
        return len(self.text) > _LONGEST_LINE


Column = str | tuple[str, str]
"""Name of a column, or its group and its name; neighbours of one group share its heading."""

Entry = str | Cell
"""An entry of a table."""


@dataclass(frozen=True)
class Table:
    """A table to show.

    Parameters
    ----------
    title : str
        Its heading or caption.
    columns : sequence of Column
        The headings.
    rows : sequence of sequence of Entry
        An entry for each column.
    notes : sequence of str
        Sentences under it. Default: none.
    folded : bool
        Whether a report shows it only after a click. Default False.
    """

    kind: ClassVar[str] = "table"
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Entry]]
    notes: Sequence[str] = ()
    folded: bool = False

    @cached_property
    def headings(self) -> list[tuple[str, str]]:
        """Group and name of each column; the group is empty where a column has none."""
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
        """The groups and how many columns each spans; empty without any."""
        spans: list[tuple[str, int]] = []
        for group, _name in self.headings:
            if spans and spans[-1][0] == group:
                spans[-1] = (group, spans[-1][1] + 1)
            else:
                spans.append((group, 1))
        return spans if any(group for group, _span in spans) else []

    @cached_property
    def numeric(self) -> list[bool]:
        """Whether a column's entries are numbers, for each."""
        columns = zip(*self.cells, strict=True) if self.rows else [()] * len(self.columns)
        return [any(cell.value is not None for cell in column) for column in columns]
