"""Points of the study and measures of ``claims.toml``, which was written before the first run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from airpath.reproduction.base import Effort
from airpath.reproduction.claims import Claims
from airpath.reproduction.formulas import Measure, of_point, of_replication
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath_papers.vcp.claims import SWEEPS as OF_PAPER
from airpath_papers.vcp.failures import failure, goodput_share
from airpath_papers.vcp.measures import delivered_packets, mean_queue
from airpath_papers.vcp.scenarios import BAD_SHARE, chain_of_bursts

from .lte import recorded

__all__ = ["CLAIMS", "DIRECTORY", "RATES", "SWEEPS", "law_of", "law_share"]

DIRECTORY: Final = Path(__file__).parent


class _Sweeps(Sweeps):
    """Sweeps in which the recorded link has at most 10 replications."""

    def effort_of(self, cell: SweepPoint, effort: Effort) -> Effort:
        if cell.scenario == recorded.__name__:
            effort = replace(effort, replications=min(10, effort.replications))
        return super().effort_of(cell, effort)


SWEEPS: Final = _Sweeps(DIRECTORY, recorded, parent=OF_PAPER)

RATES: Final = [*dict.fromkeys(point.axes["code_rate"] for point in SWEEPS.cells("code-rate"))]
"""Code rates of claims.toml, from the weakest code on."""


def law_of(code_rate: float, bits: int) -> float:
    """Return the computed failure probability of data, 2x2, 10 dB, mean burst length `bits`."""
    return failure("2x2", code_rate, 10.0, **chain_of_bursts(bits))


def law_share(_session: Session, point: SweepPoint) -> float:
    """Return the computed share of the link's rate that full packets can use."""
    return goodput_share("2x2", point.axes["code_rate"], point.axes["snr_db"])


MEASURES: Final[Mapping[str, Measure]] = {
    "delivered": of_replication(delivered_packets),
    "queue": of_replication(mean_queue),
    "law_share": of_point(law_share),
    "law": of_point(lambda _session, point: law_of(0.93, point.axes["bits"])),
    "bad_share": of_point(lambda _session, _point: BAD_SHARE),
}

CLAIMS: Final = Claims(DIRECTORY, SWEEPS, MEASURES)
