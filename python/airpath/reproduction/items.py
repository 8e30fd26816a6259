"""Evaluates an item: its rows and tables, and its figure once all cells are simulated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.claims import caption
from airpath.reproduction.files import MANIFEST, read_toml
from airpath.reproduction.formulas import Point
from airpath.reproduction.session import Session

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Cells", "Drawn", "Evaluate", "Found", "called", "grouped", "item_of", "titles"]

Cells = Sequence[Cell] | Callable[[Session], Sequence[Cell]]
"""Cells that an item needs, or a function of the session that returns them."""

Evaluate = Callable[[Session, Path | None], ItemResult]
"""Function of the session and the directory for files (None: no files). Returns the result."""

Drawn = tuple[str, Callable[[Session], "Figure"]]
"""Title of a figure, and the function that draws the figure without its heading."""

Found = tuple[Sequence[Row | None], Sequence[Table]]
"""Rows and tables of an item. Rows that are None or have no number are omitted from the result."""


@cache
def titles(directory: Path) -> Mapping[str, str]:
    """Return a mapping from the key of each item of a paper to its title."""
    found: Mapping[str, str] = read_toml(directory, MANIFEST)["items"]
    return found


def called(key: str, title: str) -> str:
    """Return the title of an item with a prefix: its name in the paper, as in ``Table 2: ...``."""
    name = key.rstrip("0123456789")
    word = {"table": "Table", "fig": "Fig."}.get(name)
    return title if word is None else f"{word} {key.removeprefix(name)}: {title}"


def item_of(
    directory: Path,
    key: str,
    cells: Cells,
    found: Callable[[Session, str], Found],
    drawn: Callable[[Session], Figure] | None = None,
    legend: str | Callable[[Session], str] = "",
    *,
    citation: str | None = None,
    title: str = "",
    name: str = "",
    whole: bool = False,
    more: Mapping[str, Drawn] = MappingProxyType({}),
) -> tuple[Cells, Evaluate]:
    """Return the cells of an item and its evaluation function, as `manifest.paper_of` expects.

    Parameters
    ----------
    directory : Path
        Directory of the paper.
    key : str
        Key of the item. Keys such as ``fig5`` add the prefix ``Fig. 5:`` to the item's title. For
        ``table2``, only the titles of its tables contain the number.
    cells : sequence of Cell or callable
        Cells to simulate, or a function of the session that returns them.
    found : callable
        Function of the session and the title. Returns rows and tables.
    drawn : callable, optional
        Returns the figure without its heading. Default: no figure.
    legend : str or callable
        Text, or a function of the session that returns it. The line below the title of the figure
        begins with this text. Default: empty.
    citation : str, optional
        Source of the published numbers, at the end of this line. Default: the citation of the
        paper; empty if the figure has no published numbers.
    title : str
        Title of the tables and of the figure, without the number. Default: the title in
        ``paper.toml``.
    name : str
        Title of the result. Default: `title`; for figures, `title` with the figure's number.
    whole : bool
        True to return rows and tables only if all cells are simulated; rows without a number are
        then kept. Default False.
    more : mapping of str to tuple
        Further figures. Maps a file name to a title and a function that draws the figure.
    """
    plain = title or titles(directory)[key]
    heading = called(key, plain)
    named = name or (heading if key.startswith("fig") else plain)

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        needed = cells(session) if callable(cells) else cells
        complete = session.complete(needed)
        figures: list[Path] = []
        rows, tables = found(session, heading) if complete or not whole else ([], [])
        own = {} if drawn is None else {f"{directory.name}-{key}": (heading, drawn)}
        drawings = {**own, **more}
        if out is not None and complete and drawings:
            source = session.paper.citation if citation is None else citation
            about = _about(session, key, needed, legend, source)
            for stem, (text, draw) in drawings.items():
                make = partial(_headed, session, draw, text, about)
                figures += session.draw(make, out, stem, text, session.about)
        kept = [row for row in rows if row is not None and (whole or row.computed is not None)]
        return ItemResult(key, named, kept, tables, figures, complete=complete)

    return cells, evaluate


def _headed(session: Session, draw: Callable[[Session], Figure], title: str, about: str) -> Figure:
    from airpath.present import style

    figure = draw(session)
    style.heading(figure, title, about)
    return figure


def _about(
    session: Session,
    key: str,
    cells: Sequence[Cell],
    legend: str | Callable[[Session], str],
    citation: str,
) -> str:
    """Return the line below the title: legend, runs, number of claims that hold, citation."""
    efforts = [session.effort_of(cell) for cell in cells]
    counts = " or ".join(str(n) for n in sorted({each.replications for each in efforts}))
    legend_text = legend(session) if callable(legend) else legend
    parts = [legend_text, caption(session, key), citation]
    if efforts:
        one = efforts[0]
        late = f", from {one.warmup_s:g} s on" if one.warmup_s else ""
        runs = "run" if counts == "1" else "runs"
        parts.insert(1, f"{counts} {runs} of {one.duration_s:g} s{late}.")
    return " ".join(filter(None, map(str.strip, parts)))


def grouped(points: Iterable[Point], key: Callable[[Point], Any]) -> dict[Any, list[Point]]:
    """Group points by `key`, in order of appearance; omit points whose key is None."""
    found: dict[Any, list[Point]] = {}
    for point in points:
        if (of := key(point)) is not None:
            found.setdefault(of, []).append(point)
    return found
