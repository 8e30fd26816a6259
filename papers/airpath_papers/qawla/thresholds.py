"""What Figs. 7 to 12 show: normalised throughput of QAWLA and TAGLA over their threshold th_PER."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from airpath.reproduction.formulas import Point
from airpath.reproduction.quantities import ComputedAtPoint
from airpath.reproduction.session import Session
from airpath.reproduction.spread import Naming
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.qawla.data import MEASURES, published_entry
from airpath_papers.qawla.link_adaptation import TH_PER, Adaptation, Curve, adaptations

__all__ = ["NAMING", "OVER_RATINGS_DB", "QUANTITIES"]

OVER_RATINGS_DB: Final = (0, 2, 4)
"""By how much the SNR is over-rated in Figs. 9 and 10, dB."""

PUBLISHED: Final = {"QAWLA, B = 20": "QAWLA(0.05, 100, 20)", "TAGLA": "TAGLA(0.0032)"}
"""The entries of Table 6 that lie on curves: T_M and T_W without over-rating."""


def _curve_of(cell: SweepPoint, measure: str) -> Curve:
    axes = cell.axes
    policy, _, boundary = axes["curve"].partition(", B = ")
    above_db, is_worst = axes["over_rating_db"], measure == list(MEASURES)[1]
    return Curve(policy, axes["H"] or 100, int(boundary or 20), above_db, is_worst)


def _quantities(measure: str) -> Iterator[ComputedAtPoint]:
    """Yield T_M or T_W at the threshold of a point, and at the best one, and as printed."""

    def of_curve(name: str, form: str, take: Callable[[Curve, Adaptation, float], float]) -> Any:
        def compute(session: Session, cell: SweepPoint) -> float:
            found = adaptations(session)[cell.axes["channel"]]
            return take(_curve_of(cell, measure), found, cell.axes["th_per"])

        return ComputedAtPoint(name, "1", compute, form)

    def printed(_session: Session, cell: SweepPoint) -> float:
        return published_entry(PUBLISHED[cell.axes["curve"]], cell.axes["channel"], measure)

    values = lambda curve, found, th: curve.values(found)[TH_PER.index(th)]  # noqa: E731
    yield of_curve(measure, ".3f", values)
    yield of_curve(f"largest_{measure}", ".3f", lambda curve, found, _th: curve.peak(found)[1])
    yield of_curve(f"best_of_{measure}", ".2g", lambda curve, found, _th: curve.peak(found)[0])
    yield ComputedAtPoint(f"printed_{measure}", "1", printed, ".2f")


QUANTITIES: Final = {each.name: each for measure in MEASURES for each in _quantities(measure)}
"""Those that ``paper.toml`` names."""


def _place_of(point: Point) -> dict[str, Any]:
    """Return what names a row: H and B are those of QAWLA."""
    axes = point.cell.axes
    policy, _, boundary = axes["curve"].partition(", B = ")
    of_qawla = {"H": axes["H"], "B": int(boundary)} if boundary else {}
    named = {name: axes[name] for name in ("channel", "over_rating_db", "th_per")}
    return {"policy": policy, "channel": named.pop("channel"), **of_qawla, **named}


NAMING: Final = Naming(
    {
        "H": lambda h: f"H = {h}" if h else "",
        "over_rating_db": "{} dB over-rated",
        "th_per": lambda threshold: f"{threshold:.2g}",
    },
    _place_of,
)
"""How figures call values and points. TAGLA has no H, which is 0 then."""
