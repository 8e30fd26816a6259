"""Figs. 3 and 4: analysis, simulation, Eq. 9 and the ideal (wimax-2009 §3.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.claims import caption
from airpath.reproduction.manifest import Evaluate, titles
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.analysis import (
    Analysed,
    analysed,
    analysis_mbps,
    eq9_mbps,
    goodput_of,
    ideal_mbps,
    model1_mbps,
    model2_mbps,
)
from airpath_papers.wimax.measures import goodput_mbps, mean_rtt_s
from airpath_papers.wimax.validation import SWEEPS, cell_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CURVES"]

SIMULATED: Final = Measured("simulation", "Mbit/s", goodput_mbps, 3)

PARAMETERS: Final = {
    "contention_ms": "T_ct, ms",
    "base_rtt_ms": "RTT_min, ms",
    "loss": "p_e",
    "size_kb": "L, kB",
}

Value = Callable[[Session, Analysed], float | None]
"""A curve at a point, Mbit/s."""


def _eq9(session: Session, case: Analysed) -> float | None:
    found = session.estimate(cell_of(case), mean_rtt_s)
    return None if found is None else eq9_mbps(found.mean, case.loss)


_SOLVED: Final[dict[str, Value]] = {
    "analysis": lambda _session, case: analysis_mbps(case),
    "analysis_goodput": lambda _session, case: goodput_of(case),
}
VALUES: Final[Mapping[str, Mapping[str, Value]]] = {
    "fig3": {
        **_SOLVED,
        "tcp_model1": lambda _session, case: model1_mbps(case),
        "tcp_model2": lambda _session, case: model2_mbps(case),
        "ideal": lambda _session, case: ideal_mbps(case),
    },
    "fig4": {
        **_SOLVED,
        "eq9": _eq9,
        "ideal": lambda _session, case: ideal_mbps(case),
        "ideal_as_printed": lambda _session, case: ideal_mbps(case, 0.0),
    },
}
"""What stands beside the simulation, by figure."""

LOOKS: Final[Mapping[str, tuple[str, str, str]]] = {
    "analysis": ("blue", "-", "analysis, Eq. 8"),
    "analysis_goodput": ("sky", "--", "analysis, size over time"),
    "tcp_model1": ("orange", "-.", "TCP model1"),
    "tcp_model2": ("red", "-.", "TCP model2"),
    "eq9": ("orange", "-.", "Eq. 9, simulated mean RTT"),
    "ideal": ("green", "-", "ideal: T_ct = 0"),
    "ideal_as_printed": ("grey", ":", "ideal as printed: p_e = 0 too"),
}
"""Colour, line and name of each curve."""

SHOWN: Final = {
    "fig3": ("contention_ms",),
    "fig4": ("base_rtt_ms", "loss", "size_kb"),
}
"""What is varied."""


def _cells(key: str) -> list[Cell]:
    return [cell_of(case) for name in SHOWN[key] for case in SWEEPS[name]]


def _rows(session: Session, key: str) -> list[Row]:
    rows = []
    for name in SHOWN[key]:
        for case in SWEEPS[name]:
            place = {"over": name, **case._asdict()}
            rows.append(SIMULATED.row(session, cell_of(case), place))
            for quantity, value in VALUES[key].items():
                rows.append(Row(place, quantity, "Mbit/s", None, value(session, case)))
            error = float(analysed(case).error_bps) / 1e6
            rows.append(Row(place, "analysis_error", "Mbit/s", None, error))
    return [row for row in rows if row.ours is not None]


def _table(session: Session, key: str, name: str, title: str) -> Table:
    lines = []
    for case in SWEEPS[name]:
        found = [value(session, case) for value in VALUES[key].values()]
        lines.append(
            [
                f"{getattr(case, name):g}",
                SIMULATED.text(session, cell_of(case)),
                *("" if each is None else f"{each:.3f}" for each in found),
            ]
        )
    columns = [("", PARAMETERS[name]), ("", "simulation")]
    columns += [("", LOOKS[quantity][2]) for quantity in VALUES[key]]
    return Table(title, columns, lines, ["Mbit/s. The simulation is size over completion time."])


def _evaluate(key: str) -> Evaluate:
    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = f"Fig. {key[3:]}: {titles(WIMAX)[key]}"
        complete, figures = session.complete(_cells(key)), []
        if out is not None and complete:
            about = (out, f"wimax-{key}", title, session.about)
            figures = session.draw(lambda: _draw(session, key, title), *about)
        tables = [_table(session, key, name, title) for name in SHOWN[key]]
        return ItemResult(key, title, _rows(session, key), tables, figures, complete=complete)

    return evaluate


def _panel(axes: Axes, session: Session, key: str, name: str) -> None:
    cases: Sequence[Analysed] = SWEEPS[name]
    places = [getattr(case, name) for case in cases]
    for quantity, value in VALUES[key].items():
        colour, line, label = LOOKS[quantity]
        found: Any = [value(session, case) for case in cases]
        axes.plot(places, found, line, color=plotting.COLOURS[colour], lw=1.5, label=label)
    estimates = [SIMULATED.estimate(session, cell_of(case)) for case in cases]
    known = [each for each in estimates if each is not None]
    bars: dict[str, Any] = {"yerr": [each.error_bar for each in known], "capsize": 2}
    look: dict[str, Any] = {"color": plotting.COLOURS["black"], "linestyle": "", "marker": "o"}
    axes.errorbar(places, [each.mean for each in known], label="simulation", **bars, **look)
    if name == "contention_ms":
        _draw_printed3(axes, known[0].mean)
    else:
        _draw_printed4(axes, cases, places)
    axes.set_xlabel(PARAMETERS[name])
    axes.set_ylim(bottom=0)
    if name in ("loss", "size_kb"):
        axes.set_xscale("log")


def _draw_printed3(axes: Axes, first_mbps: float) -> None:
    """Draw what §3.2 says of the simulation: 32 % less at 60 ms, TCP model2 met at 30 ms."""
    star: dict[str, Any] = {"markersize": 12, "fillstyle": "none", "zorder": 5}
    star |= {"color": plotting.COLOURS["black"], "linestyle": ""}
    label = "paper: 32 % less than at 10 ms"
    axes.plot([60.0], [(1 - 0.32) * first_mbps], "*", label=label, **star)
    line: dict[str, Any] = {"color": plotting.COLOURS["grey"], "linestyle": ":", "lw": 1.2}
    axes.axvline(30.0, label="paper: meets TCP model2", **line)


def _draw_printed4(axes: Axes, cases: Sequence[Analysed], places: Sequence[float]) -> None:
    """Draw what §3.2 says of the throughput: 10 to 23 % below the ideal."""
    ideal = [ideal_mbps(case) for case in cases]
    low, high = ([(1 - below) * each for each in ideal] for below in (0.23, 0.10))
    band: dict[str, Any] = {"color": plotting.COLOURS["green"], "alpha": 0.15, "lw": 0}
    label = "paper: 10 to 23 % below the ideal"
    axes.fill_between(places, low, high, label=label, **band)


def _draw(session: Session, key: str, title: str) -> Figure:
    names = SHOWN[key]
    figure = plotting.new_figure(7.6 if len(names) == 1 else 4.4 * len(names), 5.2)
    panels: Any = figure.subplots(1, len(names), squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        _panel(axes, session, key, name)
    panels[0].set_ylabel("throughput, Mbit/s")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    runs = session.effort_of(_cells(key)[0]).replications
    plotting.heading(figure, title, f"Park, Hu & Kim 2009 · {runs} runs. {caption(session, key)}")
    return figure


CURVES: Final[Mapping[str, tuple[Sequence[Cell], Evaluate]]] = {
    key: (_cells(key), _evaluate(key)) for key in SHOWN
}
"""Cells and evaluation of each item."""
