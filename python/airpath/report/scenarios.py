"""Section of a sweep's report: the values that each point changes in the base scenario."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from airpath.errors import MISSING, show
from airpath.present.tables import Cell, Table
from airpath.report.blocks import Section, cut

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from airpath.sweeps.plan import Plan

__all__ = ["scenarios"]

_DIGEST: Final = 12
"""Number of shown characters of a digest."""


def scenarios(plan: Plan) -> Iterator[Section]:
    """Yield the section with a row for each point: its values of the axes, next to the base's.

    Parameters
    ----------
    plan : Plan
        The sweep. If its base is a function, there is no row for the base.
    """
    if not plan.axes:
        return
    base = _document(plan.base)
    of_base = {axis: _found(base, axis) for axis in plan.axes}
    columns = [("", "point"), *(("", axis) for axis in plan.axes), ("", "digest")]
    rows: list[list[Cell]] = []
    if plan.base:
        given = (
            Cell("not set" if value is MISSING else show(value), tone="quiet")
            for value in of_base.values()
        )
        rows.append([Cell("base"), *given, Cell("")])
    rows += [
        [
            Cell(str(point.number), point.number),
            *(_value(point.values, axis, of_base[axis]) for axis in plan.axes),
            Cell(point.digest[:_DIGEST], tone="quiet", hint=point.digest),
        ]
        for point in plan.points
    ]
    body, notes = cut(rows, "ledger.sqlite")
    about = "Grey is as in the base. The digest is of the resolved scenario with all its files."
    title = f"What {len(plan.points)} points change"
    table = Table(title, columns, body, [about, *notes], folded=True)
    yield Section("scenarios", "Scenarios against the base", [table])


def _document(base: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(base)
    except ValueError:
        return {}


def _found(document: Any, key: str) -> Any:
    """Return the value of a document at ``flows.0.cc``; MISSING if it is not set."""
    for step in key.split("."):
        if isinstance(document, Mapping) and step in document:
            document = document[step]
        elif isinstance(document, Sequence) and step.isdecimal() and int(step) < len(document):
            document = document[int(step)]
        else:
            return MISSING
    return document


def _value(values: Mapping[str, Any], axis: str, of_base: Any) -> Cell:
    if axis not in values:
        return Cell("", tone="quiet")
    text = show(values[axis])
    return Cell(text, tone="quiet" if values[axis] == of_base else "")
