"""Ozturk and Akar 2015: queue-aware link adaptation and its fixed-point TCP model.

README.md in this folder lists what is modelled, what is left out, every parameter that the paper
leaves open with the value chosen, and the errata; paper.toml has the modes and the items,
statements.toml what the text says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airpath.papers.kit.base import ItemResult, Summary
from airpath.papers.kit.declared import paper_of
from airpath.papers.qawla import adaptation_statements, scenarios
from airpath.papers.qawla.curves import curve_item
from airpath.papers.qawla.data import TABLE_OF
from airpath.papers.qawla.figures import CELLS, distributions
from airpath.papers.qawla.policies import evaluate_table6
from airpath.papers.qawla.policies import summarise as summarise_policies
from airpath.papers.qawla.statements import SAYS
from airpath.papers.qawla.tables import (
    cells_of_table,
    evaluate_table2,
    results_table,
    summarise,
)
from airpath.papers.qawla.thresholds import FIGURES, figure_item

__all__ = ["PAPER", "adaptation_statements"]


def _summarise(results: Sequence[ItemResult]) -> list[Summary]:
    return [*summarise(results), *summarise_policies(results)]


PAPER: Final = paper_of(
    "qawla",
    SAYS,
    {
        **{key: ((), curve_item(key)) for key in ("fig2", "fig3")},
        "table2": ((), evaluate_table2),
        **{key: (cells_of_table(b), results_table(b)) for b, key in TABLE_OF.items()},
        **{key: (cells, distributions(key)) for key, cells in CELLS.items()},
        **{key: ((), figure_item(key)) for key in FIGURES},
        "table6": ((), evaluate_table6),
    },
    simulated_scenario=scenarios.simulated,
    analysed_scenario=scenarios.analysed,
    summarise=_summarise,
)
