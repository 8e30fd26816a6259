"""Tables of a sweep: by point and metric, wide, by replication, failures, advisories."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airpath.engine.vocabulary import UNITS
from airpath.results.remarks import INVALID_CODE
from airpath.sweeps.advisories import NOT_RECORDED
from airpath.sweeps.plan import Plan, Point
from airpath.sweeps.readings import PointData, Readings

if TYPE_CHECKING:
    import pandas as pd

    from airpath.results.distributions import Distribution

__all__ = [
    "about",
    "advisories",
    "axis_columns",
    "codes",
    "failures",
    "points",
    "quantiles",
    "runs",
    "wide",
]

_TIDY = ("point", "engine", "metric", "mean", "low", "high", "reps", "advisories")
_EMULATED = (*_TIDY, "valid")
_QUANTILES = ("point", "level", "pooled", "mean", "low", "high")
_NOTED = ("point", "code", "place", "text")
_FAILED = ("point", "engine", "replication", "message")


def axis_columns(plan: Plan, taken: Collection[str]) -> dict[str, str]:
    """Return the column of each axis: its name, plus `` (axis)`` if the name is taken."""
    return {axis: f"{axis} (axis)" if axis in taken else axis for axis in plan.axes}


def points(readings: Readings) -> pd.DataFrame:
    """Return the tidy table: a row for each point, engine and metric, in the plan's order."""
    plan = readings.plan
    columns = axis_columns(plan, _EMULATED if plan.replicated == "emulate" else _TIDY)
    rows = []
    for place, of in enumerate(readings.points):
        for engine in plan.engines:
            for metric in plan.metrics:
                found = readings.interval(place, metric, engine)
                rows.append(
                    {
                        "point": of.point.number,
                        **_labels(of.point, columns),
                        "engine": engine,
                        "metric": metric,
                        "mean": found.mean,
                        "low": found.low,
                        "high": found.high,
                        "reps": found.reps,
                        "advisories": codes(of) if engine != "solve" else "",
                        "valid": _is_valid(of) if engine == "emulate" else None,
                    }
                )
    first, *rest = _TIDY if plan.replicated != "emulate" else _EMULATED
    return _frame(rows, [first, *columns.values(), *rest], ("mean", "low", "high"))


def _is_valid(of: PointData) -> bool | None:
    """Return whether the emulation of a point is valid; None if replications are missing."""
    if not of.has_all_advisories:
        return None
    return all(each["code"] != INVALID_CODE for each in of.advisories)


def codes(of: PointData) -> str:
    """Return the codes of the advisories on a point, and `NOT_RECORDED` if some are missing."""
    found = list(dict.fromkeys(each["code"] for each in of.advisories))
    return "; ".join(found if of.has_all_advisories else [*found, NOT_RECORDED])


def advisories(readings: Readings) -> pd.DataFrame:
    """Return a row for each advisory on a point."""
    columns = axis_columns(readings.plan, _NOTED)
    rows = [
        {"point": of.point.number, **_labels(of.point, columns), **each}
        for of in readings.points
        for each in of.advisories
    ]
    first, *rest = _NOTED
    return _frame(rows, [first, *columns.values(), *rest])


def wide(readings: Readings) -> pd.DataFrame:
    """Return a row for each point and engine; each metric has columns for mean, low and high."""
    plan = readings.plan
    numbers = [f"{metric}{end}" for metric in plan.metrics for end in ("", "_low", "_high")]
    columns = axis_columns(plan, ["point", "engine", "reps", *numbers])
    rows = []
    for place, of in enumerate(readings.points):
        for engine in plan.engines:
            row: dict[str, Any] = {"point": of.point.number, **_labels(of.point, columns)}
            row |= {"engine": engine, "reps": len(of.values) if engine != "solve" else 0}
            for metric in plan.metrics:
                found = readings.interval(place, metric, engine)
                row |= {metric: found.mean, f"{metric}_low": found.low}
                row[f"{metric}_high"] = found.high
            rows.append(row)
    return _frame(rows, ["point", *columns.values(), "engine", "reps", *numbers], numbers)


