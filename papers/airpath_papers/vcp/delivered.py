"""Delivered packets over the SNR: Figs. 5 and 6, and ACKs with a code of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.present.axes import label_decades, legend_below
from airpath.present.points import Point as Drawn
from airpath.present.points import draw_means
from airpath.reproduction.base import Row, Table
from airpath.reproduction.claims import known
from airpath.reproduction.formulas import Point
from airpath.reproduction.items import Cells, Evaluate, grouped, item_of
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath_papers.paths import VCP
from airpath_papers.vcp.claims import SWEEPS
from airpath_papers.vcp.failures import failure, past_db, threshold_db
from airpath_papers.vcp.measures import CORRUPTED, DELIVERED, QUEUE_DROPS
from airpath_papers.vcp.scenarios import ACK_BYTES, NAMES, code_rates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DELIVERIES", "LOOKS", "delivery", "place_of"]

RATIO: Final = 0.01
"""The least ratio that a figure shows."""
LOOKS: Final = (("blue", "o"), ("orange", "s"), ("green", "D"), ("red", "P"), ("purple", "v"))


Panels = Mapping[str, Mapping[str, Sequence[Point]]]
"""Points by the title of a panel and the text of the legend, in the order of the SNRs. The lower
part of a panel has each line over the last one."""


def _panels(session: Session, sweeps: Sweeps, names: Sequence[str]) -> Panels:
    """Return the points of sweeps whose place has a ``panel``, by ``line`` or by transport."""

    def label(point: Point) -> str:
        return str(point.place.get("line") or NAMES[point.place["protocol"]])

    found = [point for name in names for point in sweeps.points(name, effort=session.effort)]
    return {
        title: {
            line: sorted(points, key=lambda point: float(point.place["snr_db"]))
            for line, points in grouped(of_panel, label).items()
        }
        for title, of_panel in grouped(found, lambda point: point.place.get("panel")).items()
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


def _rows(session: Session, panels: Panels) -> list[Row]:
    return [
        each.row(session, point.cell, place_of(point))
        for lines in panels.values()
        for line in lines.values()
        for point in line
        for each in (DELIVERED, CORRUPTED, QUEUE_DROPS)
    ]


def _table(session: Session, title: str, panel: Mapping[str, Sequence[Point]]) -> Table:
    lines = []
    for places in zip(*panel.values(), strict=True):
        first = places[0].cell
        antennas, snr = first.axes["antennas"], first.axes["snr_db"]
        data, ack = code_rates(first.axes)
        law = [failure(antennas, data, snr), failure(antennas, ack, snr, ACK_BYTES)]
        texts = [DELIVERED.text(session, point.cell) for point in places]
        texts += [each.text(session, first) for each in (CORRUPTED, QUEUE_DROPS)]
        lines.append([f"{snr:g}", *(f"{fails:.2g}" for fails in law), *texts])
    columns = [("", "SNR_G, dB"), ("fails, by the law", "data"), ("fails, by the law", "ACK")]
    columns += [("delivered", label) for label in panel]
    first_label = next(iter(panel))
    columns += [(first_label, "corrupted"), (first_label, "dropped by queues")]
    notes = [
        "Packets of 1000 B of payload in both directions, last 10 s; the law and the fates are "
        "those of the first transport. Drops count ACKs too."
    ]
    return Table(title, columns, lines, notes)


def _mark(point: SweepPoint) -> tuple[float, str]:
    """Return an SNR of Figs. 5 and 6 that is marked, dB, and the text of the legend for it."""
    antennas, rate = point.axes["antennas"], point.axes["code_rate"]
    if rate == 1:
        return threshold_db(antennas, 1.0, 0.01), "1 % of the data fails"
    return past_db(antennas, rate), "threshold"


def _draw_panel(
    upper: Axes, lower: Axes, session: Session, panel: Mapping[str, Sequence[Point]]
) -> None:
    found = {
        label: [(p.place["snr_db"], known(session, p.cell, DELIVERED.measure)) for p in line]
        for label, line in panel.items()
    }
    *_others, last = found
    for (label, line), look in zip(found.items(), LOOKS, strict=False):
        means = [Drawn(x, of.mean, 0, of.error_bar) for x, of in line]
        draw_means(upper, means, *look, label, 3.5)
        # No ratio where the other one delivers nothing.
        ratios = [
            Drawn(x, of.mean / base.mean, 0, of.error_bar / base.mean)
            for (x, of), (_, base) in zip(line, found[last], strict=True)
            if base.mean > 0 and label != last
        ]
        draw_means(lower, ratios, *look, f"{label} over {last}", 3.5)
    lower.axhline(1.0, color=plotting.COLOURS["black"], lw=0.8)
    upper.set_ylim(bottom=0)
    lower.set_yscale("log")
    lower.set_ylim(bottom=max(RATIO, lower.get_ylim()[0]))
    label_decades(lower.yaxis)
    lower.set(xlabel="SNR_G, dB", ylabel=f"over {last}")


def _draw(session: Session, key: str, panels: Panels) -> Figure:
    figure = plotting.new_figure(max(7.6, 3.9 * len(panels)), 6.4)
    # Panels of one figure of the paper are compared: they have one axis.
    sharex: Any = "all" if key == "fig6" else "col"
    grid: dict[str, Any] = {"squeeze": False, "sharex": sharex, "height_ratios": (1.6, 1)}
    axes: Any = figure.subplots(2, len(panels), **grid)
    for upper, lower, (title, panel) in zip(axes[0], axes[1], panels.items(), strict=True):
        _draw_panel(upper, lower, session, panel)
        upper.set_title(title)
        if key.startswith("fig"):
            at, label = _mark(next(iter(panel.values()))[0].cell)
            for each in (upper, lower):
                grey: Any = {"color": plotting.COLOURS["grey"], "linestyle": ":"}
                each.axvline(at, label=label, **grey)
        if key == "protection":
            upper.legend(fontsize=8)
    axes[0][0].set_ylabel("delivered packets")
    if key != "protection":
        legend_below(figure, axes[0][0].get_legend_handles_labels()[0], "")
    return figure


def delivery(
    directory: Path, key: str, names: Sequence[str] = (), sweeps: Sweeps = SWEEPS
) -> tuple[Cells, Evaluate]:
    """Return an item: its cells and its evaluation.

    Parameters
    ----------
    directory : Path
        Of the ``paper.toml`` with its title.
    key : str
        Of the item.
    names : sequence of str
        Its sweeps. Default: the one with the name of the item.
    sweeps : Sweeps
        Has them. Default: those of the paper.
    """

    def panels(session: Session) -> Panels:
        return _panels(session, sweeps, names or [key])

    return item_of(
        directory,
        key,
        lambda session: [
            p.cell for of in panels(session).values() for line in of.values() for p in line
        ],
        lambda session, _title: (
            _rows(session, panels(session)),
            [_table(session, title, panel) for title, panel in panels(session).items()],
        ),
        lambda session: _draw(session, key, panels(session)),
    )


DELIVERIES: Final = {
    "fig5": delivery(VCP, "fig5", ["fig5", "fig5-between"]),
    "fig6": delivery(VCP, "fig6", ["fig6", "fig6-between"]),
    "protection": delivery(VCP, "protection", ["acks-alone", "protection", "splits"]),
}
"""Cells and evaluation of each item."""
