"""The item ``code-rate``: which code rate carries most, by the law and by transports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.manifest import titles
from airpath.reproduction.session import Session
from airpath_papers.vcp.common import about
from airpath_papers.vcp.delivered import NAMES
from airpath_papers.vcp.failures import goodput_share
from airpath_papers.vcp.measures import DELIVERED
from airpath_papers.vcp.scenarios import Case

from .coding import COMPARED, RATES, SNRS_DB, best_by_law, best_of, rated

if TYPE_CHECKING:
    from matplotlib.figure import Figure


__all__ = ["ITEM"]

DIRECTORY: Final = Path(__file__).parent

LOOKS: Final = {"vcp": ("blue", "o"), "tcp-rem": ("orange", "s"), "sack": ("green", "D")}

_CELLS: Final[list[Cell]] = [
    case for protocol in COMPARED for snr in SNRS_DB for case in rated(protocol, snr)
]


def _evaluate(session: Session, out: Path | None) -> ItemResult:
    title = titles(DIRECTORY)["code-rate"]
    rows = []
    for cell in _CELLS:
        case = Case(*cell)
        place: dict[str, int | float | str] = {
            "antennas": case.antennas,
            "code_rate": case.code_rate,
            "protocol": case.protocol,
            "snr_db": case.snr_db,
        }
        rows.append(DELIVERED.row(session, case, place))
    lines = []
    for snr in SNRS_DB:
        rows += [
            Row(
                {"antennas": "2x2", "code_rate": rate, "snr_db": snr},
                "goodput_share",
                "1",
                None,
                goodput_share("2x2", rate, snr),
            )
            for rate in RATES
        ]
        found = [best_of(session, protocol, snr) for protocol in COMPARED]
        texts = ["" if each is None else f"{each:g}" for each in found]
        lines.append([f"{snr:g}", f"{best_by_law(snr):g}", *texts])
    columns = [("", "SNR_G, dB"), ("best code rate", "law")]
    columns += [("best code rate", NAMES[protocol]) for protocol in COMPARED]
    notes = [
        f"2x2; of {', '.join(f'{rate:g}' for rate in RATES)}. The law: largest (k/b)(1 - PER)."
    ]
    complete, figures = session.complete(_CELLS), []
    if out is not None and complete:
        figures = session.draw(
            lambda: _draw(session, title), out, "vcp-code-rate", title, session.about
        )
    rows = [row for row in rows if row.ours is not None]
    table = Table(title, columns, lines, notes)
    return ItemResult("code-rate", title, rows, [table], figures, complete=complete)


def _draw(session: Session, title: str) -> Figure:
    figure = plotting.new_figure(7.6, 4.8)
    axes = figure.subplots()
    law = [best_by_law(snr) for snr in SNRS_DB]
    axes.plot(SNRS_DB, law, color=plotting.COLOURS["black"], lw=1.6, label="law")
    for place, protocol in enumerate(COMPARED):
        colour, marker = LOOKS[protocol]
        look: dict[str, Any] = {"color": plotting.COLOURS[colour], "marker": marker}
        beside = [snr + 0.12 * (place - 1) for snr in SNRS_DB]
        best: Sequence[Any] = [best_of(session, protocol, snr) for snr in SNRS_DB]
        axes.plot(beside, best, lw=0.8, label=NAMES[protocol], **look)
    axes.set(xlabel="SNR_G, dB", ylabel="best code rate", ylim=(0.55, 1.0))
    axes.legend(loc="lower right")
    plotting.heading(figure, title, about(session, "code-rate", _CELLS))
    return figure


ITEM: Final = (_CELLS, _evaluate)
"""The item's cells, and what makes its result."""
