"""Tables on a terminal: wrapped where it is too narrow, never cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["WIDEST", "print_uncut"]

WIDEST = 400
"""More columns than any table has."""


def print_uncut(table: Table, console: Console) -> None:
    """Print a table with all its columns; lines that are too long are the terminal's to wrap.

    Parameters
    ----------
    table : rich.table.Table
        What to print.
    console : rich.console.Console
        Where to.
    """
    # Rich cuts numbers where a terminal is too narrow; a wrapped line still has them.
    options = console.options.update(width=WIDEST, max_width=WIDEST)
    for line in console.render_lines(table, options, pad=False):
        parts = [(segment.text, segment.style or "") for segment in line]
        text = Text.assemble(*parts)
        text.rstrip()
        console.print(text, soft_wrap=True, highlight=False)
