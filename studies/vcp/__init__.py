"""Beyond Yousefi'zadeh, Habibi and Furmanski 2008: transports, codes, bursts, a recorded link.

``airpath reproduce studies/vcp`` runs it; README.md says what each item is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from airpath.reproduction.manifest import paper_of
from airpath_papers.vcp.quantities import NAMING, QUANTITIES

from . import bursts, rates, recorded
from .checks import CLAIMS, DIRECTORY, SWEEPS
from .sensitivity import CHANGED

__all__ = ["DIRECTORY", "PAPER"]


PAPER: Final = replace(
    paper_of(
        DIRECTORY,
        CLAIMS,
        {
            **CHANGED,
            "code-rate": rates.ITEM,
            "bursts": bursts.ITEM,
            "trace": recorded.ITEM,
        },
        SWEEPS,
        QUANTITIES,
        NAMING,
    ),
    key="vcp-studies",
)
