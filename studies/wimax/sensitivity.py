"""The item ``sensitivity``: one choice of the paper's README changed at a time."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Final

from airpath.reproduction.base import Cell, Table
from airpath.reproduction.claims import means
from airpath.reproduction.session import Session
from airpath.reproduction.vocabulary import crossing
from airpath_papers.wimax.analysis import DEFAULTS, goodput_of, model2_mbps
from airpath_papers.wimax.measures import goodput_mbps
from airpath_papers.wimax.scenarios import AS_CHOSEN
from airpath_papers.wimax.validation import SWEEPS, cell_of, on_top
from airpath_papers.wimax.variant_items import cells_of, variant_item, variant_table
from airpath_papers.wimax.variants import ON_THE_RADIO, RADIO, SCHEDULED_RTTS_MS, SCHEDULERS

from .variants import SENSITIVITY

__all__ = ["ITEM"]

_OVER_RTTS: Final = {**SCHEDULERS, ON_THE_RADIO: RADIO[ON_THE_RADIO]}

_FIG3: Final = {
    "the frames make up T_pb": cell_of,
    "10 ms of T_pb on top of the frames": on_top,
}
"""What a piggyback request takes in Fig. 3."""
_CASES: Final = SWEEPS["contention_ms"]
_FIG3_CELLS: Final[list[Cell]] = [cell(case) for cell in _FIG3.values() for case in _CASES]


def _piggyback_table(session: Session) -> Table:
    """Return what Fig. 3 comes to by what T_pb is taken for."""
    lines = []
    for about, cell in _FIG3.items():
        cells = [cell(case) for case in _CASES]
        if not session.complete(cells):
            lines.append([about, *3 * ["not simulated"]])
            continue
        found = means(session, cells, goodput_mbps)
        off = [goodput_of(case) / mbps - 1 for case, mbps in zip(_CASES, found, strict=True)]
        contentions_ms = [case.contention_ms for case in _CASES]
        met_ms = crossing(contentions_ms, found, model2_mbps(DEFAULTS))
        met = "none" if isnan(met_ms) else f"{met_ms:.1f}"
        lost, most = 1 - found[-1] / found[0], max(off, key=abs)
        lines.append([about, f"{lost:.1%}", met, f"{most:+.1%}"])
    columns = [("", "changed"), ("", "loss from T_ct 10 to 60 ms")]
    columns += [("", "meets TCP model2, ms"), ("", "analysis above it, at most")]
    notes = ["The simulation of Fig. 3. Printed: about 32 %, 30 ms, slightly above."]
    return Table("Fig. 3: what a piggyback request takes", columns, lines, notes)


def _more_tables(session: Session) -> list[Table]:
    title = "four stations under any scheduler; over the radio"
    scheduled = variant_table(session, title, _OVER_RTTS, SCHEDULED_RTTS_MS)
    return [scheduled, _piggyback_table(session)]


ITEM: Final = variant_item(
    "sensitivity",
    {"": AS_CHOSEN, **SENSITIVITY},
    Path(__file__).parent,
    [*cells_of(_OVER_RTTS, SCHEDULED_RTTS_MS), *_FIG3_CELLS],
    _more_tables,
)
"""The item's cells, and what makes its result."""
