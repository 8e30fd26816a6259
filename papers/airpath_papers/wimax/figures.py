"""Figs. 6 and 7: the distribution of the uplink delay; the loss (wimax-2009 §5.2, §5.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.present.axes import label_decades
from airpath.present.points import STAR, Point, Points, draw
from airpath.reproduction.base import Cell, Row
from airpath.reproduction.claims import means
from airpath.reproduction.compare import ColumnSet, Key, comparison
from airpath.reproduction.items import Found, item_of, titles
from airpath.reproduction.parameter_plot import LOOKS, ParameterPlot
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.analysis import tables_ideal_mbps
from airpath_papers.wimax.claims import SWEEPS
from airpath_papers.wimax.data import COLOURS, GAINS, NAMES, printed
from airpath_papers.wimax.measures import (
    CONTENTION,
    EFFICIENCY,
    GOODPUT,
    MAC_DELAY,
    QUANTITIES,
    DelayDistribution,
)
from airpath_papers.wimax.scenarios import CURVES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIG6", "FIG7"]

Place = dict[str, int | float | str]

# --- Fig. 6 ------------------------------------------------------------------------------------

DELAYS: Final = {place["policy"]: point for place, point in SWEEPS.points("table1")}
SHARES: Final = {"mac_delay_p50": 0.5, "mac_delay_p90": 0.9}


def _found6(session: Session, title: str) -> Found:
    known = {p: DelayDistribution(session, c) for p, c in DELAYS.items() if session.finished(c)}
    rows = [
        Row(
            {"policy": policy, "base_rtt_ms": 100},
            name,
            "ms",
            printed("fig6")[100, policy][name],
            found.quantile(share),
        )
        for policy, found in known.items()
        for name, share in SHARES.items()
    ]
    shown = [
        ColumnSet(name, f"{name}, ms", lambda r: f"{r.published:.1f}", lambda r: f"{r.ours:.1f}")
        for name in SHARES
    ]
    named = [Key("policy", "", NAMES.__getitem__)]
    notes = ["Of all ACKs of all runs. Frames make steps: the criteria check the shares."]
    return rows, [comparison(title, rows, named, shown, notes)]


def _draw6(session: Session) -> Figure:
    figure = plotting.new_figure(8.4, 4.8)
    panel: Any = figure.subplots()
    for policy, cell in DELAYS.items():
        found = DelayDistribution(session, cell)
        colour = plotting.COLOURS[COLOURS[policy]]
        line: dict[str, Any] = {"where": "post", "color": colour, "label": NAMES[policy]}
        panel.step([0.0, *found.delays_ms, 1e3], [0.0, *found.cdf, 1.0], lw=1.6, **line)
        stars = [Point(printed("fig6")[100, policy][name], share) for name, share in SHARES.items()]
        draw(panel, Points("", stars, {"color": colour, **STAR}))
    panel.plot([], [], "k", label="paper, in text", linestyle="", **STAR)
    panel.set(xlabel="uplink MAC-to-MAC delay, ms", ylabel="share of ACKs up to it")
    panel.set(xlim=(0, 200), ylim=(0, 1))
    panel.legend(loc="lower right")
    return figure


FIG6: Final = item_of(
    WIMAX,
    "fig6",
    list(DELAYS.values()),
    _found6,
    _draw6,
    "RTT_min 100 ms.",
    name=titles(WIMAX)["fig6"],
)
"""The item's cells, and what makes its result."""

# --- Fig. 7 ------------------------------------------------------------------------------------

BY_CURVE: Final = {curve: SWEEPS.cells("fig7", curve=curve) for curve in CURVES}
CELLS: Final[list[Cell]] = [point for points in BY_CURVE.values() for point in points]
LOSSES: Final[list[float]] = [point.axes["loss"] for point in BY_CURVE["adapt-BI"]]
PER_PACKET, PER_QUEUE, *_ = CURVES
"""UNI under both rules of requests."""

SWEPT: Final = ParameterPlot(
    "p",
    "%",
    [100 * loss for loss in LOSSES],
    BY_CURVE,
    {
        "(a) mean uplink delay, ms": MAC_DELAY,
        "(b) uplink efficiency": EFFICIENCY,
        "(c) throughput, Mbit/s": GOODPUT,
    },
)

