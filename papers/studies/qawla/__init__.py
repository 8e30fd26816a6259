"""Beyond Ozturk and Akar 2015: sensitivity of Table 6, and validity of the model.

``airpath reproduce papers/studies/qawla`` runs the studies. README.md describes each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from airpath.reproduction.base import Item, ItemResult, Summary
from airpath_papers.qawla import PAPER as OF_PAPER

from . import ranking, three_regimes
from .scenarios import SWEEPS
from .sensitivity import evaluate_sensitivity

__all__ = ["PAPER"]


def _summarise(results: Sequence[ItemResult]) -> list[Summary]:
    makers = (three_regimes.summarise, ranking.summarise)
    return [summary for make in makers for summary in make(results)]


PAPER: Final = replace(
    OF_PAPER,
    key="qawla-studies",
    title="Beyond the paper: queue-aware link adaptation and its fixed-point model",
    items=(
        Item(
            "sensitivity",
            "Table 6: what it depends on",
            (),
            evaluate_sensitivity,
        ),
        Item(
            ranking.KEY,
            "beyond the paper: the policies of Table 6 by simulation",
            ranking.cells,
            ranking.evaluate,
        ),
        Item(
            three_regimes.KEY,
            "beyond the paper: 50 random three-regime links, the differences explained",
            three_regimes.cells(),
            three_regimes.evaluate,
        ),
    ),
    sweeps=SWEEPS,
    claims=(),
    summarise=_summarise,
)
