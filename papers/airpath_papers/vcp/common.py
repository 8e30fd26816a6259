"""What the figures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airpath.present import style as plotting
from airpath.reproduction.base import Cell
from airpath.reproduction.claims import caption
from airpath.reproduction.session import Session

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["about", "band"]


def about(session: Session, key: str, cells: Sequence[Cell]) -> str:
    """Return the line under a figure's title: the paper, the runs, what holds."""
    runs = sorted({session.effort_of(cell).replications for cell in cells})
    counted = " or ".join(map(str, runs))
    legend = ""
    if cells:
        effort = session.effort_of(cells[0])
        legend = f"{counted} runs of {effort.duration_s:g} s, from {effort.warmup_s:g} s on. "
    return f"Yousefi'zadeh, Habibi & Furmanski 2008 · {legend}{caption(session, key)}"


def band(
    axes: Axes,
    x: Sequence[float],
    means: Sequence[float],
    halves: Sequence[float],
    colour: str,
    marker: str,
    label: str,
) -> None:
    """Draw a line of means with its 99 % band."""
    look: Any = {"color": plotting.COLOURS[colour]}
    axes.plot(x, means, marker=marker, markersize=3.5, lw=1.3, label=label, **look)
    low = [mean - half for mean, half in zip(means, halves, strict=True)]
    high = [mean + half for mean, half in zip(means, halves, strict=True)]
    axes.fill_between(x, low, high, alpha=0.25, lw=0, **look)
