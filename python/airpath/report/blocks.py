"""Content of a report before it is converted to HTML: sections, texts, tables, figures, links."""

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
"""Maximum number of rows of a table in a report. The files next to the report have all rows."""


@dataclass(frozen=True)
class Line:
    """A sentence, with details in a smaller font."""

    text: str
    tone: Tone = ""
    details: Sequence[str] = ()


@dataclass(frozen=True)
class Lines:
    """Sentences, one per line."""

    kind: ClassVar[str] = "lines"
    lines: Sequence[Line]


@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    kind: ClassVar[str] = "facts"
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """A preformatted text, opened by a click."""

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
        Description of the figure's content.
    svg : str
        Clean markup from `figures.inlined`; or empty.
    image : str
        A data URI, if there is no SVG; or empty.
    links : sequence of Link
        Links to the files of the figure.
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
        Anchor of the section.
    title : str
        The heading.
    blocks : sequence of Block
        Blocks of the section, in order.
    parts : sequence of Section
        Sections inside it.
    """

    key: str
    title: str
    blocks: Sequence[Block]
    parts: Sequence[Section] = ()


@dataclass(frozen=True)
class Page:
    """A complete report.

    Parameters
    ----------
    title, subtitle : str
        Headings at the top of the page.
    verdict : Line
        Overall outcome in one sentence, with disagreements and failures.
    sections : sequence of Section
        Sections of the page, in order.
    made_by : str
        Version and commit, shown at the end of the page.
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
    """Return the rows that a table shows, and a note with the number of omitted rows.

    Parameters
    ----------
    rows : iterable of sequence of Cell
        All rows, or the first ones.
    where : str
        Name of the file that has all rows.
    whole : int, optional
        Total number of rows. Default: the number of `rows`.
    """
    found = list(rows)
    count = len(found) if whole is None else whole
    if count <= MOST_ROWS:
        return found, []
    left = f"The first {MOST_ROWS} of {count} rows; all of them are in {where}."
    return found[:MOST_ROWS], [left]


def some_points(numbers: list[int], most: int = 10) -> str:
    """Return a text that lists the numbers of the first `most` points."""
    listed = ", ".join(map(str, numbers[:most]))
    left = f" and {len(numbers) - most} more" if len(numbers) > most else ""
    return f"{'point' if len(numbers) == 1 else 'points'} {listed}{left}"
