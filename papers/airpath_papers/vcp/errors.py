"""Figs. 1, 3 and 4: symbol errors, and packet errors by the law and in simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airpath.phy import symbol_error_rate
from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.manifest import Evaluate, titles
from airpath.reproduction.session import Session
from airpath_papers.paths import VCP
from airpath_papers.vcp.common import about
from airpath_papers.vcp.failures import failure
from airpath_papers.vcp.grids import CODE_RATES, FIG3_DB, MODULATIONS, cases, fig4_db, steps
from airpath_papers.vcp.measures import share_interval, simulated_per
from airpath_papers.vcp.scenarios import ANTENNAS, Case, antennas_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ERRORS"]

FIG1_DB: Final = steps(0, 30, 1)
COLOURS: Final = ("blue", "orange", "green", "red")

# --- Fig. 1 --------------------------------------------------------------------------------------


def _fig1(session: Session, out: Path | None) -> ItemResult:
    title = f"Fig. 1: {titles(VCP)['fig1']}"
    rates = {
        (m, antennas): _symbol_errors(modulation, antennas)
        for m, modulation in MODULATIONS.items()
        for antennas in ANTENNAS
    }
    rows = [
        Row(
            {"antennas": antennas, "M": m, "snr_db": snr},
            "symbol_error_rate",
            "1",
            None,
            float(rate),
        )
        for (m, antennas), found in rates.items()
        for snr, rate in zip(FIG1_DB, found, strict=True)
    ]
    lines = [
        [f"{snr:g}", *(f"{rates[2, antennas][n]:.4e}" for antennas in ANTENNAS)]
        for n, snr in enumerate(FIG1_DB)
        if snr % 5 == 0
    ]
    columns = [("", "SNR, dB"), *(("BPSK", antennas) for antennas in ANTENNAS)]
    table = Table(
        title, columns, lines, ["Rayleigh fading, Eq. 5; STBC as tx rx branches at SNR/tx."]
    )
    figures = []
    if out is not None:
        draw = lambda: _draw_fig1(session, title, rates)  # noqa: E731
        figures = session.draw(draw, out, "vcp-fig1", title, session.about)
    return ItemResult("fig1", title, rows, [table], figures)


def _symbol_errors(modulation: str, antennas: str) -> Any:
    tx, rx = antennas_of(antennas)
    return symbol_error_rate(np.asarray(FIG1_DB), modulation, tx=tx, rx=rx)


def _draw_fig1(session: Session, title: str, rates: Mapping[tuple[int, str], Any]) -> Figure:
    figure = plotting.new_figure(10.4, 4.8)
    panels: Any = figure.subplots(1, len(MODULATIONS), sharey=True)
    for axes, m in zip(panels, MODULATIONS, strict=True):
        for colour, antennas in zip(COLOURS, ANTENNAS, strict=True):
            look: Any = {"color": plotting.COLOURS[colour], "lw": 1.5, "label": antennas}
            axes.plot(FIG1_DB, rates[m, antennas], **look)
        axes.set(xlabel="SNR, dB", title=f"M = {m}", yscale="log", ylim=(1e-12, 1))
    panels[0].set_ylabel("symbol error rate")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    plotting.heading(figure, title, about(session, "fig1", ()))
    return figure


# --- Figs. 3 and 4 -----------------------------------------------------------------------------

Line = tuple[str, float, Sequence[float]]
"""Antennas, code rate, and the SNRs that are simulated, dB."""

LINES: Final[Mapping[str, Mapping[str, Sequence[Line]]]] = {
    "fig3": {"no FEC": [(antennas, 1.0, FIG3_DB) for antennas in ANTENNAS]},
    "fig4": {
        name: [(antennas, r, fig4_db(antennas, r)) for r in CODE_RATES]
        for name, antennas in {
            "(a) 1x1": "1x1",
            "(b) 2x2": "2x2",
            "2x1, not shown in the paper": "2x1",
            "1x2, not shown in the paper": "1x2",
        }.items()
    },
}


def _cells(key: str) -> list[Cell]:
    return [
        cell
        for lines in LINES[key].values()
        for antennas, code_rate, snrs in lines
        for cell in cases("vcp", antennas, code_rate, snrs)
    ]


def _row(session: Session, case: Case) -> Row:
    place: dict[str, int | float | str] = {
        "antennas": case.antennas,
        "code_rate": case.code_rate,
        "snr_db": case.snr_db,
    }
    law = failure(case.antennas, case.code_rate, case.snr_db)
    extra: dict[str, Any] = {}
    found = simulated_per(session, case)
    if found is not None:
        _share, failed, sent = found
        low, high = share_interval(failed, sent, session.paper.confidence)
        extra = {
            "simulated": failed / sent,
            "simulated_low": low,
            "simulated_high": high,
            "failed": failed,
            "sent": sent,
        }
    return Row(place, "per", "1", None, law, extra=extra)


def _text(row: Row) -> list[str]:
    if "sent" not in row.extra:
        return [f"{row.ours:.3g}", "nothing sent", ""]
    low, high = row.extra["simulated_low"], row.extra["simulated_high"]
    shown = f"{row.extra['simulated']:.3g} ({low:.3g} to {high:.3g})"
    return [f"{row.ours:.3g}", shown, f"{row.extra['failed']} of {row.extra['sent']}"]


def _evaluate(key: str) -> Evaluate:
    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = f"Fig. {key[3:]}: {titles(VCP)[key]}"
        complete, figures = session.complete(_cells(key)), []
        rows, tables = [], []
        for name, lines in LINES[key].items():
            found = [
                _row(session, case)
                for antennas, code_rate, snrs in lines
                for case in cases("vcp", antennas, code_rate, snrs)
            ]
            rows += found
            texts = [
                [
                    str(r.row["antennas"]),
                    f"{r.row['code_rate']:g}",
                    f"{r.row['snr_db']:g}",
                    *_text(r),
                ]
                for r in found
            ]
            columns = [("", "antennas"), ("", "r"), ("", "SNR_G, dB"), ("", "law")]
            columns += [("simulated", "share, 99 %"), ("simulated", "failed")]
            tables.append(Table(name, columns, texts, ["Data of both directions, last 10 s."]))
        if out is not None and complete:
            figures = session.draw(
                lambda: _draw(session, key, title, rows), out, f"vcp-{key}", title, session.about
            )
        return ItemResult(key, title, rows, tables, figures, complete=complete)

    return evaluate


def _draw_line(axes: Axes, line: Line, rows: Sequence[Row], colour: str, *, is_coded: bool) -> None:
    antennas, code_rate, snrs = line
    x = np.linspace(min(snrs), max(snrs), 80)
    law = [failure(antennas, code_rate, float(snr)) for snr in x]
    label = f"r = {code_rate:g}" if is_coded else antennas
    axes.plot(x, law, color=plotting.COLOURS[colour], lw=1.3, label=label)
    place = {"antennas": antennas, "code_rate": code_rate}
    found = [
        row
        for row in rows
        if "sent" in row.extra and all(row.row[key] == value for key, value in place.items())
    ]
    at = [row.row["snr_db"] for row in found]
    shares = [row.extra["simulated"] for row in found]
    below = [row.extra["simulated"] - row.extra["simulated_low"] for row in found]
    above = [row.extra["simulated_high"] - row.extra["simulated"] for row in found]
    look: dict[str, Any] = {"color": plotting.COLOURS[colour], "linestyle": "", "marker": "o"}
    axes.errorbar(
        at, shares, yerr=[below, above], capsize=2, elinewidth=0.7, markersize=3.5, **look
    )


def _draw(session: Session, key: str, title: str, found: Sequence[Row]) -> Figure:
    panels = LINES[key]
    figure = plotting.new_figure(*((7.6, 5.0) if len(panels) == 1 else (10.4, 8.0)))
    rows = (len(panels) + 1) // 2
    grid: Any = figure.subplots(rows, min(len(panels), 2), squeeze=False, sharey=True)
    drawn = list(grid.flat)
    for axes, (name, lines) in zip(drawn, panels.items(), strict=True):
        for line, colour in zip(lines, COLOURS, strict=True):
            _draw_line(axes, line, found, colour, is_coded=key == "fig4")
        axes.set(xlabel="SNR_G, dB", title=name, ylim=(0, 1.02))
        axes.legend(fontsize=8.5)
    for axes in grid[:, 0]:
        axes.set_ylabel("packet error rate")
    legend = "Lines: the law; points: simulation, 99 % intervals. "
    plotting.heading(figure, title, legend + about(session, key, _cells(key)))
    return figure


ERRORS: Final[Mapping[str, tuple[Sequence[Cell], Evaluate]]] = {
    "fig1": ((), _fig1),
    "fig3": (_cells("fig3"), _evaluate("fig3")),
    "fig4": (_cells("fig4"), _evaluate("fig4")),
}
"""Cells and evaluation of each item."""
