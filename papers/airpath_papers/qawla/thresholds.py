"""Figures 7 to 12: normalised throughput of QAWLA and TAGLA over their threshold th_PER."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from airpath.present import style
from airpath.reproduction.base import ItemResult, Row, Table
from airpath.reproduction.items import Evaluate
from airpath.reproduction.session import Session
from airpath_papers.qawla.data import MEASURES, published_entry
from airpath_papers.qawla.error_rates import AWGN, ITU_A, Channel
from airpath_papers.qawla.link_adaptation import BOUNDARIES, TH_PER, Adaptation, Curve, adaptations

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "OVER_RATINGS_DB", "FigureSpec", "figure_item"]

HS: Final = (10, 100, 1000)
"""H of Figs. 7 and 8."""

OVER_RATINGS_DB: Final = (0, 2, 4)
"""By how much the SNR is over-rated in Figs. 9 and 10, dB."""


class FigureSpec(NamedTuple):
    """One of the figures."""

    title: str
    channel: Channel
    panels: Mapping[str, Sequence[Curve]]  # by the title of the panel

    def curves(self) -> list[Curve]:
        """Return every curve once."""
        return list(dict.fromkeys(curve for curves in self.panels.values() for curve in curves))


def _figures(channel: Channel) -> list[FigureSpec]:
    """Return the three figures of a channel."""
    both = ("TAGLA", "QAWLA")
    by_h = {f"H = {h}": [Curve("TAGLA"), *(Curve("QAWLA", h, b) for b in BOUNDARIES)] for h in HS}
    over_rated = {
        f"{db} dB over-rated": [Curve(policy, over_rating_db=db) for policy in both]
        for db in OVER_RATINGS_DB
    }
    worst = {"": [Curve(policy, worst=True) for policy in both]}
    on = f"{channel.name} channel"
    return [
        FigureSpec(f"T_M over th_PER, three H, {on}", channel, by_h),
        FigureSpec(f"T_M over th_PER, over-rated SNR, {on}", channel, over_rated),
        FigureSpec(f"T_W over th_PER, {on}", channel, worst),
    ]


FIGURES: Final[Mapping[str, FigureSpec]] = {
    f"fig{number + 2 * place}": figure
    for number, channel in ((7, AWGN), (8, ITU_A))
    for place, figure in enumerate(_figures(channel))
}
"""Figs. 7 to 12 by their items."""


def figure_item(key: str) -> Evaluate:
    """Return what evaluates one of Figs. 7 to 12."""
    shown = FIGURES[key]
    title = f"Fig. {key[3:]}: {shown.title}"

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        found = adaptations(session)
        if found is None:
            return ItemResult(key, title, [], complete=False)
        adaptation = found[shown.channel.key]
        rows = [
            Row({**_place(curve, shown.channel), "th_per": th}, curve.quantity, "1", None, value)
            for curve in shown.curves()
            for th, value in zip(TH_PER, curve.values(adaptation), strict=True)
        ]
        figures, about = [], f"After {session.paper.citation}"
        if out is not None:
            figures = session.draw(
                lambda: draw_figure(title, shown, adaptation), out, f"qawla-{key}", title, about
            )
        return ItemResult(key, title, rows, [_table(title, shown, adaptation)], figures)

    return evaluate


def _place(curve: Curve, channel: Channel) -> dict[str, int | float | str]:
    place: dict[str, int | float | str] = {"policy": curve.policy, "channel": channel.key}
    if curve.policy == "QAWLA":
        place |= {"H": curve.h, "B": curve.boundary}
    return place | {"over_rating_db": curve.over_rating_db}


PRINTED: Final = (1e-4, 1e-3, 1e-2, 10**-1.3, 10**-1, 10**-0.3)
"""Thresholds that are printed."""


def _table(title: str, shown: FigureSpec, adaptation: Adaptation) -> Table:
    lines: dict[Curve, list[str]] = {}
    for panel, curves in shown.panels.items():
        for curve in curves:
            # TAGLA has no H.
            heading = "" if panel.startswith("H") and curve.policy == "TAGLA" else panel
            values = [f"{curve.value(adaptation, at):.3f}" for at in PRINTED]
            th_per, value = curve.peak(adaptation)
            line = [heading, curve.label, *values, f"{value:.3f}", f"{th_per:.2g}"]
            lines.setdefault(curve, line)
    columns = [("", ""), ("", "policy"), *(("th_PER", f"{at:.2g}") for at in PRINTED)]
    columns += [("largest", "value"), ("largest", "at")]
    return Table(title, columns, list(lines.values()))


# --- drawing -----------------------------------------------------------------------------------

LOOKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "TAGLA": {"color": style.COLOURS["grey"], "linestyle": (0, (4, 2)), "marker": "s"},
    "QAWLA, B = 20": {"color": style.COLOURS["blue"], "marker": "o"},
    "QAWLA, B = 30": {"color": style.COLOURS["green"], "marker": "P"},
    "QAWLA, B = 40": {"color": style.COLOURS["orange"], "marker": "D"},
}

STAR: Final[Mapping[str, Any]] = {
    "marker": "*",
    "markersize": 13,
    "fillstyle": "none",
    "linestyle": "none",
}
"""Look of the published numbers."""

PUBLISHED: Final = {
    Curve("QAWLA"): (0.05, "QAWLA(0.05, 100, 20)"),
    Curve("TAGLA"): (0.0032, "TAGLA(0.0032)"),
}
"""The entries of Table 6 that lie on curves of these figures: T_M and T_W without over-rating."""


def draw_figure(title: str, shown: FigureSpec, adaptation: Adaptation) -> Figure:
    """Return the figure; its panels from left to right, with a letter if there are several."""
    several = len(shown.panels) > 1
    figure = style.new_figure(11 if several else 6.6, 4.3)
    axes = figure.subplots(1, len(shown.panels), sharey=True, squeeze=False)[0]
    for letter, panel, (name, curves) in zip("abc", axes, shown.panels.items(), strict=False):
        for curve in curves:
            size = {"markersize": 3.5, "linewidth": 1.4, "markevery": 2}
            look, values = LOOKS[curve.label], curve.values(adaptation)
            panel.plot(TH_PER, values, label=curve.label, **size, **look)
            on_curve = PUBLISHED.get(curve._replace(worst=False))
            if on_curve is not None:
                entry = published_entry(on_curve[1], shown.channel.key, curve.quantity)
                star = {**STAR, "color": look["color"], "zorder": 4}
                panel.plot([on_curve[0]], [entry], gid="published", **star)
        panel.set(xscale="log", xlim=(TH_PER[0], 1), xlabel="threshold of the PER, $th_{PER}$")
        panel.set_title(f"({letter}) {name}" if several else "")
    # A normalised throughput is in [0, 1]; where all are in the upper half, that is drawn.
    half = min(min(curve.values(adaptation)) for curve in shown.curves()) > 0.5
    quantity = shown.curves()[0].quantity
    axes[0].set_ylim(0.5 if half else -0.01, 1.01)
    axes[0].set_ylabel(f"{quantity.partition('_')[0]} normalised throughput ${MEASURES[quantity]}$")
    axes[0].plot([], [], label="paper, Table 6", color=style.COLOURS["black"], **STAR)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    subtitle = f"by the fixed point, {len(TH_PER)} thresholds · 1: throughput of the optimum policy"
    style.heading(figure, title, subtitle + (" · axis from 0.5 on" if half else ""))
    return figure
