"""Item ``sensitivity``: one choice of the paper's README changed at a time."""

from __future__ import annotations

from math import isnan
from typing import Final

from airpath.reproduction.base import Table
from airpath.reproduction.claims import means
from airpath.reproduction.items import Found
from airpath.reproduction.session import Session
from airpath.reproduction.vocabulary import crossing
from airpath_papers.wimax.analysis import DEFAULTS, goodput_of, model2_mbps
from airpath_papers.wimax.measures import goodput_mbps

from .scenarios import SWEEPS

__all__ = ["more"]

FIG3: Final = SWEEPS.cells("fig3")
PIGGYBACK: Final = {
    "the frames make up T_pb": FIG3,
    "10 ms of T_pb on top of the frames": SWEEPS.cells("piggyback-on-top"),
}
"""Points of Fig. 3 by definition of the piggyback delay T_pb."""


def _piggyback_table(session: Session) -> Table:
    """Return the results of Fig. 3 for both definitions of T_pb."""
    lines = []
    for about, cells in PIGGYBACK.items():
        if not session.complete(cells):
            lines.append([about, *3 * ["not simulated"]])
            continue
        found = means(session, cells, goodput_mbps)
        off = [goodput_of(p.axes) / mbps - 1 for p, mbps in zip(FIG3, found, strict=True)]
        contentions_ms = [point.axes["contention_ms"] for point in FIG3]
        met_ms = crossing(contentions_ms, found, model2_mbps(DEFAULTS))
        met = "none" if isnan(met_ms) else f"{met_ms:.1f}"
        lost, most = 1 - found[-1] / found[0], max(off, key=abs)
        lines.append([about, f"{lost:.1%}", met, f"{most:+.1%}"])
    columns = [("", "changed"), ("", "loss from T_ct 10 to 60 ms")]
    columns += [("", "meets TCP model2, ms"), ("", "analysis above it, at most")]
    notes = ["The simulation of Fig. 3. Printed: about 32 %, 30 ms, slightly above."]
    return Table("Fig. 3: what a piggyback request takes", columns, lines, notes)


def more(session: Session, _title: str) -> Found:
    """Return the table that ``paper.toml`` does not declare."""
    return [], [_piggyback_table(session)]