def runs(readings: Readings) -> pd.DataFrame:
    """Return a row for each replication that counts, with a column for each metric."""
    plan = readings.plan
    columns = axis_columns(plan, ["point", "replication", *plan.metrics])
    rows = []
    for place, of in enumerate(readings.points):
        found = [readings.column(place, metric) for metric in plan.metrics]
        for replication, values in enumerate(zip(*found, strict=True)):
            named = dict(zip(plan.metrics, values, strict=True))
            labels = _labels(of.point, columns)
            rows.append({"point": of.point.number, **labels, "replication": replication, **named})
    head = ["point", *columns.values(), "replication"]
    return _frame(rows, [*head, *plan.metrics], plan.metrics)


def quantiles(
    readings: Readings, distributions: Mapping[int, Distribution], levels: Sequence[float]
) -> pd.DataFrame:
    """Return a row with quantiles for each point and level."""
    columns = axis_columns(readings.plan, _QUANTILES)
    rows = [
        {"point": of.point.number, **_labels(of.point, columns), **row}
        for of in readings.points
        for row in distributions[of.point.number].quantiles(levels).to_dict("records")
    ]
    first, *rest = _QUANTILES
    return _frame(rows, [first, *columns.values(), *rest])


def failures(readings: Readings) -> pd.DataFrame:
    """Return a row for each failed replication, and for each model without a solution."""
    plan = readings.plan
    columns = axis_columns(plan, _FAILED)
    rows = []
    for of in readings.points:
        head = {"point": of.point.number, **_labels(of.point, columns)}
        for replication, message in sorted(of.failures.items()):
            where = {"engine": plan.replicated, "replication": replication, "message": message}
            rows.append({**head, **where})
        if isinstance(of.solved, str):
            rows.append({**head, "engine": "solve", "replication": None, "message": of.solved})
    first, *rest = _FAILED
    return _frame(rows, [first, *columns.values(), *rest]).astype({"replication": "Int64"})


def about(readings: Readings, builds: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the provenance of the tables: the plan, and the versions that ran replications.

    Parameters
    ----------
    readings : Readings
        The sweep.
    builds : sequence of tuple of str
        Version and commit of every engine that ran replications.
    """
    plan = readings.plan
    shown: dict[str, Any] = {
        "version": ", ".join(version for version, _ in builds) or "–",
        "commit": ", ".join(commit for _, commit in builds) or "nothing was run",
        "sweep": plan.name,
        "axes": list(plan.axes),
        "points": len(plan.points),
        "unfinished": sum(not of.complete for of in readings.points),
        "reps": _reps(plan),
        "seed": plan.seed,
        "common_random_numbers": plan.common_random_numbers,
        "confidence": plan.confidence,
        "engines": list(plan.engines),
        "metrics": list(plan.metrics),
    }
    if plan.base:
        shown["scenario_toml"] = plan.base
    return shown


def _reps(plan: Plan) -> int | dict[str, Any]:
    rule = plan.rule
    if rule.metric is None:
        same = rule.least == rule.most
        return rule.most if same else {"min": rule.least, "max": rule.most}
    until = {"metric": rule.metric, "relative": rule.relative, "absolute": rule.absolute}
    kept = {key: value for key, value in until.items() if value is not None}
    return {"min": rule.least, "max": rule.most, "until": kept}


def _labels(point: Point, columns: Mapping[str, str]) -> dict[str, str]:
    # A listed point may omit axes.
    return {column: point.labels.get(axis, "") for axis, column in columns.items()}


def _frame(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], numbers: Sequence[str] = ()
) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(list(rows), columns=list(columns))
    table = table.astype(dict.fromkeys(numbers, float))
    last = {name: name.rpartition(".")[2] for name in columns}
    table.attrs["units"] = {name: UNITS[end] for name, end in last.items() if end in UNITS}
    return table
