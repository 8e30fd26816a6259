"""What a report is made of, before it is HTML: sections of facts, texts, tables, figures, links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from airpath.present.tables import Cell, Table, Tone

__all__ = [
    "MOST_ROWS",
    "Block",
    "Code",
    "Facts",
    "Figure",
    "Line",
    "Lines",
    "Link",
    "Links",
    "Page",
    "Section",
    "anchor",
    "cut",
    "some_points",
]

MOST_ROWS = 1000
"""Of a table in a report. The files next to it have all rows."""


@dataclass(frozen=True)
class Line:
    """A sentence with what belongs to it in smaller letters."""

    text: str
    tone: Tone = ""
    details: Sequence[str] = ()


@dataclass(frozen=True)
class Lines:
    """Sentences, one under the other."""

    kind: ClassVar[str] = "lines"
    lines: Sequence[Line]


@dataclass(frozen=True)
class Facts:
    """Names with what they stand for."""

    kind: ClassVar[str] = "facts"
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """A text with fixed spacing, opened by a click."""

    kind: ClassVar[str] = "code"
    title: str
    text: str


@dataclass(frozen=True)
class Link:
    """A file next to the report: its relative path and its name."""

    href: str
    text: str


@dataclass(frozen=True)
class Links:
    """Files next to the report."""

    kind: ClassVar[str] = "links"
    links: Sequence[Link]


@dataclass(frozen=True)
class Figure:
    """A figure.

    Parameters
    ----------
    title : str
        What it shows.
    svg : str
        Clean markup, as `figures.inlined` returns it; or empty.
    image : str
        A data URI, where there is no SVG; or empty.
    links : sequence of Link
        Its files.
    """

    kind: ClassVar[str] = "figure"
    title: str
    svg: str = ""
    image: str = ""
    links: Sequence[Link] = ()


Block = Table | Lines | Facts | Code | Links | Figure


@dataclass(frozen=True)
class Section:
    """A heading with its content.

    Parameters
    ----------
    key : str
        Its anchor.
    title : str
        The heading.
    blocks : sequence of Block
        In order.
    parts : sequence of Section
        Sections inside it.
    """

    key: str
    title: str
    blocks: Sequence[Block]
    parts: Sequence[Section] = ()


@dataclass(frozen=True)
class Page:
    """A whole report.

    Parameters
    ----------
    title, subtitle : str
        Above everything.
    verdict : Line
        What it comes to, in one sentence, and what disagreed or failed.
    sections : sequence of Section
        In order.
    made_by : str
        Version and commit, at its foot.
    """

    title: str
    subtitle: str
    verdict: Line
    sections: Sequence[Section]
    made_by: str


def anchor(*names: object) -> str:
    """Return an anchor: letters, digits and hyphens."""
    text = "-".join(str(name) for name in names).lower()
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-") or "part"


def cut(
    rows: Iterable[Sequence[Cell]], where: str, whole: int | None = None
) -> tuple[list[Sequence[Cell]], list[str]]:
    """Return as many rows as a table shows, and the note that says how many are left out.

    Parameters
    ----------
    rows : iterable of sequence of Cell
        All of them, or the first.
    where : str
        The file that has them all.
    whole : int, optional
        How many there are. Default: as many as are given.
    """
    found = list(rows)
    count = len(found) if whole is None else whole
    if count <= MOST_ROWS:
        return found, []
    left = f"The first {MOST_ROWS} of {count} rows; all of them are in {where}."
    return found[:MOST_ROWS], [left]


def some_points(numbers: list[int], most: int = 10) -> str:
    """Return the numbers of points as a text, of many the first."""
    listed = ", ".join(map(str, numbers[:most]))
    left = f" and {len(numbers) - most} more" if len(numbers) > most else ""
    return f"{'point' if len(numbers) == 1 else 'points'} {listed}{left}"
