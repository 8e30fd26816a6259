"""The item ``code-rate``: which code rate carries most, by the law and by transports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Row, Table
from airpath.reproduction.items import item_of
from airpath.reproduction.session import Session
from airpath_papers.vcp.failures import goodput_share
from airpath_papers.vcp.quantities import DELIVERED, NAMING
from airpath_papers.vcp.scenarios import NAMES

from .checks import DIRECTORY, RATES, SWEEPS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ITEM"]

_POINTS: Final = SWEEPS.points("code-rate")
SNRS_DB: Final = [*dict.fromkeys(point.place["snr_db"] for point in _POINTS)]
COMPARED: Final = [*dict.fromkeys(point.place["protocol"] for point in _POINTS)]


def _best_by_law(snr_db: float) -> Any:
    """Return the rate with the largest (k/b)(1 - failure)."""
    return max(RATES, key=lambda rate: goodput_share("2x2", rate, snr_db))


def _best_of(session: Session, protocol: str, snr_db: float) -> Any:
    """Return the rate with which a transport delivers most; None when nothing was simulated."""
    cells = SWEEPS.cells("code-rate", protocol=protocol, snr_db=snr_db)
    found = {cell.axes["code_rate"]: DELIVERED.estimate(session, cell) for cell in cells}
    means = {rate: each.mean for rate, each in found.items() if each is not None}
    return max(means, key=lambda rate: means[rate]) if len(means) == len(RATES) else None


def _found(session: Session, title: str) -> tuple[list[Row], list[Table]]:
    rows = [DELIVERED.row(session, point.cell, NAMING.place_of(point)) for point in _POINTS]
    lines = []
    for snr in SNRS_DB:
        for rate in RATES:
            place = {"antennas": "2x2", "code_rate": rate, "snr_db": snr}
            rows.append(Row(place, "goodput_share", "1", None, goodput_share("2x2", rate, snr)))
        found = [_best_of(session, protocol, snr) for protocol in COMPARED]
        texts = ["" if each is None else f"{each:g}" for each in found]
        lines.append([f"{snr:g}", f"{_best_by_law(snr):g}", *texts])
    columns = [("", "SNR_G, dB"), ("best code rate", "law")]
    columns += [("best code rate", NAMES[protocol]) for protocol in COMPARED]
    notes = [
        f"2x2; of {', '.join(f'{rate:g}' for rate in RATES)}. The law: largest (k/b)(1 - PER)."
    ]
    return rows, [Table(title, columns, lines, notes)]


def _draw(session: Session) -> Figure:
    figure = plotting.new_figure(7.6, 4.8)
    axes = figure.subplots()
    law = [_best_by_law(snr) for snr in SNRS_DB]
    axes.plot(SNRS_DB, law, color=plotting.COLOURS["black"], lw=1.6, label="law")
    for place, protocol in enumerate(COMPARED):
        look: dict[str, Any] = {
            "color": plotting.colour_of(place),
            "marker": plotting.MARKERS[place],
        }
        dodged = [snr + 0.12 * (place - 1) for snr in SNRS_DB]
        best: list[Any] = [_best_of(session, protocol, snr) for snr in SNRS_DB]
        axes.plot(dodged, best, lw=0.8, label=NAMES[protocol], **look)
    axes.set(xlabel="SNR_G, dB", ylabel="best code rate", ylim=(0.55, 1.0))
    axes.legend(loc="lower right")
    return figure


ITEM: Final = item_of(DIRECTORY, "code-rate", [point.cell for point in _POINTS], _found, _draw)
"""The item's cells, and what makes its result."""
