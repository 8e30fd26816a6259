"""Figs. 1, 3 and 4: symbol errors, and packet errors by the law and in simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from airpath.phy import symbol_error_rate
from airpath.present import style as plotting
from airpath.present.axes import legend_below
from airpath.reproduction.base import Row, Table
from airpath.reproduction.formulas import Point
from airpath.reproduction.items import Cells, Evaluate, grouped, item_of
from airpath.reproduction.session import Session
from airpath_papers.paths import VCP
from airpath_papers.vcp.claims import MODULATIONS, SWEEPS, steps
from airpath_papers.vcp.failures import failure
from airpath_papers.vcp.measures import ErrorRate, error_rate
from airpath_papers.vcp.scenarios import ANTENNAS, antennas_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ERRORS", "draw_rates"]

FIG1_DB: Final = steps(0.0, 30.0, 1.0)
COLOURS: Final = ("blue", "orange", "green", "red")

# --- Fig. 1 --------------------------------------------------------------------------------------


def _symbol_errors(m: int, antennas: str) -> Any:
    tx, rx = antennas_of(antennas)
    return symbol_error_rate(np.asarray(FIG1_DB), MODULATIONS[m], tx=tx, rx=rx)


def _fig1(_session: Session, title: str) -> tuple[list[Row], list[Table]]:
    rates = {(m, each): _symbol_errors(m, each) for m in MODULATIONS for each in ANTENNAS}
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
    notes = ["Rayleigh fading, Eq. 5; STBC as tx rx branches at SNR/tx."]
    return rows, [Table(title, columns, lines, notes)]


def _draw_fig1(_session: Session) -> Figure:
    figure = plotting.new_figure(10.4, 4.8)
    panels: Any = figure.subplots(1, len(MODULATIONS), sharey=True)
    for axes, m in zip(panels, MODULATIONS, strict=True):
        for colour, antennas in zip(COLOURS, ANTENNAS, strict=True):
            look: Any = {"color": plotting.COLOURS[colour], "lw": 1.5, "label": antennas}
            axes.plot(FIG1_DB, _symbol_errors(m, antennas), **look)
        axes.set(xlabel="SNR, dB", title=f"M = {m}", yscale="log", ylim=(1e-12, 1))
    panels[0].set_ylabel("symbol error rate")
    legend_below(figure, panels[0].get_legend_handles_labels()[0], "")
    return figure


# --- Figs. 3 and 4 -----------------------------------------------------------------------------


def _panels(key: str) -> dict[str, list[Point]]:
    return grouped(SWEEPS.points(key), lambda point: point.place["panel"])


def _row(session: Session, point: Point) -> Row:
    place = {name: point.place[name] for name in ("antennas", "code_rate", "snr_db")}
    found = error_rate(session, point.cell)
    extra = {} if found is None else found._asdict()
    return Row(place, "per", "1", None, failure(*place.values()), extra=extra)


def _line(row: Row) -> list[str]:
    place = [str(row.row["antennas"]), f"{row.row['code_rate']:g}", f"{row.row['snr_db']:g}"]
    if not row.extra:
        return [*place, f"{row.ours:.3g}", "nothing sent", ""]
    share, low, high, failed, sent = row.extra.values()
    return [
        *place,
        f"{row.ours:.3g}",
        f"{share:.3g} ({low:.3g} to {high:.3g})",
        f"{failed} of {sent}",
    ]


def _packet_errors(session: Session, key: str) -> tuple[list[Row], list[Table]]:
    columns = [("", "antennas"), ("", "r"), ("", "SNR_G, dB"), ("", "law")]
    columns += [("simulated", "share, 99 %"), ("simulated", "failed")]
    rows, tables = [], []
    for name, points in _panels(key).items():
        found = [_row(session, point) for point in points]
        rows += found
        notes = ["Data of both directions, last 10 s."]
        tables.append(Table(name, columns, [_line(row) for row in found], notes))
    return rows, tables


def _draw_line(
    axes: Axes, session: Session, points: Sequence[Point], colour: str, label: str
) -> None:
    snrs = [point.place["snr_db"] for point in points]
    x = np.linspace(min(snrs), max(snrs), 80)
    code = (points[0].place["antennas"], points[0].place["code_rate"])
    look: dict[str, Any] = {"color": plotting.COLOURS[colour]}
    axes.plot(x, [failure(*code, float(snr)) for snr in x], lw=1.3, label=label, **look)
    draw_rates(
        axes,
        {snr: error_rate(session, p.cell) for snr, p in zip(snrs, points, strict=True)},
        **look,
    )


def draw_rates(axes: Axes, found: Mapping[float, ErrorRate | None], **look: Any) -> None:
    """Draw simulated packet error rates with their intervals, where something was sent."""
    sent = [
        (x, of.simulated, of.simulated - of.simulated_low, of.simulated_high - of.simulated)
        for x, of in found.items()
        if of is not None
    ]
    if sent:
        x, shares, *ends = zip(*sent, strict=True)
        bars: dict[str, Any] = {"capsize": 2, "elinewidth": 0.7, "markersize": 3.5}
        axes.errorbar(x, shares, yerr=ends, fmt="o", **bars, **look)


def _draw(session: Session, key: str) -> Figure:
    panels = _panels(key)
    figure = plotting.new_figure(*((7.6, 5.0) if len(panels) == 1 else (10.4, 8.0)))
    shape = ((len(panels) + 1) // 2, min(len(panels), 2))
    grid: Any = figure.subplots(*shape, squeeze=False, sharey=True)
    for axes, (name, points) in zip(grid.flat, panels.items(), strict=True):
        lines = grouped(points, lambda p: (p.place["antennas"], p.place["code_rate"]))
        for ((antennas, rate), line), colour in zip(lines.items(), COLOURS, strict=True):
            _draw_line(axes, session, line, colour, f"r = {rate:g}" if key == "fig4" else antennas)
        axes.set(xlabel="SNR_G, dB", title=name, ylim=(0, 1.02))
        axes.legend(fontsize=8.5)
    for axes in grid[:, 0]:
        axes.set_ylabel("packet error rate")
    return figure


def _item(key: str) -> tuple[Cells, Evaluate]:
    return item_of(
        VCP,
        key,
        SWEEPS.cells(key),
        lambda session, _title: _packet_errors(session, key),
        lambda session: _draw(session, key),
        "Lines: the law; points: simulation, 99 % intervals. ",
    )


ERRORS: Final = {
    "fig1": item_of(VCP, "fig1", (), _fig1, _draw_fig1),
    "fig3": _item("fig3"),
    "fig4": _item("fig4"),
}
"""Cells and evaluation of each item."""
