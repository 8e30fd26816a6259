"""Figures 7 to 12: normalised throughput of QAWLA and TAGLA over their threshold th_PER."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from airpath.present import style as plotting
from airpath.reproduction.base import ItemResult, Row, Table
from airpath.reproduction.manifest import Evaluate
from airpath.reproduction.session import Session
from airpath_papers.qawla.adaptation import LINKS, adaptations
from airpath_papers.qawla.curve_panels import CurveSpec, Panel, draw_panels
from airpath_papers.qawla.curves import AWGN, ITU_A
from airpath_papers.qawla.data import MEASURES, published_entry
from airpath_papers.qawla.error_rates import Channel
from airpath_papers.qawla.link_adaptation import Adaptation, Policy, Sweep, qawla, tagla

__all__ = ["FIGURES", "HS", "OVER_RATINGS_DB", "TH_FER", "TH_PER", "Curve", "figure_item"]

TH_PER: Final = tuple(10 ** (tenths / 10) for tenths in range(-50, -2))
"""th_PER of the figures: ten in a decade, from 1e-5 to 0.5."""

TH_FER: Final = tuple(10 ** (tenths / 10) for tenths in range(-60, -2))
"""Values of th_FER among which the best is looked for: from 1e-6 to 0.5."""

HS: Final = (10, 100, 1000)
"""H of Figs. 7 and 8."""

OVER_RATINGS_DB: Final = (0, 2, 4)
"""By how much the SNR is over-rated in Figs. 9 and 10, dB."""


class Curve(NamedTuple):
    """One curve of a figure: T_M or T_W of a policy over th_PER.

    The fields are those of `Sweep`, but for the policy, which is made by its name, H and B. Default
    of these: 100 and 20, as in Figs. 9 to 12 and Table 6.
    """

    policy: str
    """``QAWLA`` or ``TAGLA``."""
    h: int = 100
    boundary: int = 20
    over_rating_db: int = 0
    worst: bool = False
    optimum_b: int | None = None

    @property
    def label(self) -> str:
        """What the legend says."""
        return "TAGLA" if self.policy == "TAGLA" else f"QAWLA, B = {self.boundary}"

    @property
    def quantity(self) -> str:
        """The quantity of its rows."""
        return MEASURES[self.worst]

    def at(self, th_per: float) -> Policy:
        """Return the policy with a threshold."""
        return tagla(th_per) if self.policy == "TAGLA" else qawla(th_per, self.h, self.boundary)

    @property
    def sweep(self) -> Sweep:
        """It over `TH_PER`."""
        return _sweep(self)

    def keys(self, channel: Channel) -> dict[str, int | float | str]:
        """Return what names its rows, but for the threshold."""
        parameters = {} if self.policy == "TAGLA" else {"H": self.h, "B": self.boundary}
        return {
            "policy": self.policy,
            "channel": channel.key,
            **parameters,
            "over_rating_db": self.over_rating_db,
        }


@cache
def _sweep(curve: Curve) -> Sweep:
    # Equal curves have one sweep, so that its values are found again.
    return Sweep(curve.at, TH_PER, *curve[3:])


# --- what the figures show ---------------------------------------------------------------------


class Figure(NamedTuple):
    """One of the figures."""

    title: str
    channel: Channel
    panels: Mapping[str, Sequence[Curve]]
    """Curves by the title of their panel."""
    by_h: bool = False

    def curves(self) -> list[Curve]:
        """Return every curve once."""
        return list(dict.fromkeys(curve for curves in self.panels.values() for curve in curves))


def _figures(channel: Channel) -> list[Figure]:
    """Return the three figures of a channel."""
    both = ("TAGLA", "QAWLA")
    by_h = {
        f"H = {h}": [Curve("TAGLA"), *(Curve("QAWLA", h, b) for b in LINKS.boundaries)] for h in HS
    }
    over_rated = {
        f"{db} dB over-rated": [Curve(policy, over_rating_db=db) for policy in both]
        for db in OVER_RATINGS_DB
    }
    worst = {"": [Curve(policy, worst=True) for policy in both]}
    on = f"{channel.name} channel"
    return [
        Figure(f"T_M over th_PER, three H, {on}", channel, by_h, by_h=True),
        Figure(f"T_M over th_PER, over-rated SNR, {on}", channel, over_rated),
        Figure(f"T_W over th_PER, {on}", channel, worst),
    ]


FIGURES: Final[Mapping[str, Figure]] = {
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
            Row({**curve.keys(shown.channel), "th_per": th}, curve.quantity, "1", None, value)
            for curve in shown.curves()
            for th, value in zip(TH_PER, curve.sweep.values(adaptation), strict=True)
        ]
        figures = [] if out is None else _draw(key, title, shown, adaptation, session, out)
        return ItemResult(key, title, rows, [_table(title, shown, adaptation)], figures)

    return evaluate


PRINTED: Final = (1e-4, 1e-3, 1e-2, 10**-1.3, 10**-1, 10**-0.3)
"""Thresholds that are printed."""


def _table(title: str, shown: Figure, adaptation: Adaptation) -> Table:
    lines: dict[Curve, list[str]] = {}
    for panel, curves in shown.panels.items():
        for curve in curves:
            # TAGLA has no H.
            heading = "" if shown.by_h and curve.policy == "TAGLA" else panel
            values = [f"{curve.sweep.value(adaptation, at):.3f}" for at in PRINTED]
            th_per, value = curve.sweep.peak(adaptation)
            line = [heading, curve.label, *values, f"{value:.3f}", f"{th_per:.2g}"]
            lines.setdefault(curve, line)
    columns = [("", ""), ("", "policy"), *(("th_PER", f"{at:.2g}") for at in PRINTED)]
    columns += [("largest", "value"), ("largest", "at")]
    return Table(title, columns, list(lines.values()))


# --- drawing -----------------------------------------------------------------------------------

LOOKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "TAGLA": {"color": plotting.COLOURS["grey"], "linestyle": (0, (4, 2)), "marker": "s"},
    "QAWLA, B = 20": {"color": plotting.COLOURS["blue"], "marker": "o"},
    "QAWLA, B = 30": {"color": plotting.COLOURS["green"], "marker": "P"},
    "QAWLA, B = 40": {"color": plotting.COLOURS["orange"], "marker": "D"},
}

PUBLISHED: Final = (
    (Curve("QAWLA"), 0.05, "QAWLA(0.05, 100, 20)"),
    (Curve("TAGLA"), 0.0032, "TAGLA(0.0032)"),
)
"""The entries of Table 6 that lie on curves of these figures: T_M and T_W without over-rating."""


def _draw(
    key: str, title: str, shown: Figure, adaptation: Adaptation, session: Session, out: Path
) -> list[Path]:
    def panel(name: str, curves: Sequence[Curve]) -> Panel:
        drawn = [
            CurveSpec(c.label, TH_PER, c.sweep.values(adaptation), LOOKS[c.label]) for c in curves
        ]
        stars = [
            CurveSpec(
                policy,
                [th_per],
                [published_entry(policy, shown.channel.key, curve.quantity)],
                LOOKS[curve.label],
            )
            for of, th_per, policy in PUBLISHED
            for curve in curves
            if curve._replace(worst=False) == of
        ]
        return Panel(name, drawn, stars)

    # A normalised throughput is in [0, 1]; where all are in the upper half, that is drawn.
    half = min(min(curve.sweep.values(adaptation)) for curve in shown.curves()) > 0.5
    name = "worst" if shown.curves()[0].worst else "mean"
    symbol = "$T_W$" if name == "worst" else "$T_M$"
    with plotting.style():
        figure = draw_panels(
            [panel(*each) for each in shown.panels.items()],
            ("threshold of the PER, $th_{PER}$", f"{name} normalised throughput {symbol}"),
            ((TH_PER[0], 1), (0.5 if half else -0.01, 1.01)),
            (11 if len(shown.panels) > 1 else 6.6, 4.3),
            "paper, Table 6",
        )
        subtitle = (
            f"by the fixed point, {len(TH_PER)} thresholds · 1: throughput of the optimum policy"
        )
        subtitle += " · axis from 0.5 on" if half else ""
        plotting.heading(figure, title, subtitle)
        return session.write(figure, out, f"qawla-{key}", title, f"After {session.paper.citation}")
