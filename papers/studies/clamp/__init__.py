"""Beyond Andrew, Hanly and Mukhtar 2008: unspecified parameters and untested expectations.

``airpath reproduce papers/studies/clamp`` runs the study; README.md has the results.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from airpath.reproduction.manifest import paper_of

from .checks import CLAIMS
from .items import ITEMS, NAMING, QUANTITIES
from .scenarios import SWEEPS

__all__ = ["PAPER"]

PAPER: Final = replace(
    paper_of(Path(__file__).parent, CLAIMS, ITEMS, SWEEPS, QUANTITIES, NAMING),
    key="clamp-studies",
)
