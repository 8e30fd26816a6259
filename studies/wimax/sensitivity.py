"""The item ``sensitivity``: one choice of the paper's README changed at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from airpath.reproduction.base import Cell, Table
from airpath.reproduction.session import Session
from airpath_papers.wimax.claims.model import contention_terms
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
_FIG3_CELLS: Final[list[Cell]] = [
    cell(case) for cell in _FIG3.values() for case in SWEEPS["contention_ms"]
]


def _piggyback_table(session: Session) -> Table:
    """Return what Fig. 3 comes to by what T_pb is taken for."""
    lines = []
    for about, cell in _FIG3.items():
        cells = {case: cell(case) for case in SWEEPS["contention_ms"]}
        if not session.complete(list(cells.values())):
            lines.append([about, *3 * ["not simulated"]])
            continue
        loss, crossing_ms, off = contention_terms(session, cells)
        crossing = "none" if crossing_ms is None else f"{crossing_ms:.1f}"
        lines.append([about, f"{loss:.1%}", crossing, f"{off:+.1%}"])
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