FALLS: Final = {PER_QUEUE: 1.8, "blind-BI": 7.9, "adapt-BI": 1.8}
"""Fall of the efficiency from the least p to the largest, per cent (§5.4)."""

PRINTED_GAINS: Final = [float(line["gain"]) for line in GAINS if line["item"] == "fig7"]


def _gain_rows(session: Session, curve: str) -> list[Row]:
    """Return the least and the largest gain of adapt-BI over UNI under a rule of requests."""
    adapt, uni = (means(session, BY_CURVE[c], GOODPUT.measure) for c in ("adapt-BI", curve))
    found = [100 * (ours / theirs - 1) for ours, theirs in zip(adapt, uni, strict=True)]
    place = {"policy": "adapt-bi", "over": "uni", "per": CURVES[curve][1]}
    return [
        Row({**place, "of": name}, "goodput_gain", "%", end(PRINTED_GAINS), end(found))
        for name, end in {"least": min, "largest": max}.items()
    ]


def _found7(session: Session, title: str) -> Found:
    rows: list[Row] = []
    for curve, points in BY_CURVE.items():
        policy, per = CURVES[curve]
        for point, loss in zip(points, LOSSES, strict=True):
            place: Place = {"policy": policy, "base_rtt_ms": 100, "loss": loss, "per": per}
            shown = [*QUANTITIES.values(), CONTENTION]
            rows += [each.row(session, point, place) for each in shown]
    for loss in LOSSES:
        place = {"policy": "ideal", "base_rtt_ms": 100, "loss": loss}
        rows.append(Row(place, "goodput", "Mbit/s", None, tables_ideal_mbps(100, loss)))
    if session.complete(CELLS):
        rows += [*_gain_rows(session, PER_PACKET), *_gain_rows(session, PER_QUEUE)]
    notes = ["p in per cent; delays in ms, throughput in Mbit/s."]
    return rows, [SWEPT.table(title, session, notes)]


def _draw7(session: Session) -> Figure:
    figure = SWEPT.panels(session)
    _draw_falls(figure.axes[1], session)
    _draw_ideal(figure.axes[2], session)
    for panel in figure.axes:
        panel.set(xscale="log", xlim=(0.09, 5.5))
        label_decades(panel.xaxis)
    return figure


def _draw_falls(panel: Axes, session: Session) -> None:
    """Draw where the efficiencies would end if they fell from our first ones as is printed."""
    label = "paper: falls by 1.8, 7.9 and 1.8 points"
    for name, points in FALLS.items():
        last = means(session, BY_CURVE[name][:1], EFFICIENCY.measure)[0] - points / 100
        colour = plotting.COLOURS[LOOKS[list(BY_CURVE).index(name)][0]]
        draw(panel, Points(label, [Point(SWEPT.values[-1], last)], {"color": colour, **STAR}))
    _legend(panel, [label], "lower left")


def _draw_ideal(panel: Axes, session: Session) -> None:
    """Draw the ideal, and adapt-BI's throughput as the printed gains have it."""
    ideal = [tables_ideal_mbps(100, loss) for loss in LOSSES]
    grey = plotting.COLOURS["grey"]
    panel.plot(SWEPT.values, ideal, label="ideal", color=grey, linestyle=":")
    uni = means(session, BY_CURVE[PER_PACKET], GOODPUT.measure)
    ends = [1 + end(PRINTED_GAINS) / 100 for end in (min, max)]
    low, high = ([factor * each for each in uni] for factor in ends)
    label = "paper: adapt-BI is 23 to 40 % above UNI"
    band: Mapping[str, Any] = {"color": plotting.COLOURS["red"], "alpha": 0.15, "lw": 0}
    panel.fill_between(SWEPT.values, low, high, label=label, **band)
    panel.set_ylim(0, 1.05 * max(ideal))
    _legend(panel, ("ideal", label), "upper right")


def _legend(panel: Any, names: Sequence[str], place: str) -> None:
    """Add the legend of some curves; the others are in the figure's."""
    handles, labels = panel.get_legend_handles_labels()
    panel.legend([handles[labels.index(name)] for name in names], names, loc=place)


FIG7: Final = item_of(WIMAX, "fig7", CELLS, _found7, _draw7)
"""The item's cells, and what makes its result."""
