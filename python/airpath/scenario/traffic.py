"""What the applications of TCP flows do: when they arrive, how much they send, when they pause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from pydantic import Field, PlainValidator, ValidationInfo, field_validator

from airpath.scenario.base import ABSENT, Context, Maybe, Model, Path, as_missing, fault
from airpath.scenario.units import Duration, Quantity, Size, quote
from airpath.scenario.values import (
    PositiveArrivalRate,
    PositiveDuration,
    PositiveNumber,
    PositiveSize,
)

__all__ = ["Arrivals", "OnOff", "Pareto", "RandomSize", "RandomTime"]


class Arrivals(Model):
    """Starting times of the flows of a group, one after the other.

    Parameters
    ----------
    poisson : ArrivalRate
        Mean rate of a Poisson process that begins at the group's `start`, above 0. Each flow of
        the group is one arrival; there are no more when all have arrived.
    """

    poisson: PositiveArrivalRate = Field(examples=['"10 /s"'])


# --- random sizes and times --------------------------------------------------------------------


class Pareto(Model):
    """A Pareto distribution of sizes.

    Parameters
    ----------
    shape : float
        α, the exponent of the tail, above 0; the mean of an unbounded one is finite above 1.
    smallest : Size
        Smallest size, above 0.
    largest : Size, optional
        Largest size, at least `smallest`. Default: unbounded.
    """

    shape: PositiveNumber = Field(examples=["1.2"])
    smallest: PositiveSize = Field(examples=['"4 kB"'])
    largest: Maybe[PositiveSize] = ABSENT

    @field_validator("largest")
    @classmethod
    def _not_below_smallest(cls, largest: Size | None, info: ValidationInfo) -> Size | None:
        smallest = info.data.get("smallest")
        if largest is not None and smallest is not None and largest < smallest:
            raise fault(f"below smallest = {quote(str(smallest))}", "Write a larger size")
        return largest


class RandomSize(Model):
    """A size that is drawn; one of the keys says from what distribution.

    Parameters
    ----------
    exponential : Size, optional
        Mean of an exponential distribution, above 0.
    pareto : Pareto, optional
        A Pareto distribution.
    """

    alternatives = (("exponential", "pareto"),)

    exponential: Maybe[PositiveSize] = ABSENT
    pareto: Maybe[Pareto] = ABSENT

    @field_validator("pareto")
    @classmethod
    def _one_of_both(cls, pareto: Pareto | None, info: ValidationInfo) -> Pareto | None:
        if "exponential" in info.data and (pareto is None) == (info.data["exponential"] is None):
            accepted, example = "Write one of exponential and pareto", '{exponential = "100 kB"}'
            if pareto is None:
                raise as_missing(fault("no distribution", accepted, example))
            raise fault("both are given", accepted, example)
        return pareto

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        if self.pareto is None:
            return {"kind": "exponential", "mean_bytes": int(cast(Size, self.exponential))}
        largest = self.pareto.largest
        return {
            "kind": "pareto",
            "shape": self.pareto.shape,
            "smallest_bytes": int(self.pareto.smallest),
            "largest_bytes": None if largest is None else int(largest),
        }


class RandomTime(Model):
    """A time that is drawn.

    Parameters
    ----------
    exponential : Duration
        Mean of an exponential distribution, above 0.
    """

    exponential: PositiveDuration = Field(examples=['"1 s"'])

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        return {"kind": "exponential", "mean_ns": int(self.exponential)}


_Q = TypeVar("_Q", bound=Quantity)


def _drawn_or(
    quantity: type[_Q], drawn: type[Model], *, required: bool = False, from_zero: bool = False
) -> Callable[[Any, ValidationInfo], Any]:
    """Return the validator of a quantity, or of a table that says what it is drawn from."""

    def check(value: Any, info: ValidationInfo) -> Any:
        if value is None and not required:
            return None
        if isinstance(value, (Mapping, drawn)):
            return drawn.model_validate(value, context=info.context)
        found = quantity._validate(value, info)
        if found == 0 and not from_zero:
            accepted = f"Write a {quantity.noun} above 0"
            raise fault("not above 0", accepted, quote(quantity.example))
        return found

    return check


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    AnySize = Takes[str | float | Mapping[str, Any] | RandomSize | None, Size | RandomSize | None]
    AnyTime = Takes[
        str | float | Mapping[str, Any] | RandomTime | None, Duration | RandomTime | None
    ]
    AnyPause = Takes[str | float | Mapping[str, Any] | RandomTime, Duration | RandomTime]
else:
    AnySize = Annotated[Size | RandomSize | None, PlainValidator(_drawn_or(Size, RandomSize))]
    AnyTime = Annotated[
        Duration | RandomTime | None, PlainValidator(_drawn_or(Duration, RandomTime))
    ]
    AnyPause = Annotated[
        Duration | RandomTime,
        PlainValidator(_drawn_or(Duration, RandomTime, required=True, from_zero=True)),
    ]


def _distribution(
    value: Quantity | Model, fixed: str, context: Context, path: Path
) -> dict[str, Any]:
    if isinstance(value, Model):
        return value.resolved(context, path)
    return {"kind": "fixed", fixed: int(value)}


class OnOff(Model):
    """An application that writes and pauses, in turn, on one connection.

    Parameters
    ----------
    burst : Size or RandomSize, optional
        What it writes at once, above 0; the pause begins when all of it has been acknowledged.
    on : Duration or RandomTime, optional
        In the place of `burst`: how long there is always something to send, above 0.
    off : Duration or RandomTime
        How long it pauses.
    """

    alternatives = (("burst", "on"),)

    burst: AnySize = ABSENT
    on: AnyTime = ABSENT
    off: AnyPause = Field(examples=['{exponential = "1 s"}'])

    @field_validator("on")
    @classmethod
    def _one_of_both(cls, on: Any, info: ValidationInfo) -> Any:
        if "burst" in info.data and (on is None) == (info.data["burst"] is None):
            accepted, example = "Write one of burst and on", '{burst = "100 kB", off = "1 s"}'
            if on is None:
                raise as_missing(fault("neither burst nor on is given", accepted, example))
            raise fault("given beside burst", accepted, example)
        return on

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        if self.burst is not None:
            on = {"size": _distribution(self.burst, "bytes", context, (*path, "burst"))}
        else:
            on = {"time": _distribution(cast(Duration, self.on), "time_ns", context, (*path, "on"))}
        return {"on": on, "off": _distribution(self.off, "time_ns", context, (*path, "off"))}
