"""Fig. 1: a drop-tail RLC buffer of various sizes under one to four flows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.papers.kit.base import Cell, ItemResult, Table
from airpath.papers.kit.session import Session
from airpath.papers.sbd.data import BUFFER, DropTail, Published, drop_tail, flows_named
from airpath.papers.sbd.measures import delay, goodput
from airpath.papers.sbd.scenarios import Case
from airpath.papers.sbd.tables import rows_of, spread
from airpath.results import style as plotting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIG1_CELLS", "SIZES", "draw_fig1", "evaluate_fig1"]

SIZES = (10, 20, 30, 40, 50, 60, 80, 100)
"""Buffer sizes, SDUs; the paper's are not printed."""

FLOWS = (1, 2, 3, 4)
BEARER = 384

FIG1_CELLS: list[Cell] = [Case(BEARER, flows, DropTail(size)) for flows in FLOWS for size in SIZES]

DODGE = 0.9
"""By how much points of one size are drawn beside each other, SDUs."""

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
        heading = flows_named(flows)
        columns += [(heading, "goodput"), (heading, "delay")]
    table = Table(
        TITLE, columns, lines, ["buffer in SDUs of 1500 bytes, goodput in kbit/s, delay in s."]
    )
    complete = session.complete(FIG1_CELLS)
    figures = _draw(session, out) if out is not None and complete else []
    return ItemResult("fig1", TITLE, rows, [table], figures, complete=complete)


def _draw(session: Session, out: Path) -> list[Path]:
    with plotting.style():
        return session.write(draw_fig1(session), out, "sbd-fig1", TITLE, session.about)


def draw_fig1(session: Session) -> Figure:
    """Return the figure: goodput and delay over the buffer, both from 0 on, with intervals."""
    colours = ("blue", "orange", "green", "red")
    figure = plotting.new_figure(9.6, 4.8)
    panels: Any = figure.subplots(1, 2)
    for place, (flows, colour, marker) in enumerate(zip(FLOWS, colours, "osDP", strict=True)):
        line: dict[str, Any] = {
            "color": plotting.COLOURS[colour],
            "marker": marker,
            "markersize": 5,
        }
        for panel, measure in zip(panels, (goodput, delay), strict=True):
            found = {size: measure(session, Case(BEARER, flows, DropTail(size))) for size in SIZES}
            known = {size: estimate for size, estimate in found.items() if estimate is not None}
            sizes = [size + DODGE * (place - 1.5) for size in known]
            means = [estimate.mean for estimate in known.values()]
            halves = [estimate.half_width for estimate in known.values()]
            label = flows_named(flows)
            # Pale, for it joins means of different runs.
            panel.plot(sizes, means, "-", color=line["color"], lw=0.9, alpha=0.4)
            bars: dict[str, Any] = {"linestyle": "", "elinewidth": 1.0, "capsize": 2}
            panel.errorbar(sizes, means, yerr=halves, label=label, **bars, **line)
    for flows, colour in zip(FLOWS, colours, strict=True):
        theirs = drop_tail().get((BEARER, flows))
        if theirs is not None:
            _draw_published(panels, flows, theirs, plotting.COLOURS[colour])
    names = ("goodput (delivered in order, payload), kbit/s", "downlink delay, s")
    for panel, name in zip(panels, names, strict=True):
        panel.set(xlabel="buffer, SDUs", title=name, xlim=(0, 1.03 * max(SIZES)))
        panel.set_ylim(bottom=0)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    confidence = 100 * session.paper.confidence
    about = f"Alcaraz & Cerdán 2006 · {session.effort.describe()} · {confidence:g} % intervals · "
    about += "points of one size stand beside each other"
    plotting.heading(figure, TITLE, about)
    return figure


def _draw_published(panels: Any, flows: int, theirs: Published, colour: str) -> None:
    """Draw a row of Table 6: open, beside ours, so that both intervals can be seen."""
    open_: dict[str, Any] = {"color": colour, "marker": "*", "markersize": 11, "fillstyle": "none"}
    label = f"paper, Table 6, {flows_named(flows)}"
    for panel, printed in zip(panels, (theirs.goodput_kbps, theirs.delay_s), strict=True):
        place = [BUFFER + 3 * DODGE]
        bars: dict[str, Any] = {"yerr": [printed.half_width], "capsize": 2, "linestyle": ""}
        panel.errorbar(place, [printed.mean], label=label, **bars, **open_)
