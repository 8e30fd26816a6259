"""Delivered packets over the SNR: Figs. 5 and 6, and ACKs with a code of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from airpath.present import style as plotting
from airpath.present.axes import label_decades, legend_below
from airpath.present.points import Point as Drawn
from airpath.reproduction.base import Cell, Row, Table
from airpath.reproduction.claims import known
from airpath.reproduction.formulas import Point
from airpath.reproduction.manifest import Cells, Evaluate
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import Sweeps
from airpath_papers.paths import VCP
from airpath_papers.vcp.claims import SWEEPS
from airpath_papers.vcp.common import draw_means, item
from airpath_papers.vcp.failures import failure, past_db, threshold_db
from airpath_papers.vcp.measures import CORRUPTED, DELIVERED, QUEUE_DROPS
from airpath_papers.vcp.scenarios import ACK_BYTES, NAMES, PROTOCOLS, SPLIT_BYTES, code_rates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DELIVERIES", "LOOKS", "Panel", "deliveries", "place_of"]

RATIO: Final = 0.01
"""The least ratio that a figure shows."""
LOOKS: Final = (("blue", "o"), ("orange", "s"), ("green", "D"), ("red", "P"), ("purple", "v"))


class Panel(NamedTuple):
    """Lines over the same SNRs; the panel below has each over the last one."""

    title: str
    lines: Mapping[str, tuple[Sequence[str], Mapping[str, Any]]]
    """At most five: sweeps and the values of their axes, by the text of the legend."""
    marked_db: float | None = None
    """An SNR that is marked."""
    mark: str = ""
    """Text of the legend for it."""
    sweeps: Sweeps = SWEEPS

    def points(self, session: Session) -> dict[str, list[Point]]:
        """Return the points of each line, by SNR."""
        return {
            label: sorted(
                (
                    point
                    for name in names
                    for point in self.sweeps.points(name, effort=session.effort, **place)
                ),
                key=lambda point: float(point.place["snr_db"]),
            )
            for label, (names, place) in self.lines.items()
        }

    def cells(self, session: Session) -> list[Cell]:
        """Return every cell."""
        return [point.cell for line in self.points(session).values() for point in line]


def _compared(antennas: str, code_rate: float) -> Panel:
    sweeps = ("fig5", "fig5-between") if code_rate == 1 else ("fig6", "fig6-between")
    place = {"antennas": antennas, "code_rate": code_rate}
    lines = {NAMES[name]: (sweeps, {**place, "protocol": name}) for name in PROTOCOLS}
    if code_rate == 1:
        marked = (threshold_db(antennas, 1.0, 0.01), "1 % of the data fails")
        return Panel(f"{antennas}, no FEC", lines, *marked)
    return Panel(f"{antennas}, r = {code_rate:g}", lines, past_db(antennas, code_rate), "threshold")


_SPLITS: Final = SWEEPS.changes("splits")

PANELS: Final[Mapping[str, Sequence[Panel]]] = {
    "fig5": [_compared(antennas, 1.0) for antennas in ("2x1", "2x2")],
    "fig6": [_compared(antennas, rate) for rate in (0.93, 0.7) for antennas in ("2x1", "2x2")],
    "protection": [
        Panel(
            "ACKs alone",
            {
                "ACKs at 0.5": (["acks-alone"], {"change": "acks"}),
                "all at 0.964": (["acks-alone"], {"code_rate": 1080 / 1120}),
            },
        ),
        Panel(
            "data at 0.93",
            {
                "0.93 and 0.5": (["protection"], {"code": "apart"}),
                "all at 0.93": (["data-coded"], {}),
                "all at 0.902": (["protection"], {"code": "uniform"}),
            },
        ),
        Panel(
            f"{SPLIT_BYTES} B of data and ACK together",
            {
                _SPLITS[change]: (["splits"], {"change": change})
                for change in (f"split-{ack}" for ack in (42, 48, 54, 80, 44))
            },
        ),
    ],
}


def place_of(point: Point) -> dict[str, int | float | str]:
    """Return what names a row."""
    axes = point.cell.axes
    place: dict[str, int | float | str] = {
        "antennas": axes["antennas"],
        "code_rate": code_rates(axes)[0],
        "protocol": axes["protocol"],
        "snr_db": axes["snr_db"],
    }
    change = point.place.get("change")
    return {**place, "variant": change} if change else place


def _rows(session: Session, panel: Panel) -> list[Row]:
    return [
        each.row(session, point.cell, place_of(point))
        for line in panel.points(session).values()
        for point in line
        for each in (DELIVERED, CORRUPTED, QUEUE_DROPS)
    ]


def _table(session: Session, panel: Panel) -> Table:
    lines = []
    for places in zip(*panel.points(session).values(), strict=True):
        first = places[0].cell
        antennas, snr = first.axes["antennas"], first.axes["snr_db"]
        data, ack = code_rates(first.axes)
        law = [failure(antennas, data, snr), failure(antennas, ack, snr, ACK_BYTES)]
        texts = [DELIVERED.text(session, point.cell) for point in places]
        texts += [each.text(session, first) for each in (CORRUPTED, QUEUE_DROPS)]
        lines.append([f"{snr:g}", *(f"{fails:.2g}" for fails in law), *texts])
    columns = [("", "SNR_G, dB"), ("fails, by the law", "data"), ("fails, by the law", "ACK")]
    columns += [("delivered", label) for label in panel.lines]
    first_label = next(iter(panel.lines))
    columns += [(first_label, "corrupted"), (first_label, "dropped by queues")]
    notes = [
        "Packets of 1000 B of payload in both directions, last 10 s; the law and the fates are "
        "those of the first transport. Drops count ACKs too."
    ]
    return Table(panel.title, columns, lines, notes)


def _draw_panel(upper: Axes, lower: Axes, session: Session, panel: Panel) -> None:
    found = {
        label: [(p.place["snr_db"], known(session, p.cell, DELIVERED.measure)) for p in line]
        for label, line in panel.points(session).items()
    }
    *_others, last = found
    for (label, line), look in zip(found.items(), LOOKS, strict=False):
        draw_means(upper, [Drawn(x, of.mean, 0, of.error_bar) for x, of in line], *look, label)
        # No ratio where the other one delivers nothing.
        both = zip(line, found[last], strict=True)
        ratios = [
            Drawn(x, of.mean / base.mean, 0, of.error_bar / base.mean)
            for (x, of), (_, base) in both
            if base.mean > 0 and label != last
        ]
        draw_means(lower, ratios, *look, f"{label} over {last}")
    for axes in (upper, lower):
        if panel.marked_db is not None:
            grey: Any = {"color": plotting.COLOURS["grey"], "linestyle": ":"}
            axes.axvline(panel.marked_db, label=panel.mark, **grey)
    lower.axhline(1.0, color=plotting.COLOURS["black"], lw=0.8)
    upper.set_title(panel.title)
    upper.set_ylim(bottom=0)
    lower.set_yscale("log")
    lower.set_ylim(bottom=max(RATIO, lower.get_ylim()[0]))
    label_decades(lower.yaxis)
    lower.set(xlabel="SNR_G, dB", ylabel=f"over {last}")


def _draw(session: Session, key: str, panels: Sequence[Panel]) -> Figure:
    figure = plotting.new_figure(max(7.6, 3.9 * len(panels)), 6.4)
    # Panels of one figure of the paper are compared: they have one axis.
    sharex: Any = "all" if key == "fig6" else "col"
    grid: dict[str, Any] = {"squeeze": False, "sharex": sharex, "height_ratios": (1.6, 1)}
    axes: Any = figure.subplots(2, len(panels), **grid)
    for upper, lower, panel in zip(axes[0], axes[1], panels, strict=True):
        _draw_panel(upper, lower, session, panel)
        if key == "protection":
            upper.legend(fontsize=8)
    axes[0][0].set_ylabel("delivered packets")
    if key != "protection":
        legend_below(figure, axes[0][0].get_legend_handles_labels()[0], "")
    return figure


def deliveries(
    items: Mapping[str, Sequence[Panel]], directory: Path
) -> dict[str, tuple[Cells, Evaluate]]:
    """Return items: the cells and the evaluation of each.

    Parameters
    ----------
    items : mapping of str to sequence of Panel
        By key.
    directory : Path
        Of the ``paper.toml`` with their titles.
    """

    def of(key: str, panels: Sequence[Panel]) -> tuple[Cells, Evaluate]:
        return item(
            directory,
            key,
            lambda session: [cell for panel in panels for cell in panel.cells(session)],
            lambda session, _title: (
                [row for panel in panels for row in _rows(session, panel)],
                [_table(session, panel) for panel in panels],
            ),
            lambda session: _draw(session, key, panels),
        )

    return {key: of(key, panels) for key, panels in items.items()}


DELIVERIES: Final = deliveries(PANELS, VCP)
"""Cells and evaluation of each item."""
