"""Up to which b the fluid model is stable, over the ratio of two flows' delays."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import airpath as ap
from airpath import solve
from airpath.present import style as plotting
from airpath.reproduction.base import Row, Table
from airpath.reproduction.items import Found, item_of
from airpath.reproduction.session import Session

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DELAYS_MS", "ITEM", "LIMITS", "RATIOS", "Limits", "limits_at"]

DELAYS_MS: Final = (10.0, 50.0)
"""d1, ms."""

RATIOS: Final = tuple(float(ratio) for ratio in np.geomspace(1, 100, 81))
"""d2/d1."""

LIMITS: Final = {
    "limit_constant_shares": ("constant shares", "blue", ":"),
    "limit": ("closed model", "green", "-"),
    "limit_average": ("with the queue's average of 0.5 s, and the whole round trip", "red", "-"),
}
"""Each limit of ``stability``: what it is called, its colour and line."""


class Limits(NamedTuple):
    """The limits of b for two flows, by their names in ``stability``."""

    delay_ms: float
    ratio: float
    limits: dict[str, float | None]


def limits_at(delay_ms: float, ratio: float) -> Limits:
    """Return the limits for flows of `delay_ms` and `ratio` times that, over 10 Mbit/s."""

    def flow(ms: float) -> dict[str, Any]:
        large = {"receive_window": "60 MB"}
        return {
            "cc": "newreno",
            "base_rtt": f"{ms:.6f} ms",
            "window": ap.window.Clamp(),
            "tcp": large,
        }

    queue = ap.aqm.Clamp(a="5500 B", inner=ap.aqm.DropTail(limit="6 MB"))
    link = ap.link.Fixed(rate="10 Mbit/s")
    scenario = ap.Scenario(
        duration="60 s",
        bottleneck=ap.Bottleneck(aqm=queue, link=link),
        flows=[flow(delay_ms), flow(delay_ms * ratio)],
    )
    with warnings.catch_warnings():
        # With so little as 6 kB at 10 ms the shares are not stable, which is another limit.
        warnings.filterwarnings("ignore", message="the shares of")
        found = solve(scenario, model="clamp-fluid")
    assert isinstance(found, ap.solutions.ClampFluid)
    return Limits(delay_ms, ratio, {name: found.stability[name] for name in LIMITS})


def _rows(found: list[Limits]) -> Iterator[Row]:
    for each in found:
        key = {"d1_ms": each.delay_ms, "ratio": round(each.ratio, 4)}
        for name, value in each.limits.items():
            yield Row(key, name, "1", None, value)


def _table(found: list[Limits]) -> Table:
    lines = []
    for each in (each for each in found if each.ratio in RATIOS[::8]):
        limits = each.limits.values()
        shown = ["above 64" if value is None else f"{value:.3f}" for value in limits]
        lines.append([f"{each.delay_ms:g}", f"{each.ratio:.2f}", *shown])
    names = ("d1, ms", "d2/d1", "constant shares", "closed model", "with the average")
    return Table("limits of b", [("", name) for name in names], lines, [])


def _draw(_session: Session) -> Figure:
    found = _all()
    figure = plotting.new_figure(8.0, 4.2)
    panels: Any = figure.subplots(1, len(DELAYS_MS), sharey=True)
    for axes, delay_ms in zip(panels, DELAYS_MS, strict=True):
        here = [each for each in found if each.delay_ms == delay_ms]
        for name, (label, colour, line) in LIMITS.items():
            values = [each.limits[name] for each in here]
            shown = [np.nan if value is None else value for value in values]
            ratios = [each.ratio for each in here]
            axes.semilogx(ratios, shown, line, color=plotting.COLOURS[colour], label=label)
        axes.axhline(np.pi / 2, color="0.5", lw=0.8, ls="--", label="π/2")
        axes.axhline(1, color="0.5", lw=0.8, ls="-.", label="b of the protocol")
        axes.set(xlabel="d2/d1", ylim=(0, 5), xlim=(1, 100))
        axes.set_title(f"d1 = {delay_ms:g} ms", loc="left")
    panels[0].set_ylabel("b is stable below")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    return figure


@cache
def _all() -> list[Limits]:
    return [limits_at(delay_ms, ratio) for delay_ms in DELAYS_MS for ratio in RATIOS]


def _found(_session: Session, _title: str) -> Found:
    return list(_rows(_all())), [_table(_all())]


ITEM: Final = item_of(
    Path(__file__).parent,
    "fluid-map",
    (),
    _found,
    _draw,
    "Two flows over 10 Mbit/s, a = 5500 B; nothing is simulated.",
    whole=True,
)
"""The item's cells, and what makes its result."""
