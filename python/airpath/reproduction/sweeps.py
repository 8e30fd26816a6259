"""Reads the sweeps in a paper's ``sweeps.toml``, which define the points of the paper.

```toml
[table6]
grid = {bearer = [384, 128], flows = [1, 4], aqm = ["drop-tail", "SBD"]}
reps = 100

[buffers]
set = {bearer = 384}                      # values of all points, not part of their names
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
the scenario. The axis values identify a point; claims and items select points by these values.
Instead of a list, an axis of `grid` may have ``{from = 0.0, to = 22.0, step = 0.5}``, or a
logarithmic range, ``{from = 1e-5, to = 0.5, per_decade = 10}``. Further keys, all optional:

* `scenario`: name of the function that makes the scenarios (if the paper has several), or a
  scenario file of the paper. ``""`` for points that are not simulated, at which only models are
  computed.
* `set`: axis values that are the same for all points and do not identify them.
* `place`: values that identify the points but are not part of the scenario.
* `changes`: maps the name of a change to a table of axis values, with a description in `about`. The
  names are the values of the axis `change`. Not together with `points`.
* `reps`: number of replications, or a fraction of the mode's number: `{one_in = 10, min = 4}` is
  one tenth, but at least 4 (default of `min`: 2). If the mode has at most `min` replications, all
  of them are run, each with one tenth of the measured time. Default: the mode's number.
* `duration_s`, `warmup_s`: duration and warm-up of each replication, s. Default: the mode's values.
* `reps_as`: names of sweeps. If one of these sweeps has a point with the same scenario, the point
  has the number of replications of that sweep.
* `thin`: names of `grid` axes. Only every `Effort.grid_step`-th value of these axes is used, and
  the last value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from airpath.errors import BadValueError, quoted, show
from airpath.reproduction.base import Effort
from airpath.reproduction.files import read_toml
from airpath.reproduction.formulas import Point
from airpath.reproduction.sweep_keys import (
    Share,
    changes_of,
    filled,
    has_numbers,
    keys_of,
    not_above,
    own_effort,
    parts_of,
    thinned,
)
from airpath.reproduction.values import is_at
from airpath.scenario import Scenario
from airpath.sweeps.axes import key_of
from airpath.sweeps.base import Base, base_of
from airpath.sweeps.description import assignments, varied_twice

__all__ = ["FILE", "SweepPoint", "Sweeps", "model_point"]

FILE: Final = "sweeps.toml"


class SweepPoint(NamedTuple):
    """Point of a sweep. Equal points in several sweeps are the same cell.

    Parameters
    ----------
    scenario : str
        Function or file that makes the scenario; empty for a point that is not simulated.
    text : str
        The axis values, as JSON.
    reps : int or Share
        Number of replications; 0: the mode's number.
    duration_s, warmup_s : float
        Duration and warm-up of each replication, s; negative: the mode's values.
    series : tuple of str
        Names of the recorded series.
    reps_as : tuple of str
        Names of sweeps whose number of replications is used for points with the same scenario.
    """

    scenario: str
    text: str
    reps: int | Share = 0
    duration_s: float = -1.0
    warmup_s: float = -1.0
    series: tuple[str, ...] = ()
    reps_as: tuple[str, ...] = ()

    @classmethod
    def of(cls, scenario: str, **axes: Any) -> SweepPoint:
        """Return a point with the given axis values and the mode's effort."""
        return cls(scenario, key_of(dict(sorted(axes.items()))))

    @property
    def axes(self) -> Mapping[str, Any]:
        """Maps each axis to its value."""
        return _parsed(self.text)

    def at(self, **axes: Any) -> SweepPoint:
        """Return a copy of the point with some axis values replaced."""
        return self._replace(text=key_of(dict(sorted({**self.axes, **axes}.items()))))

    @property
    def label(self) -> str:
        """Readable name: the axis values, and the differences from the mode's effort."""
        named = ", ".join(f"{axis}={value}" for axis, value in self.axes.items())
        runs = f"one run in {self.reps.one_in}" if isinstance(self.reps, Share) else ""
        more = [runs or f"{self.reps} runs"] if self.reps else []
        more += [f"{self.duration_s:g} s"] if self.duration_s >= 0 else []
        more += [f"from {self.warmup_s:g} s"] if self.warmup_s > 0 else []
        more += [f"records {' '.join(self.series)}"] if self.series else []
        rest = ", ".join([*([named] if named else []), *more])
        return f"{self.scenario}: {rest}" if rest else self.scenario


