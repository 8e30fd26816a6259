"""The item ``life-spans``: how long flows live that losses abort (vcp-2008 §IV)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.manifest import titles
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath_papers.paths import VCP
from airpath_papers.vcp.common import about, band
from airpath_papers.vcp.delivered import NAMES
from airpath_papers.vcp.failures import failure
from airpath_papers.vcp.grids import LIFE_DB, LIVES, PROTOCOLS, SET_UPS
from airpath_papers.vcp.measures import DELIVERED, aborted_flows, life_spans_s
from airpath_papers.vcp.scenarios import ACK_BYTES, Case
from airpath_papers.vcp.variants import TEAR_DOWN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ITEM"]

ABORTED: Final = Measured("aborted_flows", "1", aborted_flows, 1)
COLOURS: Final = {"vcp": ("blue", "o"), "tcp-rem": ("orange", "s")}

_CELLS: Final[list[Cell]] = [
    case
    for of_snr in (SET_UPS, *LIVES.values())
    for pair in of_snr.values()
    for case in pair.values()
]


def _place(case: Case) -> dict[str, int | float | str]:
    return {"protocol": case.protocol, "snr_db": case.snr_db, "variant": case.variant}


def _life_row(session: Session, case: Case) -> Row | None:
    found = life_spans_s(session, case) if session.complete([case]) else []
    if not found:
        return None
    each = session.interval(found)
    return Row(_place(case), "life_span", "s", None, each.mean, low=each.low, high=each.high)


def _table(session: Session, variant: str) -> Table:
    lines = []
    for snr, pair in LIVES[variant].items():
        fails = [f"{failure('2x2', 1.0, snr, size):.2g}" for size in (1040, ACK_BYTES)]
        texts = []
        for protocol in PROTOCOLS:
            row = _life_row(session, pair[protocol])
            texts.append("" if row is None else f"{row.ours:.2f}")
            texts += [each.text(session, pair[protocol]) for each in (ABORTED, DELIVERED)]
        lines.append([f"{snr:g}", *fails, *texts])
    columns = [("", "SNR_G, dB"), ("fails, by the law", "data"), ("fails, by the law", "ACK")]
    for protocol in PROTOCOLS:
        measures = ("life span, s", "aborted of 20", "delivered")
        columns += [(NAMES[protocol], measure) for measure in measures]
    notes = [
        "2x2 without FEC, runs of 20 s; packets of the last 10 s. A life span begins with the "
        "first ACK; a flow without one counts 0 s."
    ]
    return Table(TEAR_DOWN[variant].about, columns, lines, notes)


def _evaluate(session: Session, out: Path | None) -> ItemResult:
    title = titles(VCP)["life-spans"]
    rows: list[Row | None] = []
    for of_snr in LIVES.values():
        for pair in of_snr.values():
            for case in pair.values():
                rows += [_life_row(session, case)]
                rows += [each.row(session, case, _place(case)) for each in (ABORTED, DELIVERED)]
    complete, figures = session.complete(_CELLS), []
    if out is not None and complete:
        figures = session.draw(
            lambda: _draw(session, title), out, "vcp-life-spans", title, session.about
        )
    kept = [row for row in rows if row is not None and row.ours is not None]
    tables = [_table(session, variant) for variant in LIVES]
    return ItemResult("life-spans", title, kept, tables, figures, complete=complete)


def _draw(session: Session, title: str) -> Figure:
    figure = plotting.new_figure(10.4, 4.6)
    panels: Any = figure.subplots(1, len(LIVES), sharey=True)
    for axes, (variant, of_snr) in zip(panels, LIVES.items(), strict=True):
        for protocol, look in COLOURS.items():
            lines = [life_spans_s(session, pair[protocol]) for pair in of_snr.values()]
            found = [session.interval(line) for line in lines]
            means, halves = [each.mean for each in found], [each.error_bar for each in found]
            band(axes, LIFE_DB, means, halves, *look, NAMES[protocol])
        axes.set(title=TEAR_DOWN[variant].about, xlabel="SNR_G, dB", ylim=(0, 20.5))
        axes.title.set_fontsize(9.5)
    panels[0].set_ylabel("mean life span of a flow, s")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    plotting.heading(figure, title, about(session, "life-spans", _CELLS))
    return figure


ITEM: Final = (_CELLS, _evaluate)
"""The item's cells, and what makes its result."""
