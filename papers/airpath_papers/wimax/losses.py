"""Fig. 7: uplink delay, efficiency and throughput over the packet loss (wimax-2009 §5.4)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row
from airpath.reproduction.claims import caption, means
from airpath.reproduction.manifest import titles
from airpath.reproduction.parameter_plot import LOOKS, ParameterPlot
from airpath.reproduction.quantities import Measured
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.analysis import ideal_of
from airpath_papers.wimax.data import GAINS, IDEAL
from airpath_papers.wimax.measures import (
    EFFICIENCY,
    GOODPUT,
    MAC_DELAY,
    QUANTITIES,
    contention_share,
)
from airpath_papers.wimax.scenarios import CURVES, LOSSES, RULES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIG7"]

LOSS_CELLS: Final[list[Cell]] = [case for cases in CURVES.values() for case in cases]

CONTENTION: Final = Measured("contention_share", "1", contention_share, 3)

SWEPT: Final = ParameterPlot(
    "p",
    "%",
    [100 * loss for loss in LOSSES],
    CURVES,
    {
        "(a) mean uplink delay, ms": MAC_DELAY,
        "(b) uplink efficiency": EFFICIENCY,
        "(c) throughput, Mbit/s": GOODPUT,
    },
    dodge=0.0,
)


def _gains(session: Session, rule: str) -> list[float]:
    """Return the gain of adapt-BI over UNI at each p, under a rule of requests."""
    curves = (CURVES["adapt-BI"], CURVES[RULES[rule]])
    adapt, uni = (means(session, cases, GOODPUT.measure) for cases in curves)
    return [ours / theirs - 1 for ours, theirs in zip(adapt, uni, strict=True)]


def _rows(session: Session) -> list[Row]:
    rows = []
    for cases in CURVES.values():
        for case in cases:
            place: dict[str, int | float | str] = {
                "policy": case.policy,
                "base_rtt_ms": case.base_rtt_ms,
                "loss": case.loss,
                "per": case.per,
            }
            shown = [*QUANTITIES.values(), CONTENTION]
            rows += [each.row(session, case, place) for each in shown]
    for loss in LOSSES:
        place = {"policy": IDEAL, "base_rtt_ms": 100, "loss": loss}
        ours = ideal_of(100, loss).throughput_bps / 1e6
        rows.append(Row(place, GOODPUT.name, GOODPUT.unit, None, ours))
    if session.complete(LOSS_CELLS):
        printed = [each.gain for each in GAINS if each.item == "fig7"]
        for rule in RULES:
            found = _gains(session, rule)
            ends: Sequence[tuple[str, float, float]] = (
                ("least", min(printed), 100 * min(found)),
                ("largest", max(printed), 100 * max(found)),
            )
            for name, theirs, ours in ends:
                place = {"policy": "adapt-bi", "over": "uni", "per": rule, "of": name}
                rows.append(Row(place, "goodput_gain", "%", theirs, ours))
    return [row for row in rows if row.ours is not None]


def _evaluate(session: Session, out: Path | None) -> ItemResult:
    title = f"Fig. 7: {titles(WIMAX)['fig7']}"
    complete, figures = session.complete(LOSS_CELLS), []
    if out is not None and complete:
        figures = session.draw(
            lambda: _draw(session, title), out, "wimax-fig7", title, session.about
        )
    notes = ["p in per cent; delays in ms, throughput in Mbit/s."]
    table = SWEPT.table(title, session, notes)
    return ItemResult("fig7", title, _rows(session), [table], figures, complete=complete)


def _draw(session: Session, title: str) -> Figure:
    runs = session.effort_of(LOSS_CELLS[0]).replications
    about = f"Park, Hu & Kim 2009 · {runs} runs. {caption(session, 'fig7')}"
    nothing: dict[str, Any] = {each.name: {} for each in SWEPT.quantities.values()}
    figure = SWEPT.figure(session, title, about, nothing)
    _draw_falls(figure.axes[1], session)
    throughput = figure.axes[2]
    ideal = [ideal_of(100, loss).throughput_bps / 1e6 for loss in LOSSES]
    look: dict[str, Any] = {"color": plotting.COLOURS["grey"], "linestyle": ":"}
    throughput.plot(SWEPT.values, ideal, label="ideal", **look)
    printed = [1 + each.gain / 100 for each in GAINS if each.item == "fig7"]
    uni = means(session, CURVES[RULES["packet"]], GOODPUT.measure)
    low, high = ([factor * each for each in uni] for factor in (min(printed), max(printed)))
    band: dict[str, Any] = {"color": plotting.COLOURS["red"], "alpha": 0.15, "lw": 0}
    says = "paper: adapt-BI is 23 to 40 % above UNI"
    throughput.fill_between(SWEPT.values, low, high, label=says, **band)
    throughput.set_ylim(0, 1.05 * max(ideal))
    throughput.legend(*_last(throughput, ("ideal", says)), loc="upper right")
    ends = (0.9 * SWEPT.values[0], 1.1 * SWEPT.values[-1])
    for panel in figure.axes:
        panel.set(xscale="log", xlim=ends)
        panel.set_xticks(SWEPT.values, [f"{value:g}" for value in SWEPT.values])
        panel.minorticks_off()
    return figure


FALLS: Final = {RULES["queue"]: 1.8, "blind-BI": 7.9, "adapt-BI": 1.8}
"""By how many per cent the efficiency falls from the least p to the largest (§5.4)."""


def _draw_falls(panel: Axes, session: Session) -> None:
    """Draw where the efficiencies would end if they fell from our first ones as is printed."""
    label = "paper: falls by 1.8, 7.9 and 1.8 points"
    star: dict[str, Any] = {"marker": "*", "markersize": 11, "linestyle": "", "fillstyle": "none"}
    for place, (name, points) in enumerate(FALLS.items()):
        first = means(session, CURVES[name][:1], EFFICIENCY.measure)[0]
        colour = plotting.COLOURS[LOOKS[list(CURVES).index(name)][0]]
        named: dict[str, Any] = {"label": label} if place == 0 else {}
        where = ([SWEPT.values[-1]], [first - points / 100])
        panel.plot(*where, color=colour, zorder=5, **star, **named)
    panel.legend(*_last(panel, [label]), loc="lower left")


def _last(axes: Any, names: Sequence[str]) -> tuple[list[Any], list[str]]:
    """Return what the legend says of some curves; the others are in the figure's."""
    handles, labels = axes.get_legend_handles_labels()
    return [handles[labels.index(name)] for name in names], list(names)


FIG7: Final = (LOSS_CELLS, _evaluate)
"""The item's cells, and what makes its result."""
