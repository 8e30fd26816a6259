"""Output of tables on a terminal. Long lines are wrapped, never cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from airpath.present.tables import MARK

if TYPE_CHECKING:
    from rich.console import Console

    from airpath.present.tables import Table

__all__ = ["WIDEST", "print_table", "print_uncut"]

WIDEST = 400
"""Largest width of a table, characters."""


def print_table(table: Table, console: Console, *, comparison: bool = False) -> None:
    """Print a table with its title and its notes.

    Parameters
    ----------
    table : Table
        Table to print.
    console : rich.console.Console
        Output console.
    comparison : bool
        Whether the table compares results with published numbers. If true, groups of columns have
        headings, entries with `MARK` are red, and the first column is right-aligned. Default False.
    """
    style = "italic" if comparison else "bold"
    console.print(f"\n[{style}]{escape(table.title)}[/{style}]", highlight=False)
    made = RichTable(box=box.SIMPLE_HEAD)
    made.collapse_padding, made.pad_edge, made.show_edge = comparison, False, False
    names = _grouped(table) if comparison else (name for _group, name in table.headings)
    for index, name in enumerate(names):
        is_number = index > 0 or comparison
        made.add_column(escape(name), justify="right" if is_number else "left", no_wrap=True)
    for row in table.texts:
        made.add_row(*map(_marked if comparison else escape, row))
    print_uncut(made, console)
    indent = "  " if comparison else ""
    for note in table.notes:
        console.print(f"{indent}{escape(note)}", style="dim", highlight=False)


def _grouped(table: Table) -> Iterator[str]:
    before = None
    for group, name in table.headings:
        # Only the first column of a group shows the name of the group.
        yield f"{group if group != before else ''}\n{name}"
        before = group


def _marked(entry: str) -> str:
    is_outside = entry == "NO" or entry.startswith(MARK)
    return f"[bold red]{escape(entry)}[/bold red]" if is_outside else escape(entry)


def print_uncut(table: RichTable, console: Console) -> None:
    """Print a table with all its columns; the terminal wraps lines that are too long.

    Parameters
    ----------
    table : rich.table.Table
        Table to print.
    console : rich.console.Console
        Output console.
    """
    # On a narrow terminal, rich would cut numbers. With this width, the terminal wraps lines.
    options = console.options.update(width=WIDEST, max_width=WIDEST)
    for line in console.render_lines(table, options, pad=False):
        parts = [(segment.text, segment.style or "") for segment in line]
        text = Text.assemble(*parts)
        text.rstrip()
        console.print(text, soft_wrap=True, highlight=False)