@lru_cache(None)
def _parsed(text: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(text)
    return found


def model_point(place: Mapping[str, Any]) -> Point:
    """Return a point with these axis values that is not simulated."""
    return Point(place, SweepPoint("", key_of(place)))


class Sweeps:
    """The sweeps of a paper.

    Parameters
    ----------
    directory : Path
        Directory with ``sweeps.toml``.
    *scenarios : callable
        Functions that return scenarios; their parameters are axes. The first function is the
        default.
    parent : Sweeps, optional
        For a study: the sweeps of its paper. The study can use their functions and sweeps.

    Raises
    ------
    BadValueError
        If a sweep is not a table, or has the same name as a sweep of `parent`.
    """

    def __init__(
        self, directory: Path, *scenarios: Callable[..., Scenario], parent: Sweeps | None = None
    ) -> None:
        self._place = f"{directory.name}/{FILE}"
        self._directories: list[Path] = [directory, *(parent._directories if parent else ())]
        self._functions: dict[str, Callable[..., Scenario]] = {
            **(parent._functions if parent else {}),
            **{each.__name__: each for each in scenarios},
        }
        self._bases: dict[str, Base] = {}
        self._parts: dict[str, tuple[str, Sequence[Mapping[str, Any]]]] = {}
        if parent is not None:
            self._parts.update(parent._parts)
        for name, found in read_toml(directory, FILE).items():
            at = f"{self._place}: {name}"
            if name in self._parts:
                raise BadValueError(f"{at}: the paper has a sweep of this name. Use another name.")
            self._parts[name] = (at, parts_of(found, name, self._place))

    def names(self) -> list[str]:
        """Return the names of the sweeps, beginning with the sweeps of `parent`."""
        return list(self._parts)

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
            Name of the sweep.
        numbers : mapping, optional
            Numbers of a claim's criterion, which replace entries such as ``"$sizes"``.
        effort : Effort, optional
            Effort whose `grid_step` reduces the values of the axes in `thin`. Default: all values.
        **place
            Axis values of the points to return; a tuple matches any of its values. Default: all
            points.

        Raises
        ------
        BadValueError
            If there is no such sweep, an entry of the sweep is not accepted, or `place` has an axis
            that no point of the sweep has.
        """
        of_sweep, _ = self._named(name)
        found = self._whole(name, effort) if not numbers else self._of(name, numbers, effort)
        known = dict.fromkeys(axis for point in found for axis in point.place)
        for axis in place:
            if axis not in known:
                expected = f"Expected one of: {', '.join(known)}" if known else "It has none"
                raise BadValueError(
                    f"{of_sweep}: {quoted(axis)}: no axis of this sweep. {expected}."
                )
        return [point for point in found if is_at(point.place, place)]

    @lru_cache(1024)  # noqa: B019  (the sweeps of a paper live as long as the process)
    def _whole(self, name: str, effort: Effort | None) -> Sequence[Point]:
        """Return the points of a sweep without references to numbers of a criterion."""
        return self._of(name, {}, effort)

    def _of(self, name: str, numbers: Mapping[str, Any], effort: Effort | None) -> list[Point]:
        of_sweep, parts = self._named(name)
        found: list[Point] = []
        for number, part in enumerate(parts):
            at = f"{of_sweep}.{number}" if len(parts) > 1 else of_sweep
            self._refuse_cycle(name, part, at)
            found += self._points_of(filled(part, numbers, at), at, effort)
        return found

    def cells(self, name: str, **how: Any) -> list[SweepPoint]:
        """Return the cells of the points of a sweep, in the order of `points`."""
        return [point.cell for point in self.points(name, **how)]

    def known_cells(self) -> set[SweepPoint]:
        """Return all simulated cells of the parts without references to numbers of a criterion."""
        return {
            point.cell
            for at, parts in self._parts.values()
            for part in parts
            if not has_numbers(part)
            for point in self._points_of(part, at, None)
            if point.cell.scenario
        }

    def changes(self, name: str) -> dict[str, str]:
        """Return a mapping from the name of each change of a sweep to its description."""
        at, parts = self._named(name)
        return {change: about for part in parts for change, about in changes_of(part, at).items()}

    def _named(self, name: str) -> tuple[str, Sequence[Mapping[str, Any]]]:
        """Return the location of a sweep (file and table, for messages), and its parts."""
        if name not in self._parts:
            wrong = f"{self._place}: {quoted(name)}: no sweep"
            raise BadValueError(f"{wrong}. Expected one of: {', '.join(self._parts)}.")
        return self._parts[name]

    def _refuse_cycle(self, name: str, part: Mapping[str, Any], at: str) -> None:
        """Reject a `reps_as` that refers to its own sweep, directly or through other sweeps."""
        given = part.get("reps_as", [])
        left, seen = _named_by(part), {""}
        while left:
            other = left.pop()
            if other == name:
                raise BadValueError(
                    f"{at}: reps_as = {show(given)}: leads back to this sweep. Name sweeps that do "
                    "not take their replications from it."
                )
            if other not in seen:
                seen.add(other)
                left += [each for of in self._named(other)[1] for each in _named_by(of)]

    def _points_of(self, part: Mapping[str, Any], at: str, effort: Effort | None) -> list[Point]:
        keys = keys_of(part, at)
        twice = varied_twice(keys, at)
        if twice:
            raise BadValueError("\n".join(twice))
        is_model = "scenario" in part and not keys.scenario
        function = "" if is_model else keys.scenario or next(iter(self._functions))
        base = None if is_model else self._base(function, at)
        values, labels = assignments(thinned(keys, effort, at), at)
        points = []
        for assigned in values:
            axes = {**keys.set, **assigned}
            axes.update(keys.changes.get(axes.pop("change", None), {}))
            axes.pop("about", None)
            own = own_effort(axes, at)
            spans = (own.get(name, getattr(keys, name)) for name in ("duration_s", "warmup_s"))
            duration_s, warmup_s = (-1.0 if span is None else span for span in spans)
            if 0 <= duration_s <= warmup_s:
                raise BadValueError(f"{at}: {not_above(duration_s, warmup_s)}")
            if base is not None:
                base.refuse_unknown(axes, at)
            named = {
                axis: labels[axis][key_of(value)] if axis in keys.labels.values else value
                for axis, value in assigned.items()
            }
            cell = SweepPoint(
                function,
                key_of(dict(sorted(axes.items()))),
                own.get("reps", keys.reps or 0),
                duration_s,
                warmup_s,
                keys.series,
                keys.reps_as,
            )
            points.append(Point({**named, **keys.place}, cell))
        return points

    # --- scenarios -----------------------------------------------------------------------------

    def _base(self, name: str, at: str) -> Base:
        if name not in self._bases:
            if name in self._functions:
                self._bases[name] = Base(self._functions[name], at, [], from_file=False)
            elif name.endswith(".toml"):
                places = (place for place in self._directories if (place / name).is_file())
                self._bases[name] = base_of(name, at, next(places, self._directories[0]), ())
            else:
                known = f"expected one of: {', '.join(self._functions)}, or a scenario file"
                raise BadValueError(f"{at}: scenario = {quoted(name)}: unknown value; {known}.")
        return self._bases[name]

    @lru_cache(4096)  # noqa: B019  (the sweeps of a paper live as long as the process)
    def scenario(self, cell: SweepPoint, effort: Effort) -> Scenario:
        """Return the scenario of a point, with the duration and warm-up of `effort`."""
        values = {
            **cell.axes,
            "duration": f"{effort.duration_s} s",
            "warmup": f"{effort.warmup_s} s",
            "record.series": list(cell.series),
        }
        return self._base(cell.scenario, FILE).at(values)

    def effort_of(self, cell: SweepPoint, effort: Effort) -> Effort:
        """Return the effort for a point, given the mode's effort."""
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
        if spans[0] <= spans[1]:
            raise BadValueError(f"{FILE}: {cell.label}: {not_above(*spans)}")
        long = replace(effort, replications=reps, duration_s=spans[0], warmup_s=spans[1])
        if cell.reps_as:
            shared = self._reps_by_scenario(cell.reps_as, effort)
            reps = shared.get(self._identity(cell, long), reps)
        return replace(long, replications=effort.limited(reps))

    def _identity(self, cell: SweepPoint, effort: Effort) -> str:
        return key_of(self.scenario(cell, effort).given())

    @lru_cache(8)  # noqa: B019  (the sweeps of a paper live as long as the process)
    def _reps_by_scenario(self, names: Sequence[str], effort: Effort) -> Mapping[str, int]:
        found = {}
        for cell in (cell for name in names for cell in self.cells(name)):
            own = self.effort_of(cell, effort)
            found[self._identity(cell, own)] = own.replications
        return found


def _named_by(part: Mapping[str, Any]) -> list[str]:
    """Return the sweeps in `reps_as` of a part; empty if it is not a list of names."""
    given = part.get("reps_as")
    return [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
