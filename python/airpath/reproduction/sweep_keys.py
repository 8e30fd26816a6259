"""Checks the keys of a paper's sweeps in ``sweeps.toml`` (see `sweeps`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field, PlainValidator, ValidationError
from pydantic_core import PydanticCustomError

from airpath.errors import MISSING, BadValueError, Problem, quoted
from airpath.reproduction.base import Effort
from airpath.reproduction.entries import is_number
from airpath.scenario.base import FromFile, fault, faults_at, problems_of
from airpath.scenario.typed import ABSENT, Maybe
from airpath.scenario.values import Text
from airpath.sweeps.keys import REPS, SweepKeys

__all__ = [
    "PaperSweepKeys",
    "Share",
    "changes_of",
    "filled",
    "has_numbers",
    "keys_of",
    "not_above",
    "own_effort",
    "parts_of",
    "thinned",
]

_OF_USERS: Final = ("seed", "confidence", "common_random_numbers", "metrics", "engines", "random")
"""Keys of a user's sweep file that papers set globally or do not support."""

_OF_RUNS: Final = ("series", "reps", "duration_s", "warmup_s", "reps_as")
"""Keys that do not apply to points that are not simulated."""


class Share(NamedTuple):
    """A fraction of the mode's replications: 1 / `one_in`, but at least `least` replications."""

    one_in: int
    least: int = 2

    def of(self, effort: Effort) -> Effort:
        """Return the effort with the reduced number of replications or the reduced duration."""
        if effort.replications > self.least:
            return replace(effort, replications=max(self.least, effort.replications // self.one_in))
        measured_s = (effort.duration_s - effort.warmup_s) / self.one_in
        return replace(effort, duration_s=effort.warmup_s + measured_s)


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise fault("not a table", "Use keys with values", "{bearer = 384}")
    return value


def _changes(value: Any) -> Mapping[str, Any]:
    for name, change in _table(value).items():
        if not isinstance(change, Mapping):
            error = fault("not a table", "Use keys with values", '{about = "...", bearer = 384}')
            raise faults_at(((name,), change, error))
    found: Mapping[str, Any] = value
    return found


def _number(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < math.inf:
        raise fault("not a number from 0 on", "Use seconds", "60.0")
    return float(value)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise fault("not a list of names", "Use a list", '["table6"]')
    return tuple(value)


def _reps(value: Any) -> int | Share:
    if isinstance(value, Share):
        return value
    if not isinstance(value, Mapping):
        return REPS(value)
    if not {"one_in"} <= value.keys() <= {"one_in", "min"}:
        raise fault("not a share of the mode's", "Use one in n", "{one_in = 10, min = 4}")
    return Share(*(REPS(value[key]) for key in ("one_in", "min") if key in value))


_OF_EFFORT: Final[Mapping[str, Callable[[Any], Any]]] = {
    "duration_s": _number,
    "warmup_s": _number,
    "reps": _reps,
}

_Table = Annotated[Mapping[str, Any], PlainValidator(_table)]
_Seconds = Maybe[Annotated[float, PlainValidator(_number)]]
_Names = Annotated[tuple[str, ...], PlainValidator(_texts)]


class PaperSweepKeys(SweepKeys):
    """Keys of a paper's sweep, or of a part of a sweep (see `sweeps`)."""

    scenario: Text = ""
    reps: Maybe[Annotated[int | Share, PlainValidator(_reps)]] = ABSENT
    duration_s: _Seconds = ABSENT
    warmup_s: _Seconds = ABSENT
    set: _Table = Field(default={})
    place: _Table = Field(default={})
    changes: Annotated[Mapping[str, Any], PlainValidator(_changes)] = Field(default={})
    reps_as: _Names = ()
    thin: _Names = ()


def _spaced(given: Any, axis: str, at: str) -> Any:
    """Return the values of an axis; a table defines numbers with equal steps or equal ratios."""
    if not isinstance(given, Mapping):
        return given
    match given if all(map(is_number, given.values())) else {}:
        case {"from": low, "to": high, "step": step, **rest} if not rest and 0 < step <= high - low:
            return [low + step * number for number in range(round((high - low) / step) + 1)]
        case {"from": low, "to": high, "per_decade": each, **rest} if not rest and 0 < low < high:
            first, last = (round(each * math.log10(end)) for end in (low, high))
            return [10 ** (number / each) for number in range(first, last + 1)]
    accepted = "Use from, to above it, and step or per_decade"
    example = "{from = 0.0, to = 22.0, step = 0.5}"
    raise BadValueError(str(Problem(at, ("grid", axis), given, "no range", accepted, example)))


def keys_of(part: Mapping[str, Any], at: str) -> PaperSweepKeys:
    """Check the keys of a part and return them, with `changes` converted to points."""
    of_runs = _OF_RUNS if part.get("scenario") == "" else ()
    wrong = [key for key in (*_OF_USERS, *of_runs) if key in part]
    if wrong:
        raise BadValueError(f"{at}: {wrong[0]}: unknown key of a paper's sweep. Remove it.")
    grid = part.get("grid")
    if isinstance(grid, Mapping):
        part = {**part, "grid": {axis: _spaced(each, axis, at) for axis, each in grid.items()}}
    try:
        keys = PaperSweepKeys.model_validate(part, context=FromFile)
    except ValidationError as error:
        raise BadValueError("\n".join(map(str, problems_of(error, at)))) from None
    if not keys.changes:
        return keys
    if keys.points is not None:
        raise BadValueError(
            f"{at}: points: not accepted together with changes. Leave one of them out."
        )
    return keys.model_copy(update={"points": [{"change": name} for name in keys.changes]})


def parts_of(found: Any, name: str, place: str) -> Sequence[Mapping[str, Any]]:
    """Return the parts of a sweep. A sweep has one or several tables."""
    parts = found if isinstance(found, list) else [found]
    if not parts or not all(isinstance(part, Mapping) for part in parts):
        accepted = f"Use a table [{name}], or several [[{name}]]"
        raise BadValueError(str(Problem(place, (name,), found, "not a table", accepted)))
    return parts


def changes_of(part: Mapping[str, Any], at: str) -> dict[str, str]:
    """Return a mapping from the name of each change of a part to its description."""
    changes = keys_of({"changes": part.get("changes", {})}, at).changes
    for name, values in changes.items():
        if not isinstance(values.get("about"), str):
            field, accepted = ("changes", name, "about"), "Set the changes"
            problem = Problem(at, field, values.get("about", MISSING), "no text", accepted)
            raise BadValueError(str(problem))
    return {name: values["about"] for name, values in changes.items()}


def own_effort(axes: dict[str, Any], at: str) -> dict[str, Any]:
    """Remove the duration, warm-up and replication count from a point's values; return them."""
    found = {}
    for name in _OF_EFFORT.keys() & axes.keys():
        value = axes.pop(name)
        try:
            found[name] = _OF_EFFORT[name](value)
        except PydanticCustomError as error:
            of = error.context or {}
            raise BadValueError(
                str(Problem(at, (name,), value, of["what"], of["accepted"], of["example"]))
            ) from None
    return found


def not_above(duration_s: float, warmup_s: float) -> str:
    """Return an error message: `duration_s` is not above `warmup_s`."""
    return (
        f"duration_s = {duration_s:g}: not above the warm-up of {warmup_s:g} s. "
        "Use a longer duration_s or a shorter warmup_s."
    )


def thinned(keys: PaperSweepKeys, effort: Effort | None, at: str) -> PaperSweepKeys:
    """Return the keys of a part; the mode's effort reduces the values of the axes in `thin`."""
    for axis in keys.thin:
        if axis not in keys.grid:
            known = ", ".join(keys.grid)
            expected = f"Expected one of: {known}" if known else "It has none"
            raise BadValueError(f"{at}: thin = {quoted(axis)}: no axis of grid. {expected}.")
    step = 1 if effort is None else effort.grid_step
    if step == 1 or not keys.thin:
        return keys
    grid = {
        axis: [*values[:-1:step], *values[-1:]] if axis in keys.thin else values
        for axis, values in keys.grid.items()
    }
    return keys.model_copy(update={"grid": grid})


def has_numbers(value: Any) -> bool:
    """Return whether a value contains a reference such as ``"$sizes"`` (see `filled`)."""
    if isinstance(value, Mapping):
        return any(map(has_numbers, value.values()))
    if isinstance(value, list):
        return any(map(has_numbers, value))
    return isinstance(value, str) and value.startswith("$")


def filled(value: Any, numbers: Mapping[str, Any], at: str) -> Any:
    """Replace references such as ``"$sizes"`` in a value by the criterion's numbers."""
    if isinstance(value, Mapping):
        return {key: filled(item, numbers, at) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, numbers, at) for item in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    found: Any = numbers
    for key in value[1:].split("."):
        if not isinstance(found, Mapping) or key not in found:
            raise BadValueError(f"{at}: {quoted(value)}: no number of the criterion.")
        found = found[key]
    return found
