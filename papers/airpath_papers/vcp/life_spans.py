"""The item ``life-spans``: how long flows live that losses abort (vcp-2008 §IV)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.present.axes import legend_below
from airpath.present.points import Point as Drawn
from airpath.present.points import draw_means
from airpath.reproduction.base import Row, Table
from airpath.reproduction.formulas import Point
from airpath.reproduction.items import item_of
from airpath.reproduction.session import Session
from airpath_papers.paths import VCP
from airpath_papers.vcp.claims import SWEEPS
from airpath_papers.vcp.delivered import LOOKS
from airpath_papers.vcp.failures import failure
from airpath_papers.vcp.measures import ABORTED, DELIVERED, life_spans_s
from airpath_papers.vcp.scenarios import ACK_BYTES, DATA_BYTES, NAMES, PROTOCOLS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ITEM"]

_SWEEPS: Final = ("lives", "lives-5")

_CELLS: Final = [cell for name in ("set-ups", *_SWEEPS) for cell in SWEEPS.cells(name)]


def _life_row(session: Session, point: Point) -> Row | None:
    found = life_spans_s(session, point.cell) if session.complete([point.cell]) else []
    if not found:
        return None
    each = session.interval(found)
    return Row(_place(point), "life_span", "s", None, each.mean, low=each.low, high=each.high)


def _place(point: Point) -> dict[str, Any]:
    place = point.place
    return {
        "protocol": place["protocol"],
        "snr_db": place["snr_db"],
        "variant": place["change"],
    }


def _table(session: Session, sweep: str) -> Table:
    lines = []
    lives = [SWEEPS.points(sweep, protocol=name) for name in PROTOCOLS]
    for both in zip(*lives, strict=True):
        snr = both[0].place["snr_db"]
        line = [f"{snr:g}"]
        line += [f"{failure('2x2', 1.0, snr, size):.2g}" for size in (DATA_BYTES, ACK_BYTES)]
        for point in both:
            row = _life_row(session, point)
            line.append("" if row is None else f"{row.ours:.2f}")
            line += [each.text(session, point.cell) for each in (ABORTED, DELIVERED)]
        lines.append(line)
    columns = [("", "SNR_G, dB"), ("fails, by the law", "data"), ("fails, by the law", "ACK")]
    for protocol in PROTOCOLS:
        measures = ("life span, s", "aborted of 20", "delivered")
        columns += [(NAMES[protocol], measure) for measure in measures]
    notes = [
        "2x2 without FEC, runs of 20 s; packets of the last 10 s. A life span begins with the "
        "first ACK; a flow without one counts 0 s."
    ]
    return Table(_about(sweep), columns, lines, notes)


def _about(sweep: str) -> str:
    [about] = SWEEPS.changes(sweep).values()
    return about


def _found(session: Session, _title: str) -> tuple[list[Row | None], list[Table]]:
    rows: list[Row | None] = []
    for point in (point for name in _SWEEPS for point in SWEEPS.points(name)):
        rows.append(_life_row(session, point))
        rows += [each.row(session, point.cell, _place(point)) for each in (ABORTED, DELIVERED)]
    return rows, [_table(session, sweep) for sweep in _SWEEPS]


def _draw(session: Session) -> Figure:
    figure = plotting.new_figure(10.4, 4.6)
    panels: Any = figure.subplots(1, len(_SWEEPS), sharey=True)
    for axes, sweep in zip(panels, _SWEEPS, strict=True):
        for protocol, look in zip(PROTOCOLS, LOOKS, strict=False):
            found = [
                (point.place["snr_db"], session.interval(life_spans_s(session, point.cell)))
                for point in SWEEPS.points(sweep, protocol=protocol)
            ]
            points = [Drawn(x, each.mean, 0, each.error_bar) for x, each in found]
            draw_means(axes, points, *look, NAMES[protocol], 3.5)
        axes.set(title=_about(sweep), xlabel="SNR_G, dB", ylim=(0, 20.5))
        axes.title.set_fontsize(9.5)
    panels[0].set_ylabel("mean life span of a flow, s")
    legend_below(figure, panels[0].get_legend_handles_labels()[0], "")
    return figure


ITEM: Final = item_of(VCP, "life-spans", _CELLS, _found, _draw)
"""The item's cells, and what makes its result."""
