"""The points of a paper: the sweeps that its ``sweeps.toml`` describes.

```toml
[table6]
grid = {bearer = [384, 128], flows = [1, 4], aqm = ["drop-tail", "SBD"]}
reps = 100

[buffers]
set = {bearer = 384}                      # values of all points that name none of them
grid.size = "$sizes"                      # a number of the criterion of the claim; also "$by.key"
series = ["delivered"]
duration_s = 60.0

[[sensitivity]]                           # a sweep of several parts
grid.bearer = [384, 128]
changes.window = {about = "a window of 64 000 bytes", "flows.0.tcp.receive_window" = "64 kB"}
changes.turnaround = {about = "25 ms each way", "bottleneck.link.delay" = "25 ms"}
exclude = [{bearer = 128, change = "window"}]
```

Each table is a sweep, with the keys of a sweep file: `grid`, `zip`, `points`, `exclude`, `labels`,
`series`, and `reps`. An axis is a parameter of the function that makes the scenarios, or a key of
the scenario. The values of the axes name a point: claims and items choose points by them.
Further keys, all optional:

* `scenario`: the function, if the paper has several, or a scenario file of the paper;
* `set`: values that do not name the points;
* `place`: entries of their names that are no values of the scenario;
* `changes`: tables of values by name, each with `about`; the axis `change` has these names;
* `reps`: a number, or a share of the mode's: `{one_in = 10, min = 4}` is one in 10, at least 4
  (default 2); if the mode has no more than `min`, all, each measured for a tenth of the time;
* `duration_s`, `warmup_s`: of each replication, s. Default, as of `reps`: those of the mode;
* `reps_as`: sweeps; a point whose scenario one of them has too gets its replications;
* `thin`: axes of which every `Effort.grid_step`-th value is taken, and the last.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from pydantic import Field, PlainValidator, ValidationError

from airpath.errors import BadValueError, quoted
from airpath.reproduction.base import Effort
from airpath.reproduction.files import read_toml
from airpath.reproduction.formulas import Point
from airpath.reproduction.values import is_at
from airpath.scenario import Scenario
from airpath.scenario.base import FromFile, fault, problems_of
from airpath.scenario.typed import ABSENT, Maybe
from airpath.scenario.values import Text
from airpath.sweeps.axes import key_of
from airpath.sweeps.base import Base, base_of, parameters_of
from airpath.sweeps.description import assignments
from airpath.sweeps.keys import SweepKeys

if TYPE_CHECKING:
    from airpath.reproduction.claims import ClaimSpec, PointSet

__all__ = ["FILE", "SweepPoint", "Sweeps"]

FILE: Final = "sweeps.toml"

_OF_USERS: Final = ("seed", "confidence", "common_random_numbers", "metrics", "engines", "random")
"""Keys of a sweep file that a paper decides as a whole, or does not have."""

_AS_LONG: Final = ("duration_s", "warmup_s")


class Share(NamedTuple):
    """Of the replications of the mode one in so many, and at least how many."""

    one_in: int
    least: int = 2

    def of(self, effort: Effort) -> Effort:
        """Return the replications and the duration that are left of an effort."""
        if effort.replications > self.least:
            return replace(effort, replications=max(self.least, effort.replications // self.one_in))
        measured_s = (effort.duration_s - effort.warmup_s) / self.one_in
        return replace(effort, duration_s=effort.warmup_s + measured_s)


class SweepPoint(NamedTuple):
    """A point of a sweep. Equal points of several sweeps are the same.

    Parameters
    ----------
    scenario : str
        Function or file that makes the scenario.
    text : str
        The values of the axes, as JSON.
    reps : int or Share
        Replications; 0 for those of the mode.
    duration_s, warmup_s : float
        Of each replication, s; negative for those of the mode.
    series : tuple of str
        Recorded series.
    reps_as : tuple of str
        Sweeps that decide the replications of equal scenarios.
    """

    scenario: str
    text: str
    reps: int | Share = 0
    duration_s: float = -1.0
    warmup_s: float = -1.0
    series: tuple[str, ...] = ()
    reps_as: tuple[str, ...] = ()

    @property
    def axes(self) -> Mapping[str, Any]:
        """The values by axis."""
        return _parsed(self.text)

    @property
    def label(self) -> str:
        """The values and whatever else differs from the mode, for people."""
        named = ", ".join(f"{axis}={value}" for axis, value in self.axes.items())
        runs = f"one run in {self.reps.one_in}" if isinstance(self.reps, Share) else ""
        more = [runs or f"{self.reps} runs"] if self.reps else []
        more += [f"{self.duration_s:g} s"] if self.duration_s >= 0 else []
        more += [f"from {self.warmup_s:g} s"] if self.warmup_s > 0 else []
        more += [f"records {' '.join(self.series)}"] if self.series else []
        return ", ".join([f"{self.scenario}: {named}", *more])


@lru_cache(None)
def _parsed(text: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(text)
    return found


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise fault("not a table", "Write keys with values", "{bearer = 384}")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise fault("not a number from 0 on", "Write seconds", "60.0")
    return float(value)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise fault("not a list of names", "Write a list", '["table6"]')
    return tuple(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise fault("not a whole number above 0", "Write one", "20")
    return value


def _reps(value: Any) -> int | Share:
    if not isinstance(value, Mapping):
        return _whole(value)
    if not {"one_in"} <= value.keys() <= {"one_in", "min"}:
        raise fault("not a share of the mode's", "Write one in so many", "{one_in = 10, min = 4}")
    return Share(*(_whole(value[key]) for key in ("one_in", "min") if key in value))


_Table = Annotated[Mapping[str, Any], PlainValidator(_table)]
_Seconds = Maybe[Annotated[float, PlainValidator(_number)]]
_Names = Annotated[tuple[str, ...], PlainValidator(_texts)]


class PaperSweepKeys(SweepKeys):
    """A sweep of a paper, or a part of one; the module says what each key is."""

    scenario: Text = ""
    reps: Maybe[Annotated[int | Share, PlainValidator(_reps)]] = ABSENT
    duration_s: _Seconds = ABSENT
    warmup_s: _Seconds = ABSENT
    set: _Table = Field(default={})
    place: _Table = Field(default={})
    changes: _Table = Field(default={})
    reps_as: _Names = ()
    thin: _Names = ()


class Sweeps:
    """The sweeps of a paper.

    Parameters
    ----------
    directory : Path
        With ``sweeps.toml``.
    *scenarios : callable
        Functions that return scenarios; their parameters are axes. The first is the default.
    parent : Sweeps, optional
        Of the paper that a study belongs to: its functions and sweeps are known too.

    Raises
    ------
    BadValueError
        If a sweep has a key or a value that is not accepted, or an axis that is nothing of its
        scenario.
    """

    def __init__(
        self, directory: Path, *scenarios: Callable[..., Scenario], parent: Sweeps | None = None
    ) -> None:
        self._directory, self._parent = directory, parent
        self._made_by = {each.__name__: each for each in scenarios}
        self._bases: dict[str, Base] = {}
        self._parts: dict[str, Sequence[Mapping[str, Any]]] = {
            name: found if isinstance(found, list) else [found]
            for name, found in read_toml(directory, FILE).items()
        }

    def names(self) -> list[str]:
        """Return the names of the sweeps, those of the parent first."""
        return [*(self._parent.names() if self._parent else ()), *self._parts]

    def points(
        self,
        name: str,
        numbers: Mapping[str, Any] | None = None,
        effort: Effort | None = None,
        **place: Any,
    ) -> list[Point]:
        """Return the points of a sweep, in the order of its parts.

        Parameters
        ----------
        name : str
            Of the sweep.
        numbers : mapping, optional
            Of the criterion of a claim, for entries such as ``"$sizes"``.
        effort : Effort, optional
            Its `grid_step` thins axes. Default: no axis is thinned.
        **place
            Values of axes; a tuple is any of several. Default: all points.
        """
        if name not in self._parts:
            if self._parent is None:
                known = ", ".join(self.names())
                raise BadValueError(f"{FILE}: {quoted(name)}: no sweep. Expected one of: {known}.")
            return self._parent.points(name, numbers, effort, **place)
        found = []
        for number, part in enumerate(self._parts[name]):
            at = f"{self._directory.name}/{FILE}: {name}"
            at += f".{number}" if len(self._parts[name]) > 1 else ""
            found += self._points_of(_filled(part, numbers or {}, at), at, effort)
        return [point for point in found if is_at(point.place, place)]

    def cells(self, name: str, **how: Any) -> list[SweepPoint]:
        """Return what computes the points of a sweep, as `points` has them."""
        return [point.cell for point in self.points(name, **how)]

    def changes(self, name: str) -> dict[str, str]:
        """Return the changes of a sweep by name, each in words, in the order of its parts."""
        if name not in self._parts and self._parent is not None:
            return self._parent.changes(name)
        tables = (part.get("changes", {}) for part in self._parts[name])
        return {change: values["about"] for table in tables for change, values in table.items()}

    def point_sets(self) -> Mapping[str, PointSet]:
        """Return the sweeps as the point sets that claims name."""

        def of(name: str) -> PointSet:
            def points(spec: ClaimSpec) -> list[Point]:
                return self.points(name, spec.numbers)

            return points

        return {name: of(name) for name in self.names()}

    def _points_of(self, part: Mapping[str, Any], at: str, effort: Effort | None) -> list[Point]:
        keys = _keys(part, at)
        function = keys.scenario or next(iter(self._known()))
        self._base(function, at)
        values, labels = assignments(_thinned(keys, effort), at)
        points = []
        for assigned in values:
            axes = {**keys.set, **assigned}
            axes.update(keys.changes.get(axes.pop("change", None), {}))
            axes.pop("about", None)
            spans = (axes.pop(name, getattr(keys, name)) for name in _AS_LONG)
            duration_s, warmup_s = (-1.0 if span is None else float(span) for span in spans)
            reps = axes.pop("reps", keys.reps or 0)
            self._check_axes(function, axes, at)
            named = {
                axis: labels[axis][key_of(value)] if axis in keys.labels else value
                for axis, value in assigned.items()
            }
            cell = SweepPoint(
                function,
                key_of(dict(sorted(axes.items()))),
                reps,
                duration_s,
                warmup_s,
                keys.series,
                keys.reps_as,
            )
            points.append(Point({**named, **keys.place}, cell))
        return points

    # --- scenarios -----------------------------------------------------------------------------

    def of_paper(self) -> dict[str, Any]:
        """Return the entries of a `Paper` whose cells are points of these sweeps."""
        return {"simulated_scenario": self.scenario, "effort_of": self.effort_of}

    def _known(self) -> Mapping[str, Callable[..., Scenario]]:
        return {**(self._parent._known() if self._parent else {}), **self._made_by}

    def _base(self, name: str, at: str) -> Base:
        if name not in self._bases:
            function = self._known().get(name)
            if function is None and not name.endswith(".toml"):
                known = ", ".join(self._known())
                raise BadValueError(
                    f"{at}: scenario = {quoted(name)}: unknown value; expected one of: {known}, or "
                    "a scenario file."
                )
            made = Base(function, at, [], from_file=False) if function is not None else None
            self._bases[name] = made or base_of(name, at, self._directory, ())
        return self._bases[name]

    def _check_axes(self, function: str, axes: Mapping[str, Any], at: str) -> None:
        taken = parameters_of(self._known()[function]) if function in self._known() else ()
        for axis in axes:
            if taken is not None and axis not in taken and axis.split(".")[0] not in _KEYS:
                known = ", ".join(sorted(taken))
                raise BadValueError(
                    f"{at}: {quoted(axis)}: no axis. Expected a key of the scenario, or one of: "
                    f"{known}."
                )

    def scenario(self, cell: SweepPoint, effort: Effort) -> Scenario:
        """Return the scenario of a point, which takes as long as `effort` says."""
        values = {
            **cell.axes,
            "duration": f"{effort.duration_s} s",
            "warmup": f"{effort.warmup_s} s",
            "record.series": list(cell.series),
        }
        return self._base(cell.scenario, FILE).at(values)

    def effort_of(self, cell: SweepPoint, effort: Effort) -> Effort:
        """Return how long and how often a point is simulated, given the effort of the mode."""
        if isinstance(cell.reps, Share):
            effort = cell.reps.of(effort)
        spans = [
            own if own >= 0 else mode
            for own, mode in (
                (cell.duration_s, effort.duration_s),
                (cell.warmup_s, effort.warmup_s),
            )
        ]
        reps = effort.replications
        if isinstance(cell.reps, int):
            reps = cell.reps or reps
        long = replace(effort, replications=reps, duration_s=spans[0], warmup_s=spans[1])
        if cell.reps_as:
            shared = self._reps_by_scenario(cell.reps_as, effort)
            reps = shared.get(self._identity(cell, long), reps)
        return replace(long, replications=reps)

    def _identity(self, cell: SweepPoint, effort: Effort) -> str:
        return key_of(self.scenario(cell, effort).given())

    @lru_cache(8)  # noqa: B019  (the sweeps of a paper live as long as the process)
    def _reps_by_scenario(self, names: Sequence[str], effort: Effort) -> Mapping[str, int]:
        found = {}
        for cell in (cell for name in names for cell in self.cells(name)):
            own = self.effort_of(cell, effort)
            found[self._identity(cell, own)] = own.replications
        return found


_KEYS: Final = frozenset(Scenario.keys())


def _keys(part: Mapping[str, Any], at: str) -> PaperSweepKeys:
    wrong = [key for key in _OF_USERS if key in part]
    if wrong:
        raise BadValueError(f"{at}: {wrong[0]}: unknown key of a paper's sweep. Remove it.")
    changes = part.get("changes")
    document = {**part, "points": [{"change": name} for name in changes]} if changes else part
    try:
        return PaperSweepKeys.model_validate(document, context=FromFile)
    except ValidationError as error:
        raise BadValueError("\n".join(map(str, problems_of(error, at)))) from None


def _thinned(keys: PaperSweepKeys, effort: Effort | None) -> PaperSweepKeys:
    step = 1 if effort is None else effort.grid_step
    if step == 1 or not keys.thin:
        return keys
    grid = {
        axis: [*values[:-1:step], *values[-1:]] if axis in keys.thin else values
        for axis, values in keys.grid.items()
    }
    return keys.model_copy(update={"grid": grid})


def _filled(value: Any, numbers: Mapping[str, Any], at: str) -> Any:
    """Return a value with the numbers of a criterion in place of their names."""
    if isinstance(value, Mapping):
        return {key: _filled(item, numbers, at) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, numbers, at) for item in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    found: Any = numbers
    for key in value[1:].split("."):
        if not isinstance(found, Mapping) or key not in found:
            raise BadValueError(f"{at}: {quoted(value)}: no number of the criterion.")
        found = found[key]
    return found
