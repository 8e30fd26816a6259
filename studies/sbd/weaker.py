"""The measures of ``claims.toml``: weaker than the paper's claims.

Their item is `weaker`: it has nothing but these.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from airpath.reproduction.base import ItemResult
from airpath.reproduction.claims import Claims, ClaimSpec
from airpath.reproduction.formulas import Point
from airpath.reproduction.session import Session
from airpath_papers.sbd.claims import MEASURES, POINTS, SWEPT, proposed, sweep
from airpath_papers.sbd.data import DropTail, strengths
from airpath_papers.sbd.scenarios import Case, Use

__all__ = ["CLAIMS", "evaluate_weaker"]


def evaluate_weaker(_session: Session, _out: Path | None) -> ItemResult:
    """Return the item of the measures."""
    return ItemResult("weaker", "what holds beside the paper's claims", [])


def _rising(spec: ClaimSpec) -> list[Point]:
    return [
        point
        for bearer in SWEPT
        for point in sweep(bearer, spec["t_r_ms"][str(bearer)], proposed(3, bearer).min_th)
    ]


def _alphas_by_t_r(spec: ClaimSpec) -> list[Point]:
    return [
        point
        for bearer in SWEPT
        for alpha in spec["alphas"]
        for point in sweep(
            bearer, strengths("sbd", 2), proposed(3, bearer).min_th, alpha, alpha_sdus=alpha
        )
    ]


def _newcomers(spec: ClaimSpec) -> list[Point]:
    joins_s, window_s = spec["joins_s"], spec["window_s"]
    use = Use(joins_s + window_s, newcomer_s=joins_s, replications=20, record=("delivered",))
    return [Point({"size": n}, Case(384, 2, DropTail(n), use=use)) for n in spec["sizes"]]


CLAIMS: Final = Claims(
    Path(__file__).parent,
    {**POINTS, "rising": _rising, "alphas-by-t-r": _alphas_by_t_r, "newcomers": _newcomers},
    MEASURES,
)
