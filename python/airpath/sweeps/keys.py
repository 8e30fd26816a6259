"""Defines and checks the keys of a sweep file."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, PlainValidator

from airpath.arguments import LARGEST_REPS
from airpath.engine.vocabulary import SERIES_UNITS
from airpath.errors import show
from airpath.results.quantities import resolution
from airpath.scenario.base import Model, fault, faults_at
from airpath.scenario.faults import Path, as_missing, nearest
from airpath.scenario.typed import ABSENT, Maybe
from airpath.scenario.values import Text, Truth
from airpath.sweeps.axes import key_of, plain
from airpath.sweeps.plan import ENGINES, Rule

__all__ = ["DEFAULT_METRICS", "REPS", "Labels", "Random", "SweepKeys"]

DEFAULT_METRICS = ("goodput_bps", "p95_delay_s")

LARGEST_SEED = 2**64 - 1
_METHODS = ("random", "latin-hypercube", "sobol")
_DRAWS = ("uniform", "log-uniform", "choice")


def _whole(low: int, high: int, example: str) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        most = "2^64 - 1" if high == LARGEST_SEED else str(high)
        accepted = f"Use an integer from {low} to {most}"
        try:
            number = operator.index(value)  # numpy's integers too
        except TypeError:
            number = None
        if number is None or isinstance(value, bool):
            raise fault("not an integer", accepted, example)
        if not low <= number <= high:
            raise fault(f"below {low}" if number < low else f"above {most}", accepted, example)
        return number

    return check


def _above_zero(value: Any) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value < 1e300:
        raise fault("not a number above 0", "Use one", "0.02")
    return float(value)


def _confidence(value: Any) -> float:
    if not isinstance(value, float) or not 0 < value < 1:
        raise fault("not between 0 and 1", "Use a fraction", "0.99")
    return value


def _one_of(words: Sequence[str], what: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in words or not isinstance(value, str):
            raise fault(what, nearest(value if isinstance(value, str) else "", words))
        return value

    return check


def _names(words: Sequence[str], what: str, example: str) -> Callable[[Any], tuple[str, ...]]:
    check = _one_of(words, what)

    def several(value: Any) -> tuple[str, ...]:
        if isinstance(value, str) or not isinstance(value, (list, tuple)):
            raise fault("not a list", "Use a list of words", example)
        found = tuple(_at((place,), each, check) for place, each in enumerate(value))
        return tuple(dict.fromkeys(found))

    return several


def _engines(value: Any) -> tuple[str, ...]:
    found = _names(ENGINES, "not an engine", '["simulate", "solve"]')(value)
    if {"simulate", "emulate"} <= set(found):
        what = "the replications of a sweep have one engine"
        raise fault(what, "Use a sweep for each", '["emulate"]')
    return found


def _at(path: Path, value: Any, check: Callable[[Any], Any]) -> Any:
    from pydantic_core import PydanticCustomError

    try:
        return check(value)
    except PydanticCustomError as error:
        raise faults_at((path, value, error)) from None


# --- replications ------------------------------------------------------------------------------

REPS = _whole(1, LARGEST_REPS, "4")


class Until(Model):
    """Stopping condition of a point: an upper limit of the half-width of a confidence interval.

    Parameters
    ----------
    metric : str
        Metric whose confidence interval is tested.
    relative : float, optional
        Upper limit of the half-width divided by the mean, above 0. At least one of `relative` and
        `absolute` is required.
    absolute : float, optional
        Upper limit of the half-width, in the unit of the metric, above 0.
    """

    metric: Text = Field(examples=['"goodput_bps"'])
    relative: Maybe[Annotated[float, PlainValidator(_above_zero)]] = ABSENT
    absolute: Maybe[Annotated[float, PlainValidator(_above_zero)]] = ABSENT


class Reps(Model):
    """Limits of the number of replications of a point, and the condition to stop between them.

    Parameters
    ----------
    min : int
        Least number of replications, at least 2. Default 4.
    max : int
        Largest number of replications.
    until : Until
        Stopping condition.
    """

    min: Annotated[int, PlainValidator(_whole(2, LARGEST_REPS, "4"))] = 4
    max: Annotated[int, PlainValidator(REPS)] = Field(examples=["64"])
    until: Until = Field(examples=['{metric = "goodput_bps", relative = 0.02}'])


def _rule(value: Any) -> Rule:
    if isinstance(value, Rule):
        return value
    if not isinstance(value, Mapping):
        number = REPS(value)
        return Rule(number, number)
    found = Reps.model_validate(value)
    if found.max < found.min:
        error = fault(f"below min = {found.min}", "Use a number from min on")
        raise faults_at((("max",), found.max, error))
    until = found.until
    if until.relative is None and until.absolute is None:
        error = as_missing(fault("says no width", "Add relative or absolute", "relative = 0.02"))
        raise faults_at((("until",), value, error))
    least = resolution(until.metric)
    if until.absolute is None and until.relative is not None and until.relative <= least:
        what = f"never met, for {until.metric} is known to {least:.4f} of its mean"
        error = fault(what, "Use a larger number", "0.02")
        raise faults_at((("until", "relative"), until.relative, error))
    return Rule(found.min, found.max, until.metric, until.relative, until.absolute)


# --- what is varied ----------------------------------------------------------------------------


def _plain(value: Any, path: Path) -> Any:
    try:
        plain(value)
    except TypeError:
        accepted = "Use a number, a text, true or false, a list or a table"
        raise faults_at(
            (path, value, fault("not a value that a scenario can have", accepted))
        ) from None
    return value


def _table(value: Any, example: str) -> Mapping[str, Any]:
    named = isinstance(value, Mapping) and all(isinstance(key, str) and key for key in value)
    if not named:
        raise fault("not a table of axes", "Use axes with their values", example)
    found: Mapping[str, Any] = value
    return found


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield axes and values; without quotes, TOML parses ``flows.0.cc`` as nested tables."""
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _axes(value: Any) -> dict[str, list[Any]]:
    """Return lists of values by axis."""
    found = {}
    for axis, values in _flat(_table(value, '"flows.0.cc" = ["newreno", "cubic"]')):
        if hasattr(values, "tolist"):
            values = values.tolist()
        if isinstance(values, (str, Mapping)) or not isinstance(values, (list, tuple, range)):
            error = fault("not a list of values", "Use a list", f"[{show(values)}]")
            if not isinstance(values, (str, int, float)):
                error = fault("not a list of values", "Use a list", '["reno", "cubic"]')
            raise faults_at(((axis,), values, error))
        if not values:
            error = fault("no values", "Use one at least, or leave the axis out")
            raise faults_at(((axis,), values, error))
        found[axis] = [_plain(each, (axis, place)) for place, each in enumerate(values)]
    return found


