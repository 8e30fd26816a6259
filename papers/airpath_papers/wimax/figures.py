"""Fig. 6: the distribution of the uplink delay (wimax-2009 §5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.present.points import STAR, Point, Points, draw
from airpath.reproduction.base import Row
from airpath.reproduction.compare import ColumnSet, Key, comparison
from airpath.reproduction.items import Found, item_of, titles
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.claims import SWEEPS
from airpath_papers.wimax.data import NAMES, printed
from airpath_papers.wimax.measures import DelayDistribution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIG6"]

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
        ColumnSet(
            name, f"{name}, ms", lambda r: f"{r.published:.1f}", lambda r: f"{r.computed:.1f}"
        )
        for name in SHARES
    ]
    named = [Key("policy", "", NAMES.__getitem__)]
    notes = ["Of all ACKs of all runs. Frames make steps: the criteria check the shares."]
    return rows, [comparison(title, rows, named, shown, notes)]


def _draw6(session: Session) -> Figure:
    figure = plotting.new_figure(8.4, 4.8)
    panel: Any = figure.subplots()
    for number, (policy, cell) in enumerate(DELAYS.items()):
        found, colour = DelayDistribution(session, cell), plotting.colour_of(number)
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
"""Cells and evaluation of the item."""
