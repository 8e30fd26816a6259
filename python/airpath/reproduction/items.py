"""An item in Python: its cells, rows, tables and figure, each by a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.claims import caption
from airpath.reproduction.manifest import Evaluate, called, titles
from airpath.reproduction.session import Session

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["item_of"]


def item_of(
    directory: Path,
    key: str,
    cells: Sequence[Cell],
    rows: Callable[[Session], Sequence[Row]] = lambda _session: [],
    tables: Callable[[Session, str], Sequence[Table]] = lambda _session, _heading: [],
    draw: Callable[[Session], tuple[Figure, str]] | None = None,
    title: str = "",
) -> tuple[Sequence[Cell], Evaluate]:
    """Return an item for `paper_of`: what it needs simulated, and what evaluates it.

    Parameters
    ----------
    directory : Path
        Of the ``paper.toml`` with its title.
    key : str
        Of the item.
    cells : sequence of Cell
        What it needs simulated. The figure is drawn when all of it is.
    rows : callable
        Makes its rows; those without a number of ours are left out. Default: none.
    tables : callable
        Makes its tables, given the heading as well: ``Table 2: ...``. Default: none.
    draw : callable, optional
        Makes its figure, without the heading, and a line about it. Default: no figure.
    title : str
        Of the result. Default: the heading of a figure, the plain title of others.
    """
    plain = titles(directory)[key]
    heading = called(key, plain)
    name = title or (plain if draw is None else heading)

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        from airpath.present import style

        def drawn() -> Figure:
            assert draw is not None
            figure, about = draw(session)
            style.heading(figure, heading, f"{about} {caption(session, key)}".strip())
            return figure

        complete, figures = session.complete(cells), []
        if out is not None and complete and draw is not None:
            stem = f"{directory.name}-{key}"
            figures = session.draw(drawn, out, stem, heading, session.about)
        known = [row for row in rows(session) if row.ours is not None]
        return ItemResult(key, name, known, tables(session, heading), figures, complete=complete)

    return cells, evaluate
