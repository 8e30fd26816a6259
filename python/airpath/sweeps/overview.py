"""Overview of a sweep in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from airpath.present import html
from airpath.present.tables import Table
from airpath.sweeps.advisories import advisory_lines
from airpath.sweeps.point_table import point_table
from airpath.sweeps.readings import Readings

if TYPE_CHECKING:
    from airpath.sweeps.result import Sweep

__all__ = ["effort", "overview"]

_MOST_ROWS, _MOST_FAILURES = 20, 5


def effort(readings: Readings, places: Sequence[int] | None = None) -> str:
    """Return one line about the size of a sweep: points, replications, confidence, seed.

    Parameters
    ----------
    readings : Readings
        The sweep.
    places : sequence of int, optional
        Places of the points that count. Default: all.
    """
    plan = readings.plan
    points = [readings.points[n] for n in (range(len(plan.points)) if places is None else places)]
    parts = [f"{len(points)} {'point' if len(points) == 1 else 'points'}"]
    if plan.replicated:
        counts = [len(of.values) for of in points]
        low, high = min(counts, default=0), max(counts, default=0)
        each = f"{low}" if low == high else f"{low} to {high}"
        parts[0] += f", {each} {'replication' if high == 1 else 'replications'} each"
        if high > 1:
            parts.append(f"{100 * plan.confidence:g} % intervals")
        shared = "" if plan.common_random_numbers else ", each point its own random numbers"
        parts.append(f"seed {plan.seed}{shared}")
    left = sum(not of.complete for of in points)
    return " · ".join([*parts, *([f"{left} unfinished"] if left else [])])


def overview(sweep: Sweep) -> Iterator[str]:
    """Yield the parts of the overview: size of the sweep, first points, failures."""
    readings = sweep.readings
    plan = readings.plan
    yield html.heading(plan.name or "Sweep")
    yield html.paragraph(effort(readings))
    table = point_table(readings, plan.metrics, most=_MOST_ROWS)
    yield html.table(replace(table, title=""))
    if len(readings.points) > _MOST_ROWS:
        yield html.paragraph(f"The first {_MOST_ROWS} of {len(readings.points)} points.")
    yield from map(html.paragraph, advisory_lines(readings))
    failed = sweep.failures()
    if len(failed):
        yield html.paragraph(f"Failed: {len(failed)}")
        first = failed.head(_MOST_FAILURES)
        each = [[str(row.point), str(row.engine), str(row.message)] for row in first.itertuples()]
        yield html.table(Table("", ["point", "engine", "message"], each))