def _grid(value: Any) -> dict[str, list[Any]]:
    found = _axes(value)
    for axis, values in found.items():
        _once(values, (axis,), "twice among the values of this axis")
    return found


def _zip(value: Any) -> dict[str, list[Any]]:
    found = _axes(value)
    lengths = {axis: len(values) for axis, values in found.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{axis} has {count}" for axis, count in lengths.items())
        error = fault(f"lists of different lengths: {counts}", "Use lists of the same length")
        raise as_missing(error)
    rows = [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
    _once(rows, (), "twice among the rows")
    return found


def _once(values: Sequence[Any], path: Path, what: str) -> None:
    seen: dict[str, int] = {}
    for place, value in enumerate(values):
        first = seen.setdefault(key_of(plain(value)), place)
        if first != place:
            accepted = f"Name it once; it is number {first} already"
            raise faults_at(((*path, place), value, fault(what, accepted)))


def _listed(value: Any) -> list[dict[str, Any]]:
    """Return tables of assignments."""
    if isinstance(value, Mapping) or not isinstance(value, (list, tuple)):
        raise fault("not a list of tables", "Use tables", '[{"flows.0.cc" = "cubic"}]')
    found = []
    for place, row in enumerate(value):
        named = isinstance(row, Mapping) and all(isinstance(key, str) and key for key in row)
        if not named or not row:
            what = "no table of axes and values" if not named else "says nothing"
            error = fault(what, "Use one value for each axis", '{"flows.0.cc" = "cubic"}')
            raise faults_at(((place,), row, error))
        found.append({key: _plain(item, (place, key)) for key, item in row.items()})
    return found


def _points(value: Any) -> list[dict[str, Any]]:
    found = _listed(value)
    if not found:
        raise fault("no points", "Use one at least, or leave this key out")
    _once(found, (), "twice among the points")
    return found


def _draws(value: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    example = '"bottleneck.link.rate" = {uniform = ["1 Mbit/s", "9 Mbit/s"]}'
    for axis, draw in _table(value, example).items():
        path = (axis,)
        if not isinstance(draw, Mapping) or len(draw) != 1 or next(iter(draw)) not in _DRAWS:
            accepted = f"Use a table with one of {', '.join(_DRAWS)}"
            raise faults_at((path, draw, fault("not a draw", accepted, "{uniform = [0.0, 0.5]}")))
        ((kind, values),) = draw.items()
        if not isinstance(values, (list, tuple)) or not values:
            raise faults_at(((axis, kind), values, fault("not a list of values", "Use one")))
        values = [_plain(each, (axis, kind, place)) for place, each in enumerate(values)]
        found[axis] = {kind: _bounds(values, (axis, kind)) if kind != "choice" else values}
    if not found:
        raise fault("no axes", "Use one at least", example)
    return found


def _bounds(values: list[Any], path: Path) -> list[Any]:
    from airpath.sweeps.draw import wrong_bounds

    wrong = wrong_bounds(values, path[-1] == "log-uniform")
    if wrong is not None:
        raise faults_at((path, values, fault(*wrong)))
    return values


class Random(Model):
    """Random points.

    Parameters
    ----------
    method : str
        ``random``, ``latin-hypercube`` or ``sobol``. Default ``latin-hypercube``.
    samples : int
        Number of samples, at least 1.
    seed : int
        Seed of the samples, from 0 to 2^64 - 1. Default: the `seed` of the sweep.
    axes : table
        For each axis ``{uniform = [a, b]}``, ``{log-uniform = [a, b]}`` or ``{choice = [...]}``.
    """

    method: Annotated[str, PlainValidator(_one_of(_METHODS, "not a method"))] = "latin-hypercube"
    samples: Annotated[int, PlainValidator(_whole(1, 10**18, "64"))] = Field(examples=["64"])
    seed: Maybe[Annotated[int, PlainValidator(_whole(0, LARGEST_SEED, "1"))]] = ABSENT
    axes: Annotated[dict[str, dict[str, Any]], PlainValidator(_draws)] = Field(
        examples=['{"bottleneck.link.rate" = {uniform = ["1 Mbit/s", "9 Mbit/s"]}}']
    )


def _value_labels(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for axis, labels in _table(value, '"flows.0.cc" = ["Reno", "CUBIC"]').items():
        texts = labels.values() if isinstance(labels, Mapping) else labels
        listed = isinstance(labels, (list, tuple, Mapping))
        if not listed or not all(isinstance(text, str) and text for text in texts):
            accepted = "Use a list with a text for each value, or a table of text to label"
            raise faults_at(((axis,), labels, fault("no labels", accepted)))
        found[axis] = labels if isinstance(labels, Mapping) else list(labels)
    return found


def _names_in(example: str) -> Callable[[Any], dict[str, str]]:
    def check(value: Any) -> dict[str, str]:
        found = dict(_flat(_table(value, example)))
        for key, text in found.items():
            if not isinstance(text, str) or not text:
                raise faults_at(((key,), text, fault("not a name", "Use a text", example)))
        return found

    return check


class Labels(Model):
    """Names of axes, metrics and values in tables and figures.

    Parameters
    ----------
    axes : table
        Maps an axis to its name in figures. Default: derived from the key.
    metrics : table
        Maps a metric to its name in figures, without the unit. (The unit is added.) Default:
        derived from the metric.
    values : table
        Maps an axis to the names of its values, in figures and tables: a list with one name for
        each value, or a table from the default label of a value to its name. Default: the value as
        text; for a component, its kind.
    """

    axes: Annotated[
        dict[str, str], PlainValidator(_names_in('"flows.0.cc" = "congestion control"'))
    ] = Field(default={})
    metrics: Annotated[dict[str, str], PlainValidator(_names_in('goodput_bps = "rate"'))] = Field(
        default={}
    )
    values: Annotated[dict[str, Any], PlainValidator(_value_labels)] = Field(default={})


def _metrics(value: Any) -> list[Any]:
    """Return names, functions, or pairs of a name and its function."""
    if isinstance(value, Mapping):
        value = list(value.items())
        for name, function in value:
            if not callable(function) or not isinstance(name, str) or not name:
                error = fault("not a function", "Use a function of a Result")
                raise faults_at(((str(name),), function, error))
    if isinstance(value, str) or not isinstance(value, (list, tuple)) or not value:
        raise fault("not a list of names", "Use a list", '["goodput_bps"]')
    found: dict[str, Any] = {}
    for place, each in enumerate(value):
        name, function = each if isinstance(each, tuple) and len(each) == 2 else (each, None)
        if callable(each):
            name, function = getattr(each, "__name__", type(each).__name__), each
        if not isinstance(name, str) or not name:
            raise faults_at(((place,), each, fault("not a name", "Use one", '"goodput_bps"')))
        if name in found:
            raise faults_at(((place,), each, fault("twice in the list", "Name it once")))
        found[name] = function
    return list(found.items())


_SERIES = tuple(name for name in SERIES_UNITS if name != "capacity")


class SweepKeys(Model):
    """Keys of a sweep: axes, number of replications, metrics and engines.

    Parameters
    ----------
    scenario : path or table
        The base scenario: the path of a file, relative to the sweep file, or a table.
    name : str
        Title of tables, figures and the report. Default: the name of the sweep file.
    reps : int or table
        Number of replications of each point, or a stopping rule: ``{min, max, until = {metric,
        relative or absolute}}``. Default 4.
    seed : int
        Master seed, from 0 to 2^64 - 1. Default 1.
    confidence : float
        Confidence level of all intervals, above 0 and below 1. Default 0.99.
    common_random_numbers : bool
        Whether all points share the seed. Default true.
    metrics : list of str
        Metrics of each replication. Default ``["goodput_bps", "p95_delay_s"]``.
    engines : list of str
        Engines: ``simulate`` or ``emulate``, optionally with ``solve``, or only ``solve``. Default
        ``["simulate"]``.
    series : list of str
        Time series that are stored. Default: none.
    grid : table
        A list of values for each axis; all combinations are run. Default: none.
    zip : table
        A list of values for each axis, all of the same length; the n-th values form a point.
        Default: none.
    points : list of tables
        One table per point, with a value for each axis. Default: none.
    random : Random
        Random points. Default: none.
    exclude : list of tables
        Combinations of axis values that are not run. Default: none.
    labels : Labels
        Names of axes, metrics and values. Default: none.
    """

    scenario: Any = Field(examples=['"lte.toml"'])
    name: Maybe[Text] = ABSENT
    reps: Annotated[Any, PlainValidator(_rule)] = 4
    seed: Annotated[int, PlainValidator(_whole(0, LARGEST_SEED, "1"))] = 1
    confidence: Annotated[float, PlainValidator(_confidence)] = 0.99
    common_random_numbers: Truth = True
    metrics: Annotated[Any, PlainValidator(_metrics)] = DEFAULT_METRICS
    engines: Annotated[tuple[str, ...], PlainValidator(_engines)] = ("simulate",)
    series: Annotated[
        tuple[str, ...], PlainValidator(_names(_SERIES, "not a series", '["queue"]'))
    ] = ()
    grid: Annotated[dict[str, list[Any]], PlainValidator(_grid)] = Field(default={})
    zip: Annotated[dict[str, list[Any]], PlainValidator(_zip)] = Field(default={})
    points: Maybe[Annotated[list[dict[str, Any]], PlainValidator(_points)]] = ABSENT
    random: Maybe[Random] = ABSENT
    exclude: Annotated[list[dict[str, Any]], PlainValidator(_listed)] = Field(default=[])
    labels: Labels = Field(default_factory=Labels)
