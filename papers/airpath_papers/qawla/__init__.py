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
from airpath_papers.qawla.error_rates import curve_item
from airpath_papers.qawla.policies import TABLE6
from airpath_papers.qawla.policies import summarise as summarise_policies
from airpath_papers.qawla.queue_lengths import TITLES, distribution_item
from airpath_papers.qawla.scenarios import SWEEPS
from airpath_papers.qawla.tables import QUANTITIES, TABLE2, summarise
from airpath_papers.qawla.thresholds import NAMING
from airpath_papers.qawla.thresholds import QUANTITIES as OF_THRESHOLDS

__all__ = ["PAPER"]


def _summarise(results: Sequence[ItemResult]) -> list[Summary]:
    return [*summarise(results), *summarise_policies(results)]


PAPER: Final = paper_of(
    QAWLA,
    CLAIMS,
    {
        **{key: curve_item(key) for key in ("fig2", "fig3")},
        "table2": TABLE2,
        **{key: distribution_item(key) for key in TITLES},
        "table6": TABLE6,
    },
    SWEEPS,
    {**QUANTITIES, **OF_THRESHOLDS},
    NAMING,
    summarise=_summarise,
)
