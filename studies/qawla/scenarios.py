"""The scenarios of the studies: the path of the paper's Fig. 4 with links of their own.

Cells of the paper are made as the paper makes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from airpath.reproduction.base import Cell, Effort
from airpath.reproduction.sweeps import SweepPoint
from airpath.scenario import Record, Scenario
from airpath_papers.qawla import scenarios as of_paper
from airpath_papers.qawla.data import Traffic, link_rate_bps, mcs_table
from airpath_papers.qawla.error_rates import CHANNELS
from airpath_papers.qawla.scenarios import SWEEPS, multi_regime_path

from .random_links import Link, RandomLink, random_link
from .sample import Adapted

__all__ = ["analysed", "of_adapted", "of_random_link", "simulated"]


def simulated(cell: Cell, effort: Effort) -> Scenario:
    """Return the scenario of a cell as it is simulated."""
    if isinstance(cell, Link):
        return of_random_link(random_link(cell), effort)
    if isinstance(cell, Adapted):
        return of_adapted(cell, effort)
    assert isinstance(cell, SweepPoint), "the other cells are the paper's"
    return SWEEPS.scenario(cell, effort)


def analysed(cell: Cell) -> Scenario:
    """Return the scenario of a cell as the paper's model has it (§3)."""
    if isinstance(cell, Link):
        return of_random_link(random_link(cell))
    if isinstance(cell, Adapted):
        return of_adapted(cell)
    assert isinstance(cell, SweepPoint), "the other cells are the paper's"
    return of_paper.analysed(cell)


def of_random_link(
    link: RandomLink, effort: Effort | None = None, record: Sequence[str] = ()
) -> Scenario:
    """Return the scenario of a random link: simulated with `effort`, or as the model has it.

    Parameters
    ----------
    link : RandomLink
        Which link.
    effort : Effort, optional
        How long it is simulated. Default: the path as the paper's model has it.
    record : sequence of str
        Series to record.
    """
    made = multi_regime_path(
        f"qawla random link {link.number}",
        Traffic("SU", link.flows, link.mean_rtt0_ms),
        link.rates_mbps,
        link.pers,
        link.thresholds,
        idealised=effort is None,
    )
    return made if effort is None else _lasting(made, effort, record)


def of_adapted(cell: Adapted, effort: Effort | None = None) -> Scenario:
    """Return the scenario of a policy's link: simulated with `effort`, or as the model has it.

    Parameters
    ----------
    cell : Adapted
        Channel, traffic and the MCSs.
    effort : Effort, optional
        How long it is simulated. Default: the path as the paper's model has it.
    """
    channel = CHANNELS[cell.channel]
    rates = channel.table()
    # One MCS is one regime.
    mcss = list(dict.fromkeys((cell.mcs1, cell.mcs2)))
    made = multi_regime_path(
        f"qawla {channel.name} {cell.snr_db:g} dB, {cell.traffic.name}, "
        + " and ".join(f"mcs{mcs}" for mcs in mcss),
        cell.traffic,
        [link_rate_bps(mcs_table()[mcs]) / 1e6 for mcs in mcss],
        [rates.per(mcs, cell.snr_db) for mcs in mcss],
        [cell.boundary] if len(mcss) > 1 else [],
        idealised=effort is None,
    )
    return made if effort is None else _lasting(made, effort)


def _lasting(made: Scenario, effort: Effort, record: Sequence[str] = ()) -> Scenario:
    times = {"duration": effort.duration_s, "warmup": effort.warmup_s}
    return made.model_copy(update={**times, "record": Record(series=list(record))})
