"""Checks the keys and the points of a sweep, and makes its plan and jobs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from airpath.arguments import check_all, master_seed, path_like
from airpath.errors import (
    MISSING,
    BadValueError,
    OverrideWarning,
    Problem,
    ScenarioError,
    quoted,
    show,
)
from airpath.files import MIB, UnreadableError, read_text
from airpath.present.progress import ProgressCallback
from airpath.scenario import Scenario
from airpath.scenario.base import FromFile, nearest, problems_of
from airpath.scenario.load import parsed
from airpath.sweeps.axes import (
    Dimension,
    combined,
    key_of,
    labels_of,
    matches,
    plain,
    size,
    values_by_axis,
)
from airpath.sweeps.base import Base, Overrides, base_of
from airpath.sweeps.draw import drawn
from airpath.sweeps.job import Job
from airpath.sweeps.keys import SweepKeys
from airpath.sweeps.plan import Plan, Rule
from airpath.sweeps.points import Labels, PointChecks

if TYPE_CHECKING:
    from airpath.emulation.kernel import Kernel
    from airpath.results import Result

__all__ = [
    "MOST_POINTS",
    "Description",
    "assignments",
    "described",
    "read_sweep_file",
    "varied_twice",
]

MOST_POINTS = 1_000_000
"""Largest number of points of a sweep, before exclusions."""

_LARGEST = 16 * MIB


@dataclass(frozen=True)
class Description:
    """A sweep whose keys and points have been checked.

    Parameters
    ----------
    plan : Plan
        Points of the sweep, with metrics and stopping rule.
    jobs : mapping of str to Job
        Jobs by digest.
    contents : dict of str to str
        Contents of the files of the jobs, by SHA-256.
    functions : mapping of str to callable
        Metrics that are functions of the `Result` of one replication.
    scenarios : callable
        Function that returns the scenario of a point, given the number of the point.
    kernels : mapping of str to Kernel
        For emulated points: maps the digest of a job to the settings of the kernel's TCP.
    """

    plan: Plan
    jobs: Mapping[str, Job]
    contents: dict[str, str]
    functions: Mapping[str, Callable[[Result], float]]
    scenarios: Callable[[int], Scenario]
    kernels: Mapping[str, Kernel] = field(default_factory=dict)


def read_sweep_file(
    path: str | os.PathLike[str],
    overrides: Overrides = (),
    *,
    seed: int | None = None,
    notify: ProgressCallback | None = None,
) -> Description:
    """Read a sweep file.

    Parameters
    ----------
    path : path
        A TOML file.
    overrides : mapping of str to value, or iterable of (key, value)
        Values that replace values of the base scenario, as in `airpath.load`.
    seed : int, optional
        Master seed, 0 to 2^64 - 1. Default: the seed of the file.
    notify : callable, optional
        Called during the check of the points, with the same arguments as `progress` of `sweep`.

    Raises
    ------
    BadValueError
        If the file cannot be read, is not TOML, or has points that cannot run. The message lists
        all problems.
    """
    check_all(path_like("path", path), None if seed is None else master_seed(seed))
    place = os.fspath(path)
    try:
        text = read_text(path, _LARGEST)
    except UnreadableError as error:
        raise ScenarioError([Problem(place, (), MISSING, error.why)]) from None
    document = parsed(text, place)
    if "bottleneck" in document and "scenario" not in document:
        accepted = "Name it in one, or run it with airpath run"
        raise ScenarioError([Problem(place, (), MISSING, "a scenario, not a sweep file", accepted)])
    if seed is not None:
        document["seed"] = seed
    return _described(document, place, Path(path).parent, overrides, notify)


def described(
    base: Scenario | str | os.PathLike[str] | Mapping[str, Any] | Callable[..., Scenario],
    *,
    place: str = "airpath.sweep",
    overrides: Overrides = (),
    notify: ProgressCallback | None = None,
    **keys: Any,
) -> Description:
    """Check the arguments of `airpath.sweep`.

    Parameters
    ----------
    base : Scenario, path, mapping or callable
        The base, or a function that returns a scenario. An axis is a parameter of this function, or
        a key of the scenario.
    place : str
        Prefix of each line about a key. Default ``airpath.sweep``.
    overrides : mapping of str to value, or iterable of (key, value)
        Values that replace values of the base. Default: none.
    notify : callable, optional
        Called during the check of the points, with the same arguments as `progress` of `sweep`.
    **keys
        Keys of a sweep file: `grid`, `zip`, `points`, `random`, `exclude`, `labels`, `metrics`,
        `reps`, `seed`, `confidence`, `engines`, `series`, `common_random_numbers`, `name`. A key
        with the value None is not set.

    Raises
    ------
    BadValueError
        If a key or a point is not accepted. The message lists all problems.
    """
    given = {key: value for key, value in keys.items() if value is not None}
    return _described({"scenario": base, **given}, place, None, overrides, notify)


def _described(
    document: Mapping[str, Any],
    place: str,
    directory: Path | None,
    overrides: Overrides,
    notify: ProgressCallback | None,
) -> Description:
    from_file = directory is not None
    problems: list[str] = []
    keys, base = None, None
    try:
        keys = SweepKeys.model_validate(document, context=FromFile if from_file else None)
    except ValidationError as error:
        problems += map(str, problems_of(error, place))
    if "scenario" in document:
        try:
            base = base_of(document["scenario"], place, directory, overrides)
        except BadValueError as error:
            problems.append(str(error))
    if keys is not None:
        problems += [*_without_axes(document, place), *varied_twice(keys, place)]
    if problems or keys is None or base is None:
        raise BadValueError("\n".join(problems))
    assigned, labels = assignments(keys, place)
    base.refuse_unknown(labels, place)
    return _resolved(keys, base, assigned, labels, place, directory, notify)


# --- points ------------------------------------------------------------------------------------


def assignments(keys: SweepKeys, place: str) -> tuple[list[dict[str, Any]], Labels]:
    """Return the axis values of each point, and the labels of all values.

    Parameters
    ----------
    keys : SweepKeys
        Keys of the sweep.
    place : str
        Prefix of each line of an error.

    Raises
    ------
    BadValueError
        If there are too many points or no points, or a label or an exclusion matches no value.
    """
    dimensions = _dimensions(keys, place)
    labels = _labels(keys, values_by_axis(dimensions), place)
    return _without_excluded(keys, dimensions, labels, place), labels


def _without_axes(document: Mapping[str, Any], place: str) -> list[str]:
    """Return an error line for each table of axes that is empty."""
    accepted = "Use one at least, or leave this key out"
    tables = (name for name in ("grid", "zip") if name in document and not document[name])
    return [str(Problem(place, (name,), MISSING, "no axes", accepted)) for name in tables]


def varied_twice(keys: SweepKeys, place: str) -> list[str]:
    """Return an error line for each axis that several keys (`grid`, `zip`, …) vary.

    Parameters
    ----------
    keys : SweepKeys
        Keys of the sweep.
    place : str
        Prefix of each line.
    """
    of: dict[str, list[str]] = {}
    listed = {axis for row in keys.points or () for axis in row}
    drawn_axes = keys.random.axes if keys.random is not None else {}
    for source, axes in (
        ("grid", keys.grid),
        ("zip", keys.zip),
        ("points", sorted(listed)),
        ("random", drawn_axes),
    ):
        for axis in axes:
            of.setdefault(axis, []).append(source)
    return [
        f"{place}: {quoted(axis)} is in {' and in '.join(sources)}. Leave it in one of them."
        for axis, sources in of.items()
        if len(sources) > 1
    ]


def _dimensions(keys: SweepKeys, place: str) -> list[Dimension]:
    counts = [len(values) for values in keys.grid.values()]
    counts += [len(values) for values in list(keys.zip.values())[:1]]
    counts += [len(keys.points)] if keys.points is not None else []
    counts += [keys.random.samples] if keys.random is not None else []
    count = size(counts)
    if count > MOST_POINTS:
        accepted = f"Use axes that give {MOST_POINTS} at most"
        raise BadValueError(f"{place}: {show(count)} points. {accepted}.")
    found = [
        Dimension("grid", [{axis: value} for value in values]) for axis, values in keys.grid.items()
    ]
    if keys.zip:
        rows = zip(*keys.zip.values(), strict=True)
        found.append(Dimension("zip", [dict(zip(keys.zip, row, strict=True)) for row in rows]))
    if keys.points is not None:
        found.append(Dimension("points", keys.points))
    if keys.random is not None:
        of = keys.random
        seed = keys.seed if of.seed is None else of.seed
        found.append(Dimension("random", drawn(of.method, of.samples, seed, of.axes)))
    return found


def _labels(keys: SweepKeys, values: Mapping[str, Sequence[Any]], place: str) -> Labels:
    """Return the labels of the values of each axis."""
    found: dict[str, dict[str, str]] = {}
    problems: list[Problem] = []
    for axis, known in values.items():
        texts = labels_of(known)
        given = keys.labels.values.get(axis)
        field = ("labels", "values", axis)
        if isinstance(given, Mapping):
            unknown = [text for text in given if text not in texts]
            accepted = f"Values are {', '.join(texts[:20])}"
            problems += [
                Problem(place, (*field, text), given[text], "no value of this axis", accepted)
                for text in unknown
            ]
            texts = [given.get(text, text) for text in texts]
        elif given is not None and len(given) != len(texts):
            what = f"as many as {len(given)} for {len(texts)} values"
            problems.append(Problem(place, field, given, what, "Use one label for each"))
        elif given is not None:
            texts = list(given)
        if len(set(texts)) < len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            what = f"two values are called {quoted(twice)}"
            problems.append(Problem(place, field, MISSING, what, "Use different labels"))
        found[axis] = {key_of(value): text for value, text in zip(known, texts, strict=False)}
    for table in ("axes", "values"):
        for axis, given in getattr(keys.labels, table).items():
            if axis not in values:
                problems.append(_no_axis(place, ("labels", table, axis), given, values))
    if problems:
        raise ScenarioError(problems)
    return found


def _check_metric_labels(keys: SweepKeys, metrics: Sequence[str], place: str) -> None:
    problems = [
        Problem(place, ("labels", "metrics", name), given, "no metric of this sweep", accepted)
        for name, given in keys.labels.metrics.items()
        if name not in metrics and (accepted := nearest(name, metrics))
    ]
    if problems:
        raise ScenarioError(problems)


def _no_axis(place: str, field: tuple[Any, ...], value: Any, axes: Iterable[str]) -> Problem:
    known = list(axes)
    accepted = nearest(field[-1], known) if known else "The sweep has no axes"
    return Problem(place, field, value, "no axis of this sweep", accepted)


def _without_excluded(
    keys: SweepKeys, dimensions: Sequence[Dimension], labels: Labels, place: str
) -> list[dict[str, Any]]:
    """Return the values of each point that is not excluded."""
    left_out = [{axis: plain(value) for axis, value in row.items()} for row in keys.exclude]
    wanted: list[dict[str, set[str]]] = []
    problems: list[Problem] = []
    of_axes = values_by_axis(dimensions) if left_out else {}
    for number, row in enumerate(left_out):
        wanted.append({})
        for axis, value in row.items():
            field = ("exclude", number, axis)
            if axis not in of_axes:
                problems.append(_no_axis(place, field, value, of_axes))
                continue
            hit = {
                key_of(each)
                for each in of_axes[axis]
                if matches(each, labels[axis][key_of(each)], value)
            }
            wanted[number][axis] = hit
            if not hit:
                texts = list(labels[axis].values())
                accepted = f"Values are {', '.join(texts[:20])}"
                problems.append(Problem(place, field, value, "no value of this axis", accepted))
    if problems:
        raise ScenarioError(problems)
    points = [
        values
        for values in combined(dimensions)
        if not any(
            all(axis in values and key_of(plain(values[axis])) in hit for axis, hit in row.items())
            for row in wanted
        )
    ]
    if not points:
        what = "leaves out every point"
        raise ScenarioError([Problem(place, ("exclude",), MISSING, what, "Leave one in")])
    return points


# --- jobs --------------------------------------------------------------------------------------


def _resolved(
    keys: SweepKeys,
    base: Base,
    assigned: Sequence[Mapping[str, Any]],
    labels: Labels,
    place: str,
    directory: Path | None,
    notify: ProgressCallback | None,
) -> Description:
    own = dict(keys.metrics)
    names, rule = _with_deciding(list(own), keys.reps)
    _check_metric_labels(keys, names, place)
    columns = [name for name in names if own.get(name) is None]
    checks = PointChecks(base, labels, place, keys.series, columns, keys.engines, notify)
    points = checks.points(assigned)
    for text in base.lost:
        warnings.warn(text, OverrideWarning, stacklevel=4)
    title = keys.name or (Path(place).stem if directory is not None else base.name) or "sweep"
    plan = Plan(
        name=title,
        axes=tuple(labels),
        points=points,
        rule=rule,
        seed=keys.seed,
        common_random_numbers=keys.common_random_numbers,
        confidence=keys.confidence,
        metrics=names,
        engines=keys.engines,  # type: ignore[arg-type]  # They are checked words.
        series=keys.series,
        base=base.to_toml(),
        axis_labels=keys.labels.axes,
        metric_labels=keys.labels.metrics,
    )
    functions = {name: function for name, function in own.items() if function is not None}

    def scenario_at(number: int) -> Scenario:
        return base.at(assigned[number])

    return Description(plan, checks.jobs, checks.contents, functions, scenario_at, checks.kernels)


def _with_deciding(names: list[str], rule: Rule | int) -> tuple[list[str], Rule]:
    """Return the stopping rule, and the metrics including the rule's metric."""
    if isinstance(rule, int):
        rule = Rule(rule, rule)
    if rule.metric is not None and rule.metric not in names:
        names = [*names, rule.metric]
    return names, rule
