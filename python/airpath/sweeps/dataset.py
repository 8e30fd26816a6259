"""Converts a sweep to an xarray dataset with a dimension for each axis."""

from __future__ import annotations

import importlib.util
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath.engine.vocabulary import UNITS
from airpath.errors import BadValueError
from airpath.sweeps.differences import text_of
from airpath.sweeps.readings import Readings

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["dataset"]

_FULL = 4
"""Largest ratio of grid cells to points; sparser sweeps have a dimension `point` instead."""


def dataset(readings: Readings) -> xr.Dataset:
    """Return the means and intervals as a dataset; see `Sweep.to_xarray`."""
    if importlib.util.find_spec("xarray") is None:
        raise BadValueError(
            "to_xarray: needs xarray. Install it with: pip install 'airpath[xarray]'. Without it, "
            "wide() has the same numbers."
        )
    import xarray as xr

    plan = readings.plan
    keys: dict[str, dict[str, Any]] = {axis: {} for axis in plan.axes}
    for point in plan.points:
        for axis in plan.axes:
            keys[axis].setdefault(text_of(point, axis), _coordinate(point, axis))
    cells = {
        tuple(list(keys[axis]).index(text_of(point, axis)) for axis in plan.axes): place
        for place, point in enumerate(plan.points)
    }
    shape = tuple(len(keys[axis]) for axis in plan.axes)
    is_grid = len(cells) == len(plan.points) and math.prod(shape) <= _FULL * len(cells)
    coords: dict[str, Any] = {"engine": list(plan.engines)}
    if is_grid:
        dims = [*plan.axes, "engine"]
        coords |= {axis: list(labels.values()) for axis, labels in keys.items()}
    else:
        dims, shape = ["point", "engine"], (len(plan.points),)
        cells = {(place,): place for place in range(len(plan.points))}
        coords["point"] = [point.number for point in plan.points]
        for axis in plan.axes:
            coords[axis] = ("point", [_coordinate(point, axis) for point in plan.points])
    variables: dict[str, Any] = {}
    for metric in plan.metrics:
        filled = {
            end: np.full((*shape, len(plan.engines)), np.nan) for end in ("", "_low", "_high")
        }
        filled["_reps"] = np.zeros((*shape, len(plan.engines)), dtype=np.int64)
        for cell, place in cells.items():
            for number, engine in enumerate(plan.engines):
                found = readings.interval(place, metric, engine)
                values = {"": found.mean, "_low": found.low, "_high": found.high}
                for end, value in (*values.items(), ("_reps", found.reps)):
                    filled[end][(*cell, number)] = value
        unit = UNITS.get(metric.rpartition(".")[2])
        units = {} if unit is None else {"units": unit}
        for end, array in filled.items():
            about = {} if end == "_reps" else units
            variables[f"{metric}{end}"] = (dims, array, about)
    attrs = {"name": plan.name, "confidence": plan.confidence, "seed": plan.seed}
    return xr.Dataset(variables, coords, attrs)


def _coordinate(point: Any, axis: str) -> Any:
    """Return the value of an axis if it is a number, otherwise its label."""
    value = point.values.get(axis)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number else point.labels.get(axis, "")
