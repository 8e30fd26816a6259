"""Makes table columns sortable by the numbers with which their texts begin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from airpath.present.tables import MARK, Cell, Table

__all__ = ["sortable", "sortable_table"]

_MISSING: Final = ("not computed", "not simulated", "–")
"""Texts of cells without a number."""

_NUMBER = re.compile(rf"(?:{MARK} )?([+−-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: .*)?")


def sortable(entries: Sequence[str]) -> list[Cell]:
    """Return the cells of a column of texts, sorted by numbers if each text begins with a number.

    Parameters
    ----------
    entries : sequence of str
        Texts of the column. Entries without a number get the tone `quiet`; marked entries, `bad`.
    """
    found = [_NUMBER.fullmatch(entry) for entry in entries]
    are_numbers = all(
        number or not entry or entry in _MISSING
        for number, entry in zip(found, entries, strict=True)
    )
    return [
        Cell(
            entry,
            float(number[1].replace("−", "-")) if number and are_numbers else None,
            "bad" if entry.startswith(MARK) else "quiet" if entry in _MISSING else "",
        )
        for number, entry in zip(found, entries, strict=True)
    ]


def sortable_table(table: Table) -> Table:
    """Return a table of texts whose columns are sorted by the numbers in the texts."""
    columns = [sortable(column) for column in zip(*table.texts, strict=True)]
    return replace(table, rows=[list(row) for row in zip(*columns, strict=True)])
