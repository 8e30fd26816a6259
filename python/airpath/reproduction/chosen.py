"""Selects the points of declared items, from the entries `points` and `place` in ``paper.toml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from airpath.errors import BadValueError
from airpath.reproduction.base import Effort
from airpath.reproduction.entries import Kind, refuse_value, refuse_wrong
from airpath.reproduction.files import refuse_unknown
from airpath.reproduction.formulas import Point
from airpath.reproduction.spread import values_of
from airpath.reproduction.sweeps import Sweeps
from airpath.reproduction.values import is_at

__all__ = [
    "POINTS",
    "chosen_points",
    "listed",
    "points_at",
    "refuse_axes",
    "refuse_missing",
    "refuse_points",
]

POINTS: Final = Kind(
    "a sweep, or a list of sweeps and tables with sweep",
    lambda given: all(
        isinstance(each, str) or (isinstance(each, Mapping) and isinstance(each.get("sweep"), str))
        for each in listed(given)
    ),
    '["fig5", {sweep = "fig6", protocol = "vcp"}]',
)


def listed(given: Any) -> list[Any]:
    """Return the entries of a list; a single value becomes a list."""
    return list(given) if isinstance(given, list | tuple) else [given]


def chosen_points(given: Any, sweeps: Sweeps, effort: Effort | None) -> list[Point]:
    """Return the points that an entry `points` selects; `effort` can reduce the axis values."""
    return [point for each in listed(given) for point in _chosen(each, sweeps, effort)]


def _chosen(given: Any, sweeps: Sweeps, effort: Effort | None) -> list[Point]:
    place: dict[str, Any] = {"sweep": given} if isinstance(given, str) else dict(given)
    return sweeps.points(place.pop("sweep"), effort=effort, **place)


def points_at(points: Sequence[Point], place: Mapping[str, Any]) -> list[Point]:
    """Return the points whose axes have the values in `place`; a list matches any of its values."""
    return [point for point in points if is_at(values_of(point), place)]


def refuse_points(place: str, given: Any, sweeps: Sweeps) -> list[Point]:
    """Return the points of an entry `points` in all modes; reject an entry that selects none.

    Parameters
    ----------
    place : str
        File and table, for messages.
    given : list, str or mapping
        Value of the entry `points`.
    sweeps : Sweeps
        Sweeps of the paper.
    """
    refuse_wrong(place, {"points": given}, {"points": POINTS})
    if not listed(given):
        refuse_value(place, "points", given, "there are no points", "Use a sweep")
    found: list[Point] = []
    for each in listed(given):
        try:
            chosen = _chosen(each, sweeps, None)
        except BadValueError as error:
            raise BadValueError(f"{place}.points: {error}") from None
        refuse_missing(f"{place}.points", each if isinstance(each, Mapping) else {}, chosen)
        if not chosen:
            refuse_value(place, "points", each, "there are no such points", "Use other values")
        found += chosen
    return found


def refuse_missing(place: str, values: Mapping[str, Any], points: Sequence[Point]) -> None:
    """Reject lists with a value that no point has."""
    for axis, wanted in values.items():
        if isinstance(wanted, list | tuple):
            known = [values_of(point).get(axis) for point in points]
            for value in wanted:
                if value not in known:
                    refuse_value(place, axis, value, "no point has it", "Use values of points")


def refuse_axes(
    place: str, axes: Sequence[str], points: Sequence[Point], more: Sequence[str] = ()
) -> None:
    """Reject axes that at least one point does not have; ``a|b`` requires `a` or `b`.

    Parameters
    ----------
    place : str
        File, table and key, for messages.
    axes : sequence of str
        The axes.
    points : sequence of Point
        The points.
    more : sequence of str
        Other accepted names. Default: none.
    """
    known = [set(values_of(point)) for point in points]
    common = set.intersection(*known) if known else set()
    wrong = [
        axis
        for axis in axes
        if axis not in more and not all(names.intersection(axis.split("|")) for names in known)
    ]
    refuse_unknown(place, wrong, {*common, *more}, "no axis of its points")
