"""Application behaviour of TCP flows: arrival times, transfer sizes and pauses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field, PlainValidator, ValidationInfo, field_validator

from airpath.scenario.base import ABSENT, Context, Maybe, Model, Path, as_missing, fault
from airpath.scenario.units import Duration, Quantity, Size
from airpath.scenario.values import PositiveArrivalRate, Real

__all__ = ["Arrivals", "OnOff", "Pareto", "RandomSize", "RandomTime", "Triangular"]


class Arrivals(Model):
    """Arrival process that determines the start times of the flows of a group.

    Parameters
    ----------
    poisson : ArrivalRate
        Mean rate of a Poisson process that begins at the group's `start`, above 0. Each arrival
        starts one flow of the group. The process ends after the last flow.
    until : Duration, optional
        Time at which the process ends, after the group's `start`; flows that have already started
        continue. Default: the end of the run.
    """

    poisson: PositiveArrivalRate = Field(examples=['"10 /s"'])
    until: Maybe[Duration] = ABSENT


# --- random sizes and times --------------------------------------------------------------------


class Pareto(Model):
    """A Pareto distribution of sizes.

    Parameters
    ----------
    shape : float
        α, the exponent of the tail, above 0. An unbounded distribution has a finite mean only for α
        above 1.
    smallest : Size
        Smallest size, above 0.
    largest : Size, optional
        Largest size, at least `smallest`. Default: unbounded.
    """

    shape: Real = Field(examples=["1.2"])
    smallest: Size = Field(examples=['"4 kB"'])
    largest: Maybe[Size] = ABSENT

    engine_family = "size"

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form of a size with this distribution."""
        return {
            "kind": "pareto",
            "shape": self.shape,
            "smallest_bytes": int(self.smallest),
            "largest_bytes": None if self.largest is None else int(self.largest),
        }


class Triangular(Model):
    """A triangular distribution of sizes, rounded to multiples of a step.

    Parameters
    ----------
    smallest : Size
        Smallest size, above 0, a multiple of `step`.
    mode : Size
        The most likely size, at least `smallest`.
    largest : Size
        Largest size, at least `mode`, a multiple of `step`.
    step : Size
        Every size is a multiple of this unit, above 0. Default 1 B.
    """

    step: Size = Size(1)
    smallest: Size = Field(examples=['"1460 B"'])
    mode: Size = Field(examples=['"1460 B"'])
    largest: Size = Field(examples=['"5840 kB"'])

    engine_family = "size"

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form of a size with this distribution."""
        return {"kind": "triangular", **self.resolved(context, path)}


class RandomSize(Model):
    """A random size. Exactly one key must be set; it selects the distribution.

    Parameters
    ----------
    exponential : Size, optional
        Mean of an exponential distribution, above 0.
    pareto : Pareto, optional
        A Pareto distribution.
    triangular : Triangular, optional
        A triangular distribution.
    """

    engine_family = "size"
    alternatives = (("exponential", "pareto", "triangular"),)

    exponential: Maybe[Size] = ABSENT
    pareto: Maybe[Pareto] = ABSENT
    triangular: Maybe[Triangular] = ABSENT

    @field_validator("pareto", "triangular")
    @classmethod
    def _one_of_them(cls, value: Any, info: ValidationInfo) -> Any:
        before = ("exponential", "pareto")
        given = [key for key in before if info.data.get(key) is not None]
        accepted = "Use one of exponential, pareto and triangular"
        example = '{exponential = "100 kB"}'
        if value is not None and given:
            raise fault(f"given together with {given[0]}", accepted, example)
        is_last = info.field_name == "triangular"
        if value is None and is_last and not given and info.data.keys() >= set(before):
            raise as_missing(fault("no distribution", accepted, example))
        return value

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        if self.exponential is not None:
            return {"kind": "exponential", "mean_bytes": int(self.exponential)}
        size = self.pareto or self.triangular
        assert size is not None, "one of them is given"
        return size.engine_form(context, path)

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; there, all distributions share one table."""
        if engine_path == "mean_bytes":
            return ["exponential"]
        return ["triangular" if self.pareto is None else "pareto", engine_path]


class RandomTime(Model):
    """A random time.

    Parameters
    ----------
    exponential : Duration
        Mean of an exponential distribution, above 0.
    """

    engine_keys = {"mean_ns": "exponential"}

    exponential: Duration = Field(examples=['"1 s"'])

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        return {"kind": "exponential", "mean_ns": int(self.exponential)}


def fixed_or_random(
    quantity: type[Quantity], drawn: type[Model], *, required: bool = False
) -> Callable[[Any, ValidationInfo], Any]:
    """Return a validator that accepts a quantity or a table with its distribution."""

    def check(value: Any, info: ValidationInfo) -> Any:
        if value is None and not required:
            return None
        if isinstance(value, (Mapping, drawn)):
            return drawn.model_validate(value, context=info.context)
        return quantity._validate(value, info)

    return check


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    AnySize = Takes[str | float | Mapping[str, Any] | RandomSize | None, Size | RandomSize | None]
    AnyTime = Takes[
        str | float | Mapping[str, Any] | RandomTime | None, Duration | RandomTime | None
    ]
    AnyPause = Takes[str | float | Mapping[str, Any] | RandomTime, Duration | RandomTime]
else:
    AnySize = Annotated[Size | RandomSize | None, PlainValidator(fixed_or_random(Size, RandomSize))]
    AnyTime = Annotated[
        Duration | RandomTime | None, PlainValidator(fixed_or_random(Duration, RandomTime))
    ]
    AnyPause = Annotated[
        Duration | RandomTime,
        PlainValidator(fixed_or_random(Duration, RandomTime, required=True)),
    ]


def distribution(
    value: Quantity | Model, fixed: str, context: Context, path: Path
) -> dict[str, Any]:
    """Return the resolved form of a quantity, with engine field `fixed`, or of a distribution."""
    if isinstance(value, Model):
        return value.resolved(context, path)
    return {"kind": "fixed", fixed: int(value)}


class OnOff(Model):
    """An application that alternates between sending and pausing on one connection.

    Parameters
    ----------
    burst : Size or RandomSize, optional
        Number of bytes that the application writes in one call, above 0. The pause begins when all
        these bytes have been acknowledged.
    on : Duration or RandomTime, optional
        Duration during which the source always has data, above 0; used instead of `burst`.
    off : Duration or RandomTime
        Duration of a pause.
    """

    engine_family = "on-off"
    alternatives = (("burst", "on"),)

    burst: AnySize = ABSENT
    on: AnyTime = ABSENT
    off: AnyPause = Field(examples=['{exponential = "1 s"}'])

    @field_validator("on")
    @classmethod
    def _one_of_both(cls, on: Any, info: ValidationInfo) -> Any:
        if "burst" in info.data and (on is None) == (info.data["burst"] is None):
            accepted, example = "Use one of burst and on", '{burst = "100 kB", off = "1 s"}'
            if on is None:
                raise as_missing(fault("neither burst nor on is given", accepted, example))
            raise fault("given together with burst", accepted, example)
        return on

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        if self.burst is not None:
            on = {"size": distribution(self.burst, "bytes", context, (*path, "burst"))}
        else:
            on = {"time": distribution(cast(Duration, self.on), "time_ns", context, (*path, "on"))}
        return {"on": on, "off": distribution(self.off, "time_ns", context, (*path, "off"))}

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; there, sizes and times are tables."""
        part, _, field = engine_path.rpartition(".")
        key = {"on.size": "burst", "on.time": "on", "off": "off"}[part]
        value = getattr(self, key)
        return [key, *value._user_path(field)] if isinstance(value, Model) else [key]
