"""Figures 7 to 12: normalised throughput of QAWLA and TAGLA over their threshold th_PER."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.papers.kit.base import ItemResult, Row, Table
from airpath.papers.kit.session import Session
from airpath.papers.qawla.adaptation import (
    BOUNDARIES,
    BOUNDARY,
    Adaptation,
    Policy,
    adaptations,
    qawla,
    tagla,
)
from airpath.papers.qawla.data import published_entry
from airpath.papers.qawla.radio import AWGN, ITU_A, Channel
from airpath.results import style as plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "FIGURES",
    "HS",
    "OVER_RATINGS_DB",
    "TH_FER",
    "TH_PER",
    "Curve",
    "H",
    "figure_item",
]

TH_PER: Final = tuple(10 ** (tenths / 10) for tenths in range(-50, -2))
"""th_PER of the figures: ten in a decade, from 1e-5 to 0.5."""

TH_FER: Final = tuple(10 ** (tenths / 10) for tenths in range(-60, -2))
"""Values of th_FER among which the best is looked for: from 1e-6 to 0.5."""

HS: Final = (10, 100, 1000)
"""H of Figs. 7 and 8."""

H: Final = 100
"""H of Figs. 9 to 12 and of Table 6."""

OVER_RATINGS_DB: Final = (0, 2, 4)
"""By how much the SNR is over-rated in Figs. 9 and 10, dB."""


@dataclass(frozen=True)
class Curve:
    """One curve of a figure: T_M or T_W of a policy over th_PER.

    Parameters
    ----------
    policy : {"QAWLA", "TAGLA"}
        Which policy.
    h, boundary : int
        H and B of QAWLA, packets.
    over_rating_db : int
        By how much the SNR is over-rated, dB.
    worst : bool
        T_W instead of T_M.
    same_b : bool
        T_M normalised by *optimum* among the policies with the same B, 20 for TAGLA, not by one
        *optimum* for all.
    """

    policy: str
    h: int = H
    boundary: int = BOUNDARY
    over_rating_db: int = 0
    worst: bool = False
    same_b: bool = False

    @property
    def label(self) -> str:
        """What the legend says."""
        if self.policy == "TAGLA":
            return "TAGLA"
        return f"QAWLA, B = {self.boundary}"

    @property
    def quantity(self) -> str:
        """The quantity of its rows."""
        return "worst_normalised_throughput" if self.worst else "mean_normalised_throughput"

    def at(self, th_per: float) -> Policy:
        """Return the policy with a threshold."""
        return tagla(th_per) if self.policy == "TAGLA" else qawla(th_per, self.h, self.boundary)

    def value(self, adaptation: Adaptation, th_per: float) -> float:
        """Return T_M or T_W at one threshold."""
        policy = self.at(th_per)
        if self.same_b:
            best = adaptation.optimum_of_bps(policy.boundary)
            normalised = adaptation.normalised(policy, self.over_rating_db, best)
            return float(adaptation.weights @ normalised.mean(axis=1))
        measure = adaptation.worst if self.worst else adaptation.mean
        return measure(policy, self.over_rating_db)

    def values(self, adaptation: Adaptation) -> list[float]:
        """Return T_M or T_W at every threshold of `TH_PER`."""
        return [self.value(adaptation, th_per) for th_per in TH_PER]

    def peak(self, adaptation: Adaptation) -> tuple[float, float]:
        """Return th_PER where it is largest, and the value there."""
        value, th_per = max(zip(self.values(adaptation), TH_PER, strict=True))
        return th_per, value

    def average(self, adaptation: Adaptation, at_least: float) -> float:
        """Return the mean over the thresholds from `at_least` on."""
        high = [self.value(adaptation, th) for th in TH_PER if th >= 0.999 * at_least]
        return sum(high) / len(high)

    def keys(self, channel: Channel) -> dict[str, int | float | str]:
        """Return what names its rows, but for the threshold."""
        parameters = {} if self.policy == "TAGLA" else {"H": self.h, "B": self.boundary}
        return {
            "policy": self.policy,
            "channel": channel.key,
            **parameters,
            "over_rating_db": self.over_rating_db,
        }


@dataclass(frozen=True)
class _Panel:
    title: str
    curves: Sequence[Curve]


@dataclass(frozen=True)
class _Figure:
    title: str
    channel: Channel
    panels: Sequence[_Panel]
    by_h: bool = False


def _by_h(channel: Channel) -> _Figure:
    panels = [
        _Panel(f"H = {h}", [Curve("TAGLA"), *(Curve("QAWLA", h, b) for b in BOUNDARIES)])
        for h in HS
    ]
    return _Figure(f"T_M over th_PER, three H, {channel.name} channel", channel, panels, by_h=True)


def _over_rated(channel: Channel) -> _Figure:
    panels = [
        _Panel(
            f"{db} dB over-rated",
            [Curve(policy, over_rating_db=db) for policy in ("TAGLA", "QAWLA")],
        )
        for db in OVER_RATINGS_DB
    ]
    return _Figure(f"T_M over th_PER, over-rated SNR, {channel.name} channel", channel, panels)


def _worst(channel: Channel) -> _Figure:
    panels = [_Panel("", [Curve(policy, worst=True) for policy in ("TAGLA", "QAWLA")])]
    return _Figure(f"T_W over th_PER, {channel.name} channel", channel, panels)


FIGURES: Final[Mapping[str, _Figure]] = {
    "fig7": _by_h(AWGN),
    "fig8": _by_h(ITU_A),
    "fig9": _over_rated(AWGN),
    "fig10": _over_rated(ITU_A),
    "fig11": _worst(AWGN),
    "fig12": _worst(ITU_A),
}
"""Figs. 7 to 12 by their items."""


def figure_item(key: str) -> Callable[[Session, Path | None], ItemResult]:
    """Return what evaluates one of Figs. 7 to 12."""
    shown = FIGURES[key]

    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title = f"Fig. {key[3:]}: {shown.title}"
        found = adaptations(session)
        if found is None:
            return ItemResult(key, title, [], complete=False)
        adaptation = found[shown.channel.key]
        rows = [
            Row(
                {**curve.keys(shown.channel), "th_per": th_per},
                curve.quantity,
                "1",
                None,
                curve.value(adaptation, th_per),
            )
            for curve in _curves(shown)
            for th_per in TH_PER
        ]
        figures = [] if out is None else _draw(key, title, shown, adaptation, session, out)
        return ItemResult(key, title, rows, [_table(title, shown, adaptation)], figures)

    return evaluate


def _curves(shown: _Figure) -> list[Curve]:
    return list(dict.fromkeys(curve for panel in shown.panels for curve in panel.curves))


PRINTED: Final = (1e-4, 1e-3, 1e-2, 10**-1.3, 10**-1, 10**-0.3)
"""Thresholds that are printed."""


def _table(title: str, shown: _Figure, adaptation: Adaptation) -> Table:
    lines, known = [], set()
    for panel in shown.panels:
        for curve in panel.curves:
            if curve in known:
                continue
            known.add(curve)
            # TAGLA has no H.
            heading = "" if shown.by_h and curve.policy == "TAGLA" else panel.title
            th_per, value = curve.peak(adaptation)
            lines.append(
                [
                    heading,
                    curve.label,
                    *(f"{curve.value(adaptation, at):.3f}" for at in PRINTED),
                    f"{value:.3f}",
                    f"{th_per:.2g}",
                ]
            )
    columns = [
        ("", ""),
        ("", "policy"),
        *(("th_PER", f"{at:.2g}") for at in PRINTED),
        ("largest", "value"),
        ("largest", "at"),
    ]
    return Table(title, columns, lines)


# --- drawing -----------------------------------------------------------------------------------

LOOKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "TAGLA": {"color": plotting.COLOURS["grey"], "linestyle": (0, (4, 2)), "marker": "s"},
    "QAWLA, B = 20": {"color": plotting.COLOURS["blue"], "marker": "o"},
    "QAWLA, B = 30": {"color": plotting.COLOURS["green"], "marker": "P"},
    "QAWLA, B = 40": {"color": plotting.COLOURS["orange"], "marker": "D"},
}


def _draw(
    key: str, title: str, shown: _Figure, adaptation: Adaptation, session: Session, out: Path
) -> list[Path]:
    with plotting.style():
        many = len(shown.panels) > 1
        figure = plotting.new_figure(11 if many else 6.6, 4.3)
        panels = figure.subplots(1, len(shown.panels), sharey=True, squeeze=False)[0]
        for letter, panel, what in zip("abc", panels, shown.panels, strict=False):
            _draw_panel(panel, what, adaptation)
            _draw_published(panel, what, shown.channel)
            panel.set_title(f"({letter}) {what.title}" if many else "")
        # A normalised throughput is in [0, 1]; where all are in the upper half, that is drawn.
        lowest = min(min(curve.values(adaptation)) for curve in _curves(shown))
        half = lowest > 0.5
        panels[0].set_ylim(0.5 if half else -0.01, 1.01)
        worst = shown.panels[0].curves[0].worst
        panels[0].set_ylabel(f"{'$T_W$' if worst else '$T_M$'} (1: optimum)")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        subtitle = f"by the fixed point, {len(TH_PER)} thresholds · stars: Table 6 of the paper"
        subtitle += " · axis from 0.5 on" if half else ""
        plotting.heading(figure, title, subtitle)
        return session.write(figure, out, f"qawla-{key}", title, f"After {session.paper.citation}")


PUBLISHED: Final = (
    (Curve("QAWLA"), 0.05, "QAWLA(0.05, 100, 20)"),
    (Curve("TAGLA"), 0.0032, "TAGLA(0.0032)"),
)
"""The entries of Table 6 that lie on curves of these figures: T_M and T_W without over-rating."""


def _draw_published(panel: Axes, what: _Panel, channel: Channel) -> None:
    for curve, th_per, policy in PUBLISHED:
        for drawn in what.curves:
            if replace(drawn, worst=False) != curve:
                continue
            value = published_entry(policy, channel.key, drawn.quantity)
            look: dict[str, Any] = {"color": LOOKS[drawn.label]["color"], "fillstyle": "none"}
            panel.plot([th_per], [value], "*", markersize=13, gid="published", zorder=4, **look)


def _draw_panel(panel: Axes, what: _Panel, adaptation: Adaptation) -> None:
    for curve in what.curves:
        panel.plot(
            TH_PER,
            curve.values(adaptation),
            label=curve.label,
            markersize=3.5,
            linewidth=1.4,
            markevery=2,
            **LOOKS[curve.label],
        )
    panel.set_xscale("log")
    panel.set_xlim(TH_PER[0], 1)
    panel.set_xlabel("$th_{PER}$")
