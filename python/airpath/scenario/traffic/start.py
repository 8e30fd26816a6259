"""Random start times of flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field, PlainValidator, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from airpath.scenario.base import Context, ListOf, Model, Path, fault, faults_at
from airpath.scenario.units import Duration

__all__ = ["Uniform"]


class Uniform(Model):
    """A uniformly distributed time, independent for each flow.

    Parameters
    ----------
    uniform : pair of Duration
        Earliest and latest time, in this order.
    """

    engine_family = "start"

    uniform: ListOf[Duration] = Field(examples=['["0 s", "1 s"]'])

    @field_validator("uniform")
    @classmethod
    def _check_uniform(cls, pair: list[Duration]) -> list[Duration]:
        accepted, example = "Use the earliest and the latest time", '["0 s", "1 s"]'
        if len(pair) != 2:
            raise fault("not a pair", accepted, example)
        return pair

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form of a start time."""
        low, high = self.uniform
        return {"kind": "uniform", "low_ns": int(low), "high_ns": int(high)}

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; both times are in one list."""
        return ["uniform", str(["low_ns", "high_ns"].index(engine_path))]


def _start(value: Any, info: ValidationInfo) -> Duration | Uniform:
    if isinstance(value, (Uniform, Mapping)):
        return Uniform.model_validate(value, context=info.context)
    return Duration._validate(value, info)


def _base_rtt(value: Any, info: ValidationInfo) -> Duration | list[Duration] | None:
    if value is None:
        return None
    if not isinstance(value, (list, tuple)):
        return Duration._validate(value, info)
    found = [_duration_or_fault(item, info) for item in value]
    wrong = [
        ((index,), item, error)
        for index, (item, error) in enumerate(zip(value, found, strict=True))
        if isinstance(error, PydanticCustomError)
    ]
    if wrong:
        raise faults_at(*wrong)
    return cast(list[Duration], found)


def _duration_or_fault(value: Any, info: ValidationInfo) -> Duration | PydanticCustomError:
    try:
        return Duration._validate(value, info)
    except PydanticCustomError as error:
        return error


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    Start = Takes[str | float | Mapping[str, Any] | Uniform, Duration | Uniform]
    BaseRtt = Takes[
        str | float | Sequence[str | float | Duration] | None, Duration | list[Duration] | None
    ]
else:
    Start = Annotated[Duration | Uniform, PlainValidator(_start)]
    BaseRtt = Annotated[Duration | list[Duration] | None, PlainValidator(_base_rtt)]
