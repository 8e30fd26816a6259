"""Figs. 2, 14 and 15: two flows over a bearer that changes from 384 to 128 kbit/s after 50 s."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.papers.kit.base import Cell, ItemResult, Row, Table
from airpath.papers.kit.session import Session
from airpath.papers.sbd.data import BUFFER, Aqm, DropTail
from airpath.papers.sbd.scenarios import SWITCH_S, TRACE, ByRate, Case
from airpath.results import style as plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["TRACES", "cells_of_trace", "draw_trace", "trace_item"]

TRACES: dict[str, tuple[str, Aqm | ByRate]] = {
    "fig2": ("drop-tail", DropTail()),
    "fig14": ("SBD, reconfigured", ByRate("sbd")),
    "fig15": ("RED, reconfigured", ByRate("red")),
}
"""The three traces: what manages the buffer."""

START_S = 10.0
"""Until when the connections count as starting."""

SEGMENT = 1460


def cells_of_trace(key: str) -> list[Cell]:
    """Return the one case of a trace."""
    return [Case(384, 2, TRACES[key][1], use=TRACE)]


def trace_item(key: str) -> Callable[[Session, Path | None], ItemResult]:
    """Return what evaluates Fig. 2, 14 or 15."""
    name = TRACES[key][0]
    [case] = cells_of_trace(key)

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = f"Fig. {key[3:]}: two flows, 384 to 128 kbit/s at {SWITCH_S:g} s, {name}"
        if not session.finished(case):
            return ItemResult(key, title, [], complete=False)
        figures = _draw(f"sbd-{key}", title, case, session, out) if out is not None else []
        return ItemResult(key, title, _rows(case, session), [_table(title, case, session)], figures)

    return evaluate


def _parts(case: Cell, session: Session) -> dict[str, tuple[float, float]]:
    end = session.effort_of(case).duration_s
    return {
        "start": (0.0, START_S),
        "384 kbit/s": (START_S, SWITCH_S),
        "change": (SWITCH_S, SWITCH_S + START_S),
        "128 kbit/s": (SWITCH_S + START_S, end),
    }


def _rows(case: Cell, session: Session) -> list[Row]:
    rows = []
    for part, (low, high) in _parts(case, session).items():
        key = {"aqm": _name(case), "part": part}
        for quantity, value in _measured(case, session, low, high).items():
            rows.append(Row(key, quantity, "SDUs", None, value))
    return rows


def _table(title: str, case: Cell, session: Session) -> Table:
    lines = []
    for part, (low, high) in _parts(case, session).items():
        found = _measured(case, session, low, high)
        values = (f"{found['mean_occupancy']:.1f}", f"{found['largest_occupancy']:.0f}")
        drops = (f"{found['overflow_drops']:.0f}", f"{found['early_drops']:.0f}")
        lines.append([part, f"{low:g}-{high:g}", *values, *drops])
    columns = [("", "part"), ("", "s"), ("occupancy", "mean"), ("occupancy", "largest")]
    columns += [("drops", "overflow"), ("drops", "early")]
    return Table(title, columns, lines, ["One run; occupancy in SDUs of 1500 bytes."])


def _measured(case: Cell, session: Session, low: float, high: float) -> dict[str, float]:
    times, levels = session.series(case, "queue").of(0)
    grid = np.arange(low, high, 0.01)
    occupancy = levels[np.maximum(np.searchsorted(times, grid, "right") - 1, 0)]
    drops = session.series(case, "drop")
    reasons = drops.value[(drops.time_s >= low) & (drops.time_s < high)]
    return {
        "mean_occupancy": float(occupancy.mean()),
        "largest_occupancy": float(occupancy.max()),
        "overflow_drops": float((reasons == 0).sum()),
        "early_drops": float((reasons == 1).sum()),
    }


def _name(case: Cell) -> str:
    aqm = Case(*case).aqm
    return aqm.of if isinstance(aqm, ByRate) else "droptail"


# --- drawing -----------------------------------------------------------------------------------


def _draw(stem: str, title: str, case: Cell, session: Session, out: Path) -> list[Path]:
    with plotting.style():
        about = f"{session.paper.citation} one run, seed {session.seed}"
        return session.write(draw_trace(title, case, session), out, stem, title, about)


def draw_trace(title: str, case: Cell, session: Session) -> Figure:
    """Return the figure of one run: occupancy, both windows, both sequence-number plots."""
    from matplotlib.lines import Line2D

    figure = plotting.new_figure(9.6, 9.0)
    panels: Any = figure.subplots(5, 1, sharex=True, height_ratios=(1.1, 0.9, 0.9, 1.3, 1.3))
    grey = {"color": plotting.COLOURS["grey"], "linestyle": (0, (4, 3)), "linewidth": 1.0}
    times, levels = session.series(case, "queue").of(0)
    panels[0].step(times, levels, where="post", color=plotting.COLOURS["black"], lw=0.7)
    panels[0].axhline(BUFFER, **grey)
    panels[0].set_ylim(0, BUFFER + 10)
    panels[0].set_ylabel("BO, SDUs")
    panels[0].annotate("128 kbit/s", (SWITCH_S, BUFFER + 9), xytext=(3, 0), va="top", **_NEAR)
    panels[0].annotate("buffer", (0, BUFFER), xytext=(3, 2), va="bottom", **_NEAR)
    for flow in (0, 1):
        times, window = session.series(case, "cwnd").of(flow)
        line = plotting.COLOURS["blue" if flow == 0 else "orange"]
        panels[1 + flow].step(times, window / SEGMENT, where="post", color=line, lw=0.9)
        panels[1 + flow].set_ylabel(f"cwnd {flow + 1},\nsegments")
        _sequence_panel(panels[3 + flow], case, session, flow)
    # What two flows did is compared: on the same scale.
    for pair in (panels[1:3], panels[3:5]):
        top = max(panel.get_ylim()[1] for panel in pair)
        for panel in pair:
            panel.set_ylim(0, top)
    for panel in panels:
        panel.axvline(SWITCH_S, **grey)
    panels[-1].set(xlabel="time, s", xlim=(0, session.effort_of(case).duration_s))
    figure.align_ylabels()
    handles = [
        Line2D([], [], color=plotting.COLOURS[colour], marker=marker, linestyle="", markersize=6)
        for _, _, colour, marker in _SEQUENCES
    ]
    names = [name for _, name, _, _ in _SEQUENCES]
    figure.legend(handles, names, loc="outside lower center", ncols=3)
    about = f"Alcaraz & Cerdán 2006 · one run, seed {session.seed}"
    plotting.heading(figure, title, f"{about} · BO: occupancy of the RLC buffer, 1500-byte SDUs")
    return figure


_NEAR: Any = {"textcoords": "offset points", "fontsize": 8.5, "color": plotting.COLOURS["grey"]}

_SEQUENCES = (
    ("seq_sent", "sent", "sky", "."),
    ("seq_received", "received", "green", "."),
    ("seq_dropped", "dropped at the buffer", "red", "x"),
)
"""Series, what the legend says, colour, mark."""


def _sequence_panel(panel: Axes, case: Cell, session: Session, flow: int) -> None:
    for series, name, colour, marker in _SEQUENCES:
        times, numbers = session.series(case, series).of(flow)
        segments: NDArray[np.float64] = numbers / SEGMENT
        size = {"markersize": 6.0, "markeredgewidth": 1.4} if marker == "x" else {"markersize": 1.5}
        line: Any = {"color": plotting.COLOURS[colour], "linestyle": "", **size}
        panel.plot(times, segments, marker, label=name, **line)
    panel.set_ylabel(f"flow {flow + 1},\nsegment")
