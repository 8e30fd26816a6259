"""Conversion of tables and texts to HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airpath.present.tables import Table

__all__ = ["heading", "paragraph", "table"]


def heading(text: str) -> str:
    """Return a bold HTML paragraph."""
    return f"<p><strong>{escape(text)}</strong></p>"


def paragraph(text: str) -> str:
    """Return an HTML paragraph."""
    return f"<p>{escape(text)}</p>"


def table(made: Table) -> str:
    """Return an HTML table without notes; only the first column is left-aligned."""
    caption = f"<caption>{escape(made.title)}</caption>" if made.title else ""
    head = "".join(f"<th>{escape(name)}</th>" for _group, name in made.headings)
    body = "".join(f"<tr>{''.join(_cells(row))}</tr>" for row in made.texts)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Sequence[str]) -> Iterable[str]:
    for index, cell in enumerate(row):
        side = "right" if index else "left"
        yield f'<td style="text-align: {side}">{escape(cell)}</td>'
