"""Bandwidth request procedures of a station, one class for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PlainValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from airpath.scenario.base import Component, Context, Path, fault, faults_at, usual
from airpath.scenario.units import Duration
from airpath.scenario.values import Number, Real, choice, integer_of

__all__ = ["NoRequest", "RandomDelay", "Ranging", "RequestProcedure", "SchedulingRequest"]


def _span(value: Any, info: ValidationInfo) -> Duration | list[Duration]:
    if not isinstance(value, (list, tuple)):
        return Duration._validate(value, info)
    if len(value) != 2:
        raise fault(
            "not a pair", "Set the lower end first, then the upper end", '["25 ms", "50 ms"]'
        )
    ends: list[Duration] = []
    wrong: list[Any] = []
    for index, item in enumerate(value):
        try:
            ends.append(Duration._validate(item, info))
        except PydanticCustomError as error:
            wrong.append(((index,), item, error))
    if wrong:
        raise faults_at(*wrong)
    return ends


def _backoff(value: Any) -> list[int]:
    accepted = "Use the first and the largest window"
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise fault("not a pair", accepted, "[2, 64]")
    check = integer_of(32)
    windows: list[int] = []
    wrong: list[Any] = []
    for index, item in enumerate(value):
        try:
            windows.append(check(item))
        except PydanticCustomError as error:
            wrong.append(((index,), item, error))
    if wrong:
        raise faults_at(*wrong)
    return windows


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    Span = Takes[str | float | Sequence[str | float | Duration], Duration | list[Duration]]
    Backoff = Takes[Sequence[int], list[int]]
else:
    Span = Annotated[Duration | list[Duration], PlainValidator(_span)]
    Backoff = Annotated[list[int], PlainValidator(_backoff)]


class RequestProcedure(Component):
    """A bandwidth request procedure, selected by `kind`."""

    family = "a request procedure"
    engine_family = "request"


class RandomDelay(RequestProcedure):
    """A bandwidth request with a random delay (wimax-2009 §2.2, §5.1).

    Parameters
    ----------
    delay : duration or pair of duration
        Time from a request to its grant in a map: a constant, or the ends of a uniform
        distribution. Default ["25 ms", "50 ms"] (wimax-2009 §5.1).
    collision : float
        Probability that a request is lost in a collision, from 0 to below 1. Default 0.01
        (wimax-2009 §5.1).
    timer : Duration
        Additional delay for each lost request, above 0. Default 100 ms (wimax-2009 §5.1).
    per : {"queue", "packet"}
        Unit for which a station sends requests. ``"queue"``: at most one request is outstanding;
        later requests are piggybacked. ``"packet"``: one request per packet, if the grant policy
        uses requests. Default ``"queue"`` (IEEE 802.16).
    piggyback : duration or pair of duration
        Delay of a piggyback request before the next map, in the form of `delay`. Default 0 s.
    """

    kind: Literal["random-delay"] = "random-delay"
    delay: Span = usual(["25 ms", "50 ms"])
    collision: Real = 0.01
    timer: Duration = Duration.parse("100 ms")
    per: Annotated[str, choice("queue", "packet")] = "queue"
    piggyback: Span = usual(Duration(0))

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; a constant delay becomes a range of zero length."""
        entries = super().resolved(context, path)
        for key in ("delay", "piggyback"):
            for name in (key, f"{key}_ns"):
                entries.pop(name, None)
            value = getattr(self, key)
            low, high = (value, value) if isinstance(value, Duration) else value
            entries[key] = {"low_ns": int(low), "high_ns": int(high)}
        return entries


class Ranging(RequestProcedure):
    """Contention with ranging codes: code, allocation, request header, grant (IEEE 802.16e).

    Each frame has one opportunity. Stations that choose the same code in the same opportunity all
    fail.

    Parameters
    ----------
    codes : int
        Number of codes that stations choose from, 1 to 65535. Default 8.
    timer : Duration
        Time to wait for a response, above 0. Without a response, the station backs off. Default 100
        ms.
    backoff : pair of int
        Initial and largest back-off window, opportunities, 1 to 65536. The window doubles after
        each failure. Default [2, 64].
    """

    kind: Literal["ranging"] = "ranging"
    codes: Number = 8
    timer: Duration = Duration.parse("100 ms")
    backoff: Backoff = usual([2, 64])


class SchedulingRequest(RequestProcedure):
    """A dedicated request opportunity for each station (3GPP TS 36.321 §5.4.4).

    The response is a grant for the buffer status report, which requests the remaining bytes.

    Parameters
    ----------
    period : Duration
        Time between two opportunities of a station, above 0. Each station has a different offset.
    """

    kind: Literal["scheduling-request"] = "scheduling-request"
    period: Duration = Field(examples=['"10 ms"'])


class NoRequest(RequestProcedure):
    """No requests: a station sends only data for which it gets proactive grants."""

    kind: Literal["none"] = "none"
