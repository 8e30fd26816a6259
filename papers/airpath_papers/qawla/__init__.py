"""Ozturk and Akar 2015: queue-aware link adaptation and its fixed-point TCP model.

README.md lists the modelled parts, the omitted parts, every parameter that the paper does not
specify, with the chosen value, and the errata. paper.toml has the modes and the items, sweeps.toml
the cells, claims.toml the claims of the text.
"""

from __future__ import annotations

from typing import Final

from airpath.reproduction.manifest import paper_of
from airpath_papers.paths import QAWLA
from airpath_papers.qawla.claims import CLAIMS
from airpath_papers.qawla.quantities import NAMING, QUANTITIES
from airpath_papers.qawla.queue_lengths import TITLES, distribution_item
from airpath_papers.qawla.scenarios import SWEEPS
from airpath_papers.qawla.summaries import summarise

__all__ = ["PAPER"]

PAPER: Final = paper_of(
    QAWLA,
    CLAIMS,
    {key: distribution_item(key) for key in TITLES},
    SWEEPS,
    QUANTITIES,
    NAMING,
    summarise=summarise,
)
