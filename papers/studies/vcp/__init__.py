"""Beyond Yousefi'zadeh, Habibi and Furmanski 2008: transports, codes, bursts, a recorded link.

``airpath reproduce papers/studies/vcp`` runs the study; README.md describes the items.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from airpath.reproduction.manifest import paper_of

from .checks import CLAIMS, DIRECTORY, SWEEPS
from .quantities import NAMING, QUANTITIES
from .trace import found

__all__ = ["DIRECTORY", "PAPER"]

PAPER: Final = replace(
    paper_of(DIRECTORY, CLAIMS, {"trace": found}, SWEEPS, QUANTITIES, NAMING),
    key="vcp-studies",
)
