"""Scenarios and points of the studies: the path of the paper's Fig. 4 with other links."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from airpath.reproduction.base import Effort
from airpath.reproduction.sweeps import SweepPoint, Sweeps
from airpath.scenario import Scenario
from airpath.solutions import FixedPoint
from airpath_papers.qawla import scenarios as of_paper
from airpath_papers.qawla.data import Traffic, link_rate_bps, mcs_table
from airpath_papers.qawla.error_rates import CHANNELS
from airpath_papers.qawla.scenarios import multi_regime_path

from .random_links import RandomLink, random_link

__all__ = ["SWEEPS", "adapted_path", "path_of", "random_path", "solution"]


def random_path(link: int, *, idealised: bool = False) -> Scenario:
    """Return the path of a random link by number; `idealised` as for `of_paper.path`."""
    return path_of(random_link(link), idealised=idealised)


def path_of(link: RandomLink, *, idealised: bool = False) -> Scenario:
    """Return the path of a random link; `idealised` as for `of_paper.path`."""
    return multi_regime_path(
        f"qawla random link {link.number}",
        Traffic("SU", link.flows, link.mean_rtt0_ms),
        link.rates_mbps,
        link.pers,
        link.thresholds,
        idealised=idealised,
    )


def adapted_path(
    channel: str,
    snr_db: float,
    spacing: str,
    flows: int,
    mean_rtt0_ms: int,
    mcs1: int,
    mcs2: int,
    boundary: int,
    *,
    idealised: bool = False,
) -> Scenario:
    """Return the path of a policy's link.

    Parameters
    ----------
    channel, snr_db, spacing, flows, mean_rtt0_ms, mcs1, mcs2, boundary
        As in `sample.Adapted`.
    idealised : bool
        Whether to use the path of the paper's model. Default False.
    """
    found = CHANNELS[channel]
    traffic = Traffic("SF" if spacing == "SF" else "SU", flows, mean_rtt0_ms)
    rates = found.table()
    # A single MCS gives a single regime.
    mcss = list(dict.fromkeys((mcs1, mcs2)))
    return multi_regime_path(
        f"qawla {found.name} {snr_db:g} dB, {traffic.name}, "
        + " and ".join(f"mcs{mcs}" for mcs in mcss),
        traffic,
        [link_rate_bps(mcs_table()[mcs]) / 1e6 for mcs in mcss],
        [rates.per(mcs, snr_db) for mcs in mcss],
        [boundary] if len(mcss) > 1 else [],
        idealised=idealised,
    )


_FUNCTIONS: Final = {each.__name__: each for each in (of_paper.path, random_path, adapted_path)}


def solution(cell: SweepPoint) -> FixedPoint:
    """Return the solution of the paper's model at a cell."""
    return of_paper.solution(cell, _FUNCTIONS[cell.scenario])


FULL_S: Final = 300.0
FULL_RUNS: Final = 10


class _Sweeps(Sweeps):
    """Sweeps with shorter runs for the policies' links than for tables, except with ``--full``."""

    def effort_of(self, cell: SweepPoint, effort: Effort) -> Effort:
        is_full = effort.duration_s >= FULL_S and effort.replications >= FULL_RUNS
        if cell.scenario == adapted_path.__name__ and not is_full:
            return Effort(effort.replications, effort.duration_s / 3, effort.warmup_s / 3)
        return super().effort_of(cell, effort)


SWEEPS: Final = _Sweeps(Path(__file__).parent, random_path, adapted_path, parent=of_paper.SWEEPS)
