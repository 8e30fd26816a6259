"""Frame of the items: title, completeness, figure file; lines of measured means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.present import style as plotting
from airpath.present.points import Point, Points, draw
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.claims import caption
from airpath.reproduction.manifest import Cells, Evaluate, titles
from airpath.reproduction.session import Session

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_means", "item"]


def item(
    directory: Path,
    key: str,
    cells: Cells,
    found: Callable[[Session, str], tuple[Sequence[Row | None], Sequence[Table]]],
    drawn: Callable[[Session], Figure] | None = None,
    legend: str = "",
) -> tuple[Cells, Evaluate]:
    """Return the cells of an item and its evaluation.

    Parameters
    ----------
    directory : Path
        Of the ``paper.toml`` with its title.
    key : str
        Of the item.
    cells : sequence of Cell or callable
        What is simulated.
    found : callable
        Gets the session and the title; returns rows and tables. Rows without a number are left out.
    drawn : callable, optional
        Returns the figure without its heading. Default: no figure.
    legend : str
        What the line below its heading begins with.
    """

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = titles(directory)[key]
        title = f"Fig. {key[3:]}: {title}" if key.startswith("fig") else title
        needed = cells(session) if callable(cells) else cells
        rows, tables = found(session, title)
        complete, figures = session.complete(needed), []

        def made() -> Figure:
            assert drawn is not None
            figure = drawn(session)
            plotting.heading(figure, title, legend + _about(session, key, needed))
            return figure

        if out is not None and complete and drawn is not None:
            figures = session.draw(made, out, f"vcp-{key}", title, session.about)
        kept = [row for row in rows if row is not None and row.ours is not None]
        return ItemResult(key, title, kept, tables, figures, complete=complete)

    return cells, evaluate


def _about(session: Session, key: str, cells: Sequence[Cell]) -> str:
    """Return the paper, the runs, and how many claims hold."""
    runs = sorted({session.effort_of(cell).replications for cell in cells})
    counted = " or ".join(map(str, runs))
    legend = ""
    if cells:
        effort = session.effort_of(cells[0])
        legend = f"{counted} runs of {effort.duration_s:g} s, from {effort.warmup_s:g} s on. "
    return f"Yousefi'zadeh, Habibi & Furmanski 2008 · {legend}{caption(session, key)}"


def draw_means(
    axes: Axes, points: Sequence[Point], colour: str, marker: str, label: str, **bars: Any
) -> None:
    """Draw means with their intervals, joined by a pale line."""
    look = {"color": plotting.COLOURS[colour], "marker": marker, "markersize": 3.5}
    pale = {"lw": 1.0, "alpha": 0.5}
    draw(axes, Points(label, points, look, pale, bars={"elinewidth": 0.8, "capsize": 1.5, **bars}))
