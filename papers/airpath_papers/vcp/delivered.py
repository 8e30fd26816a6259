"""Delivered packets over the SNR: Figs. 5 and 6, and ACKs protected apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.claims import known
from airpath.reproduction.manifest import Evaluate, titles
from airpath.reproduction.session import Session
from airpath.results.intervals import Interval
from airpath_papers.paths import VCP
from airpath_papers.vcp.common import about, band
from airpath_papers.vcp.failures import failure, past_db, threshold_db
from airpath_papers.vcp.grids import (
    FIG5_DB,
    FIG6_DB,
    FIG6_TO_DB,
    PROTECTION_DB,
    PROTOCOLS,
    SPLIT_DB,
    WATERFALL_DB,
    cases,
    shown,
)
from airpath_papers.vcp.measures import CORRUPTED, DELIVERED, QUEUE_DROPS
from airpath_papers.vcp.scenarios import ACK_BYTES, Case
from airpath_papers.vcp.variants import SPLIT_BYTES, UNIFORM, split_rate, variant_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DELIVERIES", "NAMES", "Line", "Panel", "between", "deliveries"]

NAMES: Final[Mapping[str, str]] = {
    "vcp": "VCP",
    "tcp-rem": "TCP/REM",
    "cubic": "CUBIC",
    "sack": "Reno + SACK",
    "cubic-sack": "CUBIC + SACK",
    "dctcp": "DCTCP",
}
RATIO: Final = 0.01
"""The least ratio that a figure shows."""
LOOKS: Final = (("blue", "o"), ("orange", "s"), ("green", "D"), ("red", "P"), ("purple", "v"))


@dataclass(frozen=True)
class Line:
    """A transport over the SNR.

    Parameters
    ----------
    label : str
        What the legend says.
    protocol, antennas, code_rate, variant
        As `Case` has them.
    """

    label: str
    protocol: str
    antennas: str
    code_rate: float
    variant: str = ""

    def cells(self, snrs_db: Sequence[float]) -> list[Case]:
        """Return its cells in the order of the SNRs."""
        return cases(self.protocol, self.antennas, self.code_rate, snrs_db, self.variant)


@dataclass(frozen=True)
class Panel:
    """Lines over the same SNRs.

    Parameters
    ----------
    title : str
        Its heading.
    lines : sequence of Line
        At most five; the panel below has each over the last one.
    snrs_db : sequence of float
        SNR_G, dB, in every mode.
    between_db : sequence of float
        More of them, thinned where the effort is small.
    marked_db : float, optional
        An SNR that is marked, where something ends that `mark` names.
    mark : str
        Its label in the legend.
    """

    title: str
    lines: Sequence[Line]
    snrs_db: Sequence[float]
    between_db: Sequence[float] = field(default=())
    marked_db: float | None = None
    mark: str = ""

    def places(self, session: Session) -> list[float]:
        """Return the SNRs that are simulated."""
        more = shown(session, self.between_db) if self.between_db else []
        return sorted({*self.snrs_db, *more})

    def cells(self, session: Session) -> list[Cell]:
        """Return every cell."""
        places = self.places(session)
        return [cell for line in self.lines for cell in line.cells(places)]


def between(snrs_db: Sequence[float]) -> list[float]:
    """Return the values in the middle between neighbours."""
    return [(low + high) / 2 for low, high in pairwise(snrs_db)]


# --- the items ---------------------------------------------------------------------------------


def _compared(antennas: str, code_rate: float, snrs_db: Sequence[float]) -> Panel:
    lines = [Line(NAMES[name], name, antennas, code_rate) for name in PROTOCOLS]
    if code_rate == 1:
        marked = (threshold_db(antennas, 1.0, 0.01), "1 % of the data fails")
        return Panel(f"{antennas}, no FEC", lines, snrs_db, between(snrs_db), *marked)
    more = {*between(snrs_db), *WATERFALL_DB[antennas, code_rate]} - set(snrs_db)
    marked = (past_db(antennas, code_rate), "threshold")
    places = (*snrs_db, *((FIG6_TO_DB,) if FIG6_TO_DB not in snrs_db else ()))
    return Panel(f"{antennas}, r = {code_rate:g}", lines, places, sorted(more), *marked)


def _protected() -> list[Panel]:
    return [
        Panel(
            "ACKs alone",
            [
                Line("ACKs at 0.5", "vcp", "2x2", 1.0, "acks"),
                Line(f"all at {UNIFORM['acks']:.3f}", "vcp", "2x2", UNIFORM["acks"]),
            ],
            PROTECTION_DB,
        ),
        Panel(
            "data at 0.93",
            [
                Line("0.93 and 0.5", "vcp", "2x2", 0.93, "acks-more"),
                Line("all at 0.93", "vcp", "2x2", 0.93),
                Line(f"all at {UNIFORM['acks-more']:.3f}", "vcp", "2x2", UNIFORM["acks-more"]),
            ],
            PROTECTION_DB,
        ),
        Panel(
            f"{SPLIT_BYTES} B of data and ACK together",
            [
                *(
                    Line(
                        f"{SPLIT_BYTES - ack} + {ack} B",
                        "vcp",
                        "2x2",
                        split_rate(ack),
                        f"split-{ack}",
                    )
                    for ack in (42, 48, 54, 80)
                ),
                Line("1154 + 44 B: one code", "vcp", "2x2", split_rate(44), "split-44"),
            ],
            SPLIT_DB,
        ),
    ]


PANELS: Final[Mapping[str, Sequence[Panel]]] = {
    "fig5": [_compared(antennas, 1.0, snrs) for antennas, snrs in FIG5_DB.items()],
    "fig6": [_compared(*place, snrs) for place, snrs in FIG6_DB.items()],
    "protection": _protected(),
}


def _cells(panels: Sequence[Panel]) -> Callable[[Session], Sequence[Cell]]:
    return lambda session: [cell for panel in panels for cell in panel.cells(session)]


def _rows(session: Session, panel: Panel) -> list[Row]:
    rows = []
    for line in panel.lines:
        for case in line.cells(panel.places(session)):
            place: dict[str, int | float | str] = {
                "antennas": case.antennas,
                "code_rate": case.code_rate,
                "protocol": case.protocol,
                "snr_db": case.snr_db,
            }
            if case.variant:
                place["variant"] = case.variant
            shown_here = (DELIVERED, CORRUPTED, QUEUE_DROPS)
            rows += [each.row(session, case, place) for each in shown_here]
    return [row for row in rows if row.ours is not None]


def _table(session: Session, panel: Panel) -> Table:
    lines = []
    for snr in panel.places(session):
        found = [line.cells([snr])[0] for line in panel.lines]
        first = found[0]
        apart = variant_of(first).link.get("small", {})
        rates = {(): first.code_rate, (ACK_BYTES,): apart.get("code_rate", first.code_rate)}
        data, ack = (
            f"{failure(first.antennas, rate, snr, *size):.2g}" for size, rate in rates.items()
        )
        texts = [DELIVERED.text(session, case) for case in found]
        fates = [each.text(session, found[0]) for each in (CORRUPTED, QUEUE_DROPS)]
        lines.append([f"{snr:g}", data, ack, *texts, *fates])
    columns = [("", "SNR_G, dB"), ("fails, by the law", "data"), ("fails, by the law", "ACK")]
    columns += [("delivered", line.label) for line in panel.lines]
    columns += [(panel.lines[0].label, "corrupted"), (panel.lines[0].label, "dropped by queues")]
    notes = [
        "Packets of 1000 B of payload in both directions, last 10 s; the law and the fates are "
        "those of the first transport. Drops count ACKs too."
    ]
    return Table(panel.title, columns, lines, notes)


def _evaluate(key: str, panels: Sequence[Panel], directory: Path) -> Evaluate:
    def evaluate(session: Session, out: Path | None) -> ItemResult:
        name = f"Fig. {key[3:]}: " if key.startswith("fig") else ""
        title = f"{name}{titles(directory)[key]}"
        complete, figures = session.complete(_cells(panels)(session)), []
        if out is not None and complete:
            figures = session.draw(
                lambda: _draw(session, key, title, panels), out, f"vcp-{key}", title, session.about
            )
        rows = [row for panel in panels for row in _rows(session, panel)]
        tables = [_table(session, panel) for panel in panels]
        return ItemResult(key, title, rows, tables, figures, complete=complete)

    return evaluate


def _known(session: Session, line: Line, places: Sequence[float]) -> list[Interval]:
    return [known(session, case, DELIVERED.measure) for case in line.cells(places)]


def _draw_panel(upper: Axes, lower: Axes, session: Session, panel: Panel) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    places = panel.places(session)
    *_others, last = panel.lines
    base = _known(session, last, places)
    for line, (colour, marker) in zip(panel.lines, LOOKS, strict=False):
        found = _known(session, line, places)
        means, halves = [each.mean for each in found], [each.error_bar for each in found]
        band(upper, places, means, halves, colour, marker, line.label)
        if line is last:
            continue
        # Where the other delivers nothing there is no ratio.
        both = zip(places, found, base, strict=True)
        points = [(x, a.mean / b.mean, a.error_bar / b.mean) for x, a, b in both if b.mean > 0]
        x, ratios, widths = zip(*points, strict=True) if points else ((), (), ())
        band(lower, x, ratios, widths, colour, marker, f"{line.label} over {last.label}")
    for axes in (upper, lower):
        if panel.marked_db is not None:
            look: dict[str, Any] = {"color": plotting.COLOURS["grey"], "linestyle": ":"}
            axes.axvline(panel.marked_db, label=panel.mark, **look)
    lower.axhline(1.0, color=plotting.COLOURS["black"], lw=0.8)
    upper.set_title(panel.title)
    upper.set_ylim(bottom=0)
    lower.set_yscale("log")
    lower.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    lower.yaxis.set_major_formatter("{x:g}")
    lower.yaxis.set_minor_formatter(NullFormatter())
    lower.set_ylim(bottom=max(RATIO, lower.get_ylim()[0]))
    lower.set(xlabel="SNR_G, dB", ylabel=f"over {last.label}")


def _draw(session: Session, key: str, title: str, panels: Sequence[Panel]) -> Figure:
    figure = plotting.new_figure(max(7.6, 3.9 * len(panels)), 6.4)
    # Panels of one figure of the paper have one axis: they are there to be compared.
    sharex: Any = "all" if key == "fig6" else "col"
    axes: Any = figure.subplots(
        2, len(panels), squeeze=False, sharex=sharex, height_ratios=(1.6, 1)
    )
    for upper, lower, panel in zip(axes[0], axes[1], panels, strict=True):
        _draw_panel(upper, lower, session, panel)
        if len(panel.lines) != len(panels[0].lines) or key == "protection":
            upper.legend(fontsize=8)
    axes[0][0].set_ylabel("delivered packets")
    if key != "protection":
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)
    plotting.heading(figure, title, about(session, key, _cells(panels)(session)))
    return figure


def deliveries(
    items: Mapping[str, Sequence[Panel]], directory: Path
) -> dict[str, tuple[Callable[[Session], Sequence[Cell]], Evaluate]]:
    """Return items: the cells and the evaluation of each, from its panels.

    Parameters
    ----------
    items : mapping of str to sequence of Panel
        By key.
    directory : Path
        Of the ``paper.toml`` with their titles.
    """
    return {
        key: (_cells(panels), _evaluate(key, panels, directory)) for key, panels in items.items()
    }


DELIVERIES: Final = deliveries(PANELS, VCP)
"""Cells and evaluation of each item."""
