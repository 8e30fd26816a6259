"""Fig. 6: the distribution of the uplink MAC-to-MAC delay (wimax-2009 §5.2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row
from airpath.reproduction.claims import caption
from airpath.reproduction.compare import ColumnSet, Key, comparison
from airpath.reproduction.manifest import titles
from airpath.reproduction.session import Session
from airpath_papers.paths import WIMAX
from airpath_papers.wimax.data import NAMES, POLICIES, fig6
from airpath_papers.wimax.measures import DelayDistribution
from airpath_papers.wimax.scenarios import Case

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "FIG6"]

COLOURS: Final = {"uni": "orange", "blind-bi": "green", "adapt-bi": "blue", "ideal": "grey"}
"""Of the policies, in all figures."""

CELLS: Final[list[Cell]] = [Case(policy) for policy in POLICIES]
SHARES: Final = {"mac_delay_p50": 0.5, "mac_delay_p90": 0.9}


def _evaluate(session: Session, out: Path | None) -> ItemResult:
    title = titles(WIMAX)["fig6"]
    complete = session.complete(CELLS)
    rows = []
    for policy, cell in zip(POLICIES, CELLS, strict=True):
        if session.finished(cell):
            found = DelayDistribution(session, cell)
            place: dict[str, int | float | str] = {"policy": policy, "base_rtt_ms": 100}
            rows += [
                Row(place, name, "ms", fig6()[policy][name], found.quantile(share))
                for name, share in SHARES.items()
            ]
    shown = [
        ColumnSet(name, f"{name}, ms", lambda r: f"{r.published:.1f}", lambda r: f"{r.ours:.1f}")
        for name in SHARES
    ]
    named = [Key("policy", "", NAMES.__getitem__)]
    notes = ["Of all ACKs of all runs. Frames make steps: the criteria look at the shares."]
    figures = []
    if out is not None and complete:
        about = (out, "wimax-fig6", f"Fig. 6: {title}", session.about)
        figures = session.draw(lambda: _draw(session, title), *about)
    table = comparison(f"Fig. 6: {title}", rows, named, shown, notes)
    return ItemResult("fig6", title, rows, [table], figures, complete=complete)


def _draw(session: Session, title: str) -> Figure:
    figure = plotting.new_figure(8.4, 4.8)
    axes: Any = figure.subplots()
    for policy, cell in zip(POLICIES, CELLS, strict=True):
        found = DelayDistribution(session, cell)
        colour = plotting.COLOURS[COLOURS[policy]]
        line: dict[str, Any] = {"where": "post", "color": colour, "label": NAMES[policy]}
        axes.step([0.0, *found.delays_ms, 1e3], [0.0, *found.cdf, 1.0], lw=1.6, **line)
        star: dict[str, Any] = {"color": colour, "fillstyle": "none", "markersize": 12}
        places = [fig6()[policy][name] for name in SHARES]
        axes.plot(places, list(SHARES.values()), "*", linestyle="", zorder=5, **star)
    axes.plot([], [], "*", color="black", fillstyle="none", markersize=12, label="paper, in text")
    axes.set(xlabel="uplink MAC-to-MAC delay, ms", ylabel="share of ACKs up to it")
    axes.set(xlim=(0, 200), ylim=(0, 1))
    axes.legend(loc="lower right")
    runs = session.effort_of(CELLS[0]).replications
    about = f"Park, Hu & Kim 2009 · RTT_min 100 ms, {runs} runs. {caption(session, 'fig6')}"
    plotting.heading(figure, f"Fig. 6: {title}", about)
    return figure


FIG6: Final = (CELLS, _evaluate)
"""The item's cells, and what makes its result."""
