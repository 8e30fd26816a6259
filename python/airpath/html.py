"""Tables as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["heading", "paragraph", "table"]


def heading(text: str) -> str:
    """Return a line in bold."""
    return f"<p><strong>{escape(text)}</strong></p>"


def paragraph(text: str) -> str:
    """Return a line."""
    return f"<p>{escape(text)}</p>"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> str:
    """Return a table; its first column is text, the others are numbers.

    Parameters
    ----------
    columns : sequence of str
        Their headings.
    rows : iterable of sequence
        The cells.
    title : str
        Above it. Default: nothing.
    """
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(_cells(row))}</tr>" for row in rows)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Sequence[object]) -> Iterable[str]:
    for index, cell in enumerate(row):
        side = "right" if index else "left"
        yield f'<td style="text-align: {side}">{escape(str(cell))}</td>'
