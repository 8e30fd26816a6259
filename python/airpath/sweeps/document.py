"""Converts a sweep to one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airpath.sweeps.advisories import group_by_kind
from airpath.sweeps.readings import PointData, Readings

__all__ = ["document"]


def document(readings: Readings, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sweep as a JSON object without NaN and infinity.

    Parameters
    ----------
    readings : Readings
        The sweep.
    provenance : mapping
        Provenance of the sweep.
    """
    return {
        "provenance": dict(provenance),
        "complete": all(of.complete for of in readings.points),
        "advisories": [
            {**kind.first, "points": [point.number for point in kind.points]}
            for kind in group_by_kind((of.point, of.advisories) for of in readings.points)
        ],
        "points": [_point(readings, place, of) for place, of in enumerate(readings.points)],
        "failures": [
            {"point": of.point.number, "replication": replication, "message": message}
            for of in readings.points
            for replication, message in sorted(of.failures.items())
        ],
    }


def _point(readings: Readings, place: int, of: PointData) -> dict[str, Any]:
    plan = readings.plan
    found: dict[str, Any] = {
        "point": of.point.number,
        "axes": dict(of.point.labels),
        "replications": len(of.values),
        "complete": of.complete,
        **{
            engine: {
                metric: readings.interval(place, metric, engine).to_dict()
                for metric in plan.metrics
            }
            for engine in plan.engines
        },
        "advisories": [dict(advisory) for advisory in of.advisories],
    }
    # If the model gave no solution, store the reason.
    return found | ({"solve": None, "reason": of.solved} if isinstance(of.solved, str) else {})
