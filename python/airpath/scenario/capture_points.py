"""Points of a path where packets can be captured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BeforeValidator, PlainValidator

from airpath import _airpath
from airpath.scenario.checking import NO_FILES
from airpath.scenario.faults import Path, fault, nearest

if TYPE_CHECKING:
    from airpath.scenario.scenario import Scenario

__all__ = ["CAPTURE_POINTS", "capture_faults", "capture_list", "capture_point", "capture_points"]

CAPTURE_POINTS = ("sender", "ingress", "bottleneck", "receiver", "acks")
"""Points of every path where packets can be captured."""

_UNKNOWN = "not one of the accepted words"


def capture_points(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the points of a path: `CAPTURE_POINTS`, then two for each queue.

    Parameters
    ----------
    document : mapping
        A resolved scenario.

    Raises
    ------
    ValueError
        If the engine rejects the scenario.
    """
    # The engine does not know all names of series.
    text = json.dumps({**document, "record": {}}, allow_nan=False)
    return tuple(name for name, _ in _airpath.capture_points(text))


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise fault(_UNKNOWN, nearest("", CAPTURE_POINTS))
    return str(value)


_text.words = CAPTURE_POINTS  # type: ignore[attr-defined]  # read by the shell completion


def _as_list(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        raise fault("not a list", "Use a list of points", '["sender"]')
    return value


capture_list = BeforeValidator(_as_list)
"""Validator of a list of points; the order of a set would be arbitrary."""
capture_point = PlainValidator(_text)
"""Validator of the name of a point; `capture_faults` compares it with the hops of the path."""


def capture_faults(scenario: Scenario) -> list[tuple[Path, Any, Any]]:
    """Return a fault for each capture point that the path of a scenario does not have."""
    points = scenario.capture.points
    if set(points) <= set(CAPTURE_POINTS):
        return []
    try:
        known = capture_points(scenario.resolved(NO_FILES))
    except ValueError:  # The engine reports these problems.
        return []
    return [
        (("capture", "points", index), point, fault(_UNKNOWN, nearest(point, known)))
        for index, point in enumerate(points)
        if point not in known
    ]
