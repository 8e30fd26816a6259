"""Ozturk and Akar 2015: queue-aware link adaptation and its fixed-point TCP model.

README.md lists what is modelled, what is left out, every parameter that the paper leaves open with
the value chosen, and the errata; paper.toml has the modes and the items, sweeps.toml the cells,
claims.toml what the text says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airpath.reproduction.base import ItemResult, Summary
from airpath.reproduction.manifest import paper_of
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.claims import CLAIMS
from airpath_papers.qawla.data import TABLE_OF
from airpath_papers.qawla.error_rates import curve_item
from airpath_papers.qawla.policies import evaluate_table6
from airpath_papers.qawla.policies import summarise as summarise_policies
from airpath_papers.qawla.queue_lengths import TITLES, distribution_item
from airpath_papers.qawla.scenarios import SWEEPS
from airpath_papers.qawla.tables import evaluate_table2, results_table, summarise
from airpath_papers.qawla.thresholds import FIGURES, figure_item

__all__ = ["PAPER"]


def _summarise(results: Sequence[ItemResult]) -> list[Summary]:
    return [*summarise(results), *summarise_policies(results)]


PAPER: Final = paper_of(
    QAWLA,
    CLAIMS,
    {
        **{key: ((), curve_item(key)) for key in ("fig2", "fig3")},
        "table2": ((), evaluate_table2),
        **{key: (SWEEPS.cells(key), results_table(b)) for b, key in TABLE_OF.items()},
        **{key: (SWEEPS.cells(key), distribution_item(key)) for key in TITLES},
        **{key: ((), figure_item(key)) for key in FIGURES},
        "table6": ((), evaluate_table6),
    },
    SWEEPS,
    summarise=_summarise,
)
