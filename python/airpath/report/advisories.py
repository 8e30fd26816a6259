"""Section of a sweep's report that lists the advisories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from airpath.present.tables import Cell, Table
from airpath.report.blocks import Block, Line, Lines, Section, cut, some_points
from airpath.sweeps.advisories import NOT_RECORDED, group_by_kind

if TYPE_CHECKING:
    from airpath.sweeps.readings import Readings

__all__ = ["advisories", "advisory_details"]

_MOST_LISTED = 100
"""Maximum number of points that a row lists."""


def advisory_details(readings: Readings) -> list[str]:
    """Return a line for a sweep's verdict with each kind of advisory and its points, if any."""
    kinds = group_by_kind((of.point, of.advisories) for of in readings.points)
    parts = [f"{kind.code} at {some_points([of.number for of in kind.points])}" for kind in kinds]
    return [f"Advisories: {'; '.join(parts)}."] if parts else []


def advisories(readings: Readings) -> Iterator[Section]:
    """Yield the section of the advisories: a row for each text, grouped by kind."""
    from airpath.engine.advisory import Advisory

    points: dict[Advisory, list[int]] = {}
    for of in readings.points:
        for each in of.advisories:
            points.setdefault(Advisory(**each), []).append(of.point.number)
    kinds = list(dict.fromkeys(advisory.code for advisory in points))
    rows = [
        [
            Cell(kind),
            Cell(str(len(of)), len(of)),
            Cell(some_points(of, _MOST_LISTED)),
            Cell(str(advisory)),
        ]
        for kind in kinds
        for advisory, of in points.items()
        if advisory.code == kind
    ]
    unknown = [
        of.point.number for of in readings.points if of.complete and not of.has_all_advisories
    ]
    blocks: list[Block] = []
    if rows:
        body, notes = cut(rows, "ledger.sqlite")
        columns = [("", name) for name in ("kind", "points", "which", "text")]
        blocks.append(Table("", columns, body, notes))
    if unknown:
        why = "an earlier version ran them. The same sweep again records them"
        blocks.append(
            Lines([Line(f"{NOT_RECORDED.capitalize()} at {some_points(unknown)}: {why}.")])
        )
    if blocks:
        yield Section("advisories", "Advisories", blocks)
