"""Figs. 4, 5, 9 and 10: measures over the mean queueing delay (clamp-2008 §5.5 to §5.10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from airpath.papers.clamp.measures import (
    FLOWS_MS,
    download_s,
    queueing_delay_s,
    rate_mbps,
    timeouts_per_s,
    total_mbps,
)
from airpath.papers.clamp.sweeps import NAMES, along, sweep
from airpath.papers.kit.along import Curve
from airpath.papers.kit.base import Cell, ItemResult, Row, Table
from airpath.papers.kit.declared import Evaluate
from airpath.papers.kit.measured import Measured
from airpath.papers.kit.session import Session
from airpath.results import style as plotting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES"]

DELAY: Final = Measured("queueing_delay", "s", queueing_delay_s, 4)
DELAY_AXIS: Final = "mean queueing delay, ms"
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
    fast: bool, clamp: bool, low_rate: bool, measures: Mapping[int, Measured]
) -> list[Curve]:
    cases = along(fast, clamp, low_rate)
    return [
        Curve(f"{flow} ms", cases, measures[flow], colour, marker, line)
        for flow, (colour, marker, line) in LOOKS.items()
    ]


def _rates(fast: bool, clamp: bool, low_rate: bool = False) -> Panel:
    title = f"{NAMES[clamp]}, {SPEEDS[fast]}"
    return Panel(title, "IP throughput, Mbit/s", _of_flows(fast, clamp, low_rate, RATES))


def _timeouts(fast: bool, low_rate: bool = False) -> Panel:
    curves = _of_flows(fast, True, low_rate, TIMEOUTS)
    return Panel(f"time-outs, CLAMP, {SPEEDS[fast]}", "time-outs per second", curves)


def _four(measure: Measured, title: str, ordinate: str, scale: str = "linear") -> Panel:
    looks = {(False, True): "-", (False, False): "--", (True, True): "-", (True, False): "--"}
    curves = [
        Curve(
            f"{NAMES[clamp]}, {SPEEDS[fast]}",
            along(fast, clamp),
            measure,
            "red" if fast else "blue",
            "o" if clamp else "s",
            line,
        )
        for (fast, clamp), line in looks.items()
    ]
    return Panel(title, ordinate, curves, scale)


def _knob(cell: Cell) -> float:
    return float(cell.knob_bytes) / 1e3  # type: ignore[attr-defined]


class Drawn(NamedTuple):
    """A figure: its title, the sweeps that it shows, what of them, its panels in rows."""

    title: str
    sweeps: Sequence[tuple[bool, bool, bool]]
    quantities: Sequence[Measured]
    panels: Sequence[Sequence[Panel]]


ALL: Final = [(fast, clamp, False) for fast in (False, True) for clamp in (True, False)]
LOW: Final = [(True, clamp, True) for clamp in (True, False)]
KNEES: Final = [*LOW, (False, True, True)]

DRAWN: Final[Mapping[str, Drawn]] = {
    "fig4": Drawn(
        "Fig. 4: rate of each flow over the mean queueing delay",
        ALL,
        [*RATES.values(), *TIMEOUTS.values()],
        [
            [_rates(False, True), _rates(False, False), _timeouts(False)],
            [_rates(True, True), _rates(True, False), _timeouts(True)],
        ],
    ),
    "fig5": Drawn(
        "Fig. 5: total rate, and the time to download 1 Mbyte",
        ALL,
        [TOTAL, DOWNLOAD],
        [
            [
                _four(TOTAL, "(a) all flows", "IP throughput, Mbit/s"),
                _four(DOWNLOAD, "(b) 1 Mbyte", "mean time to download, s", "log"),
            ]
        ],
    ),
    "fig10": Drawn(
        "Fig. 10: rate of each flow at 1.44 Mbit/s, 10 m/s",
        KNEES,
        [*RATES.values(), TOTAL, *TIMEOUTS.values()],
        [[_rates(True, True, True), _rates(True, False, True), _timeouts(True, True)]],
    ),
}


def _cells(key: str) -> list[Cell]:
    return [cell for which in DRAWN[key].sweeps for cell in sweep(*which)]


def _rows(session: Session, cells: Sequence[Any], quantities: Sequence[Measured]) -> list[Row]:
    rows = []
    for case in cells:
        place = {
            "speed": "fast" if case.fast else "slow",
            "cap": "1.44 Mbit/s" if case.low_rate else "10 Mbit/s",
            "scheme": "clamp" if case.clamp else "newreno",
            "knob_bytes": case.knob_bytes,
        }
        rows += [each.row(session, case, place) for each in (DELAY, *quantities)]
    return [row for row in rows if row.ours is not None]


def _table(title: str, session: Session, cells: Sequence[Any], shown: Sequence[Measured]) -> Table:
    lines = [
        [
            SPEEDS[case.fast],
            NAMES[case.clamp],
            f"{case.knob_bytes / 1e3:g}",
            *(each.text(session, case) for each in (DELAY, *shown)),
        ]
        for case in cells
    ]
    columns = [("", "speed"), ("", ""), ("", "a / buffer, kB")]
    columns += [("", f"{each.name}, {each.unit}") for each in (DELAY, *shown)]
    return Table(title, columns, lines, [])


def _evaluate(key: str) -> Evaluate:
    drawn, cells = DRAWN[key], _cells(key)

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        complete, figures = session.complete(cells), []
        if out is not None and complete:
            about = (out, f"clamp-{key}", drawn.title, session.about)
            figures = session.draw(lambda: _figure(drawn, session), *about)
        table = _table(drawn.title, session, cells, drawn.quantities)
        rows = _rows(session, cells, drawn.quantities)
        return ItemResult(key, drawn.title, rows, [table], figures, complete=complete)

    return evaluate


def _rightmost(panel: Panel, session: Session) -> float:
    """Return where the abscissa ends, ms: behind the points, whatever their intervals."""
    return 1.05e3 * max(place for curve in panel.curves for place in curve.along.places(session))


def _highest(panel: Panel, session: Session) -> float:
    """Return where the ordinate ends: above the points, whatever their intervals."""
    found = (
        curve.value.estimate(session, cell) for curve in panel.curves for cell in curve.along.cells
    )
    return 1.2 * max(estimate.mean for estimate in found if estimate is not None)


def _figure(drawn: Drawn, session: Session) -> Figure:
    height, width = len(drawn.panels), len(drawn.panels[0])
    figure = plotting.new_figure(4.4 * width, 0.9 + 3.4 * height)
    panels: Any = figure.subplots(height, width, squeeze=False)
    for row, shown in zip(panels, drawn.panels, strict=True):
        for axes, panel in zip(row, shown, strict=True):
            for curve in panel.curves:
                curve.draw(axes, session, 1e3)
            axes.set(title=panel.title, xlabel=DELAY_AXIS, ylabel=panel.ordinate)
            axes.set_xlim(0, _rightmost(panel, session))
            axes.set_yscale(panel.scale)
            if panel.scale == "linear":
                axes.set_ylim(0, _highest(panel, session))
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    about = f"Andrew, Hanly & Mukhtar 2008 · {session.effort.describe()}."
    plotting.heading(figure, drawn.title, about)
    return figure


# --- Fig. 9: what the knobs do -----------------------------------------------------------------

FIG9: Final = "Fig. 9: what buffer or a gives which delay"


def _evaluate_fig9(session: Session, out: Path | None) -> ItemResult:
    cells = _cells("fig4")
    complete, figures = session.complete(cells), []
    if out is not None and complete:
        figures = session.draw(lambda: _draw_fig9(session), out, "clamp-fig9", FIG9, session.about)
    table = _table(FIG9, session, cells, [])
    return ItemResult("fig9", FIG9, _rows(session, cells, []), [table], figures, complete=complete)


def _draw_fig9(session: Session) -> Figure:
    figure = plotting.new_figure(6.4, 4.6)
    axes: Any = figure.subplots()
    for fast, clamp, _ in ALL:
        cases = sweep(fast, clamp)
        delays = [1e3 * delay for delay in along(fast, clamp).places(session)]
        colour = plotting.COLOURS["red" if fast else "blue"]
        style = {"marker": "o", "linestyle": "-"} if clamp else {"marker": "s", "linestyle": "--"}
        name = f"{NAMES[clamp]}, {SPEEDS[fast]}: {KNOB[clamp]}"
        axes.plot(delays, [_knob(case) for case in cases], color=colour, label=name, **style)
    axes.set(xlabel=DELAY_AXIS, ylabel="a or buffer of each queue, kB")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend()
    plotting.heading(figure, FIG9, f"{session.effort.describe()}.")
    return figure


FIGURES: Final[Mapping[str, tuple[Callable[[Session], Sequence[Cell]], Evaluate]]] = {
    **{key: (lambda _session, key=key: _cells(key), _evaluate(key)) for key in DRAWN},  # type: ignore[misc]
    "fig9": (lambda _session: _cells("fig4"), _evaluate_fig9),
}
"""Cells and evaluation of each item."""
