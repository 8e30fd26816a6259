"""Figs. 4, 5, 9 and 10: measures over the mean queueing delay (clamp-2008 §5.5 to §5.10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, Row, Table
from airpath.reproduction.claims import means
from airpath.reproduction.items import Cells, Evaluate, Found, item_of
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.clamp.curves import Curve
from airpath_papers.clamp.measures import (
    DELAYS,
    FLOWS_MS,
    download_s,
    queueing_delay_s,
    rate_mbps,
    sojourn_time_s,
    timeouts_per_s,
    total_mbps,
)
from airpath_papers.clamp.sweeps import NAMES, sweep
from airpath_papers.paths import CLAMP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "drawn_over", "figure_of", "legend"]

DELAY: Final = Measured("queueing_delay", "s", queueing_delay_s, 4)
SOJOURN: Final = Measured("mean_sojourn", "s", sojourn_time_s, 4)
AXES: Final = {
    "end": "mean queueing delay, arrival to end of service, ms",
    "wait": "mean sojourn time, arrival to start of service, ms",
}
"""The abscissa of each definition of the queueing delay."""
LEAST_RUNS: Final = 4
"""Intervals of fewer runs are several times as wide as the panel."""
RATES: Final = {
    flow: Measured(f"throughput_{flow}", "Mbit/s", rate_mbps(flow), 3) for flow in FLOWS_MS
}
TIMEOUTS: Final = {
    flow: Measured(f"timeouts_{flow}", "1/s", timeouts_per_s(flow), 4) for flow in FLOWS_MS
}
TOTAL: Final = Measured("total_throughput", "Mbit/s", total_mbps, 3)
DOWNLOAD: Final = Measured("download_time", "s", download_s, 2)
KNOB: Final = {True: "a", False: "buffer"}

LOOKS: Final = {
    30: ("blue", "o", "-"),
    130: ("green", "s", "-"),
    10: ("red", "D", "-."),
    180: ("orange", "^", "--"),
}
"""Colour, marker and line of each flow; the paper has 10 dash-dotted and 180 dashed."""

SPEEDS: Final = {False: "0.1 m/s", True: "10 m/s"}


class Panel(NamedTuple):
    """A panel: its title, its ordinate, its curves, the scale of the ordinate."""

    title: str
    ordinate: str
    curves: Sequence[Curve]
    scale: str = "linear"


def _of_flows(
    fast: bool, clamp: bool, low_rate: bool, delay: str, measures: Mapping[int, Measured]
) -> list[Curve]:
    points = sweep(fast, clamp, low_rate)
    return [
        Curve(f"{flow} ms", points, DELAYS[delay], measures[flow], colour, marker, line)
        for flow, (colour, marker, line) in LOOKS.items()
    ]


def _rates(delay: str, fast: bool, clamp: bool, low_rate: bool = False) -> Panel:
    title = f"{NAMES[clamp]}, {SPEEDS[fast]}"
    return Panel(title, "IP throughput, Mbit/s", _of_flows(fast, clamp, low_rate, delay, RATES))


def _timeouts(delay: str, fast: bool, low_rate: bool = False) -> Panel:
    curves = _of_flows(fast, True, low_rate, delay, TIMEOUTS)
    return Panel(f"time-outs, CLAMP, {SPEEDS[fast]}", "time-outs per second", curves)


def _four(delay: str, measure: Measured, title: str, ordinate: str, scale: str = "linear") -> Panel:
    looks = {(False, True): "-", (False, False): "--", (True, True): "-", (True, False): "--"}
    curves = [
        Curve(
            f"{NAMES[clamp]}, {SPEEDS[fast]}",
            sweep(fast, clamp),
            DELAYS[delay],
            measure,
            "red" if fast else "blue",
            "o" if clamp else "s",
            line,
        )
        for (fast, clamp), line in looks.items()
    ]
    return Panel(title, ordinate, curves, scale)


def _knob(point: SweepPoint) -> float:
    return float(point.axes["knob_bytes"]) / 1e3


class FigureSpec(NamedTuple):
    """A figure.

    Parameters
    ----------
    title : str
        Of the figure.
    sweeps : sequence
        The sweeps that its table has.
    quantities : sequence of Measured
        Of them, what its table has besides the delays.
    panels : sequence of sequence of Panel
        In rows.
    last_ms : float
        Where the abscissa of all panels ends, so that equal delays are under each other.
    delay : str
        The definition of the delay, a key of `AXES`.
    """

    title: str
    sweeps: Sequence[tuple[bool, bool, bool]]
    quantities: Sequence[Measured]
    panels: Sequence[Sequence[Panel]]
    last_ms: float
    delay: str = "end"


ALL: Final = [(fast, clamp, False) for fast in (False, True) for clamp in (True, False)]
LOW: Final = [(fast, clamp, True) for fast in (True, False) for clamp in (True, False)]
KNEES: Final = [*LOW, (True, True, False), (False, True, False)]


def drawn_over(delay: str) -> dict[str, FigureSpec]:
    """Return the figures over one definition of the queueing delay."""
    four = FigureSpec(
        "rate of each flow over the mean queueing delay",
        ALL,
        [*RATES.values(), *TIMEOUTS.values()],
        [
            [_rates(delay, fast, True), _rates(delay, fast, False), _timeouts(delay, fast)]
            for fast in (False, True)
        ],
        300.0,
        delay,
    )
    five = FigureSpec(
        "total rate, and the time to download 1 Mbyte",
        ALL,
        [TOTAL, DOWNLOAD],
        [
            [
                _four(delay, TOTAL, "(a) all flows", "IP throughput, Mbit/s"),
                _four(delay, DOWNLOAD, "(b) 1 Mbyte", "mean time to download, s", "log"),
            ]
        ],
        300.0,
        delay,
    )
    ten = FigureSpec(
        "rate of each flow at 1.44 Mbit/s",
        KNEES,
        [*RATES.values(), TOTAL, *TIMEOUTS.values()],
        [
            [
                _rates(delay, fast, True, True),
                _rates(delay, fast, False, True),
                _timeouts(delay, fast, True),
            ]
            for fast in (True, False)
        ],
        400.0,
        delay,
    )
    return {"fig4": four, "fig5": five, "fig10": ten}


DRAWN: Final[Mapping[str, FigureSpec]] = drawn_over("end")


def _cells(key: str) -> list[Cell]:
    return [cell for which in DRAWN[key].sweeps for cell in sweep(*which)]


def _rows(session: Session, cells: Sequence[Any], quantities: Sequence[Measured]) -> list[Row]:
    rows = []
    for cell in cells:
        axes = cell.axes
        place = {
            "speed": axes["speed"],
            "cap": "1.44 Mbit/s" if axes["low_rate"] else "10 Mbit/s",
            "scheme": "clamp" if axes["protocol"] == "CLAMP" else "newreno",
            "knob_bytes": axes["knob_bytes"],
        }
        rows += [each.row(session, cell, place) for each in (DELAY, SOJOURN, *quantities)]
    return rows


def _table(title: str, session: Session, cells: Sequence[Any], shown: Sequence[Measured]) -> Table:
    lines = [
        [
            SPEEDS[cell.axes["speed"] == "fast"],
            cell.axes["protocol"],
            f"{_knob(cell):g}",
            *(each.text(session, cell) for each in (DELAY, SOJOURN, *shown)),
        ]
        for cell in cells
    ]
    columns = [("", "speed"), ("", ""), ("", "a / buffer, kB")]
    columns += [("", f"{each.name}, {each.unit}") for each in (DELAY, SOJOURN, *shown)]
    return Table(title, columns, lines, [])


def _found(
    cells: Sequence[Cell], quantities: Sequence[Measured], session: Session, title: str
) -> Found:
    return _rows(session, cells, quantities), [_table(title, session, cells, quantities)]


def figure_of(drawn: FigureSpec, session: Session) -> Figure:
    """Return a figure of the sweeps without its heading."""
    height, width = len(drawn.panels), len(drawn.panels[0])
    figure = plotting.new_figure(4.4 * width, 0.9 + 3.4 * height)
    panels: Any = figure.subplots(height, width, squeeze=False)
    for row, shown in zip(panels, drawn.panels, strict=True):
        highest: dict[str, float] = {}
        for axes, panel in zip(row, shown, strict=True):
            curves = (c.draw(axes, session, drawn.last_ms, LEAST_RUNS) for c in panel.curves)
            most = max(curves)
            highest[panel.ordinate] = max(most, highest.get(panel.ordinate, 0.0))
            axes.set(title=panel.title, xlabel=AXES[drawn.delay], ylabel=panel.ordinate)
            axes.xaxis.label.set_fontsize(9)
            axes.set_xlim(0, drawn.last_ms)
            axes.set_yscale(panel.scale)
        for axes, panel in zip(row, shown, strict=True):
            if panel.scale == "linear":
                axes.set_ylim(0, 1.1 * highest[panel.ordinate])
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def legend(drawn: FigureSpec, session: Session) -> str:
    """Return the beginning of the line below the title."""
    about = f"All panels end at {drawn.last_ms:g} ms; the table has the longer delays."
    if session.effort.replications < LEAST_RUNS:
        about += f" No intervals with fewer than {LEAST_RUNS} replications."
    return about


# --- Fig. 9: what the knobs do -----------------------------------------------------------------

FIG9: Final = "what buffer or a gives which delay"


def _draw_fig9(session: Session) -> Figure:
    figure = plotting.new_figure(10.4, 4.6)
    panels: Any = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, (delay, name) in zip(panels, AXES.items(), strict=True):
        for fast, clamp, _ in ALL:
            cases = sweep(fast, clamp)
            delays = [1e3 * place for place in means(session, cases, DELAYS[delay])]
            colour = plotting.COLOURS["red" if fast else "blue"]
            line = (
                {"marker": "o", "linestyle": "-"} if clamp else {"marker": "s", "linestyle": "--"}
            )
            label = f"{NAMES[clamp]}, {SPEEDS[fast]}: {KNOB[clamp]}"
            axes.plot(delays, [_knob(point) for point in cases], color=colour, label=label, **line)
        axes.set(xlabel=name, xlim=(0, None), ylim=(0, None))
    panels[0].set_ylabel("a or buffer of each queue, kB")
    panels[0].legend()
    return figure


_LEGEND9: Final = "The delay by both definitions: with and without the service of a packet."


def _item(key: str, drawn: FigureSpec) -> tuple[Cells, Evaluate]:
    cells = _cells(key)
    found = partial(_found, cells, drawn.quantities)
    parts = (partial(figure_of, drawn), partial(legend, drawn))
    return item_of(CLAMP, key, cells, found, *parts, title=drawn.title)


def _fig9() -> tuple[Cells, Evaluate]:
    cells = _cells("fig4")
    found = partial(_found, cells, ())
    return item_of(CLAMP, "fig9", cells, found, _draw_fig9, _LEGEND9, title=FIG9)


FIGURES: Final = {**{key: _item(key, drawn) for key, drawn in DRAWN.items()}, "fig9": _fig9()}
"""Cells and evaluation of each item."""
