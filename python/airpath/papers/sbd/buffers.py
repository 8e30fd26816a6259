"""Fig. 1: a drop-tail RLC buffer of various sizes under one to four flows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airpath.papers.base import Cell, ItemResult, Table
from airpath.papers.sbd.data import DropTail
from airpath.papers.sbd.measures import delay, goodput
from airpath.papers.sbd.scenarios import Case
from airpath.papers.sbd.tables import rows_of, spread
from airpath.papers.session import Session
from airpath.results import style as plotting

__all__ = ["FIG1_CELLS", "SIZES", "evaluate_fig1"]

SIZES = (10, 20, 30, 40, 50, 60, 80, 100)
"""Buffer sizes, SDUs; the paper's are not printed."""

FLOWS = (1, 2, 3, 4)
BEARER = 384

FIG1_CELLS: list[Cell] = [Case(BEARER, flows, DropTail(size)) for flows in FLOWS for size in SIZES]

TITLE = f"Fig. 1: drop-tail, {BEARER} kbit/s, buffer sizes, one to four flows"


def evaluate_fig1(session: Session, out: Path | None) -> ItemResult:
    """Return Fig. 1."""
    rows = []
    lines = []
    for size in SIZES:
        line = [str(size)]
        for flows in FLOWS:
            case = Case(BEARER, flows, DropTail(size))
            rows += rows_of(session, case, None, buffer=size)
            line += [spread(goodput(session, case), 1), spread(delay(session, case), 2)]
        lines.append(line)
    columns = [("", "buffer")]
    for flows in FLOWS:
        heading = f"{flows} flow{'s' if flows > 1 else ''}"
        columns += [(heading, "goodput"), (heading, "delay")]
    table = Table(
        TITLE, columns, lines, ["buffer in SDUs of 1500 bytes, goodput in kbit/s, delay in s."]
    )
    complete = all(session.finished(cell) for cell in FIG1_CELLS)
    figures = _draw(session, out) if out is not None and complete else []
    return ItemResult("fig1", TITLE, rows, [table], figures, complete=complete)


def _draw(session: Session, out: Path) -> list[Path]:
    colours = ("blue", "orange", "green", "red")
    with plotting.style():
        figure = plotting.new_figure(9.6, 4.2)
        panels: Any = figure.subplots(1, 2)
        for flows, colour, marker in zip(FLOWS, colours, "osD^", strict=True):
            for panel, measure in zip(panels, (goodput, delay), strict=True):
                found = [measure(session, Case(BEARER, flows, DropTail(size))) for size in SIZES]
                known = [estimate for estimate in found if estimate is not None]
                panel.errorbar(
                    SIZES,
                    [estimate.mean for estimate in known],
                    yerr=[estimate.half_width for estimate in known],
                    color=plotting.COLOURS[colour],
                    marker=marker,
                    markersize=5,
                    linewidth=1.4,
                    capsize=2,
                    label=f"{flows} flow{'s' if flows > 1 else ''}",
                )
        for panel, name in zip(panels, ("goodput, kbit/s", "downlink delay, s"), strict=True):
            panel.set_xlabel("buffer, SDUs")
            panel.set_title(name)
        panels[1].set_ylim(bottom=0)
        panels[0].legend(loc="lower right")
        about = f"Alcaraz & Cerdán 2006 · {session.effort.describe()} · 90 % intervals"
        plotting.heading(figure, TITLE, about)
        return plotting.save(figure, out, "sbd-fig1", TITLE, f"{session.paper.citation} {about}")
