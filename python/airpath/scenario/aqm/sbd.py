"""Queue disciplines for the buffer of a radio bearer, with parameters by the link's rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Protocol

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.base import ListOf, Model, fault, faults_at, usual
from airpath.scenario.units import Duration, Rate
from airpath.scenario.values import (
    PacketCount,
    PositiveDuration,
    PositivePacketCount,
    PositiveRate,
    Probability,
    Truth,
    choice,
)

__all__ = ["RlcRed", "RlcRedRow", "Sbd", "SbdRow"]


class SbdRow(Model):
    """Parameters of `Sbd` for links of one rate and more, up to the next row's.

    Parameters
    ----------
    rate : Rate
        The lowest rate that the row is for, above 0.
    min_th : int
        minth, packets, from 0 and at most the limit.
    reaction_time : Duration
        T_r, above 0.
    """

    rate: PositiveRate = Field(examples=['"384 kbit/s"'])
    min_th: PacketCount = Field(examples=["20"])
    reaction_time: PositiveDuration = Field(examples=['"200 ms"'])


class RlcRedRow(Model):
    """Parameters of `RlcRed` for links of one rate and more, up to the next row's.

    Parameters
    ----------
    rate : Rate
        The lowest rate that the row is for, above 0.
    min_th : int
        min_th, packets, from 0 and below the limit; below it nothing is dropped.
    max_p : float
        max_p, in [0, 1]: the probability that would be reached at the limit.
    """

    rate: PositiveRate = Field(examples=['"384 kbit/s"'])
    min_th: PacketCount = Field(examples=["20"])
    max_p: Probability = Field(examples=["0.05"])


class _Row(Protocol):
    @property
    def rate(self) -> Rate: ...
    @property
    def min_th(self) -> int: ...


class _ByRate(QueueDisc):
    """What disciplines with a table by rate have in common."""

    min_th_may_be_limit: ClassVar[bool]

    @classmethod
    def _check_min_th(cls, min_th: int, limit: int) -> None:
        if cls.min_th_may_be_limit and min_th > limit:
            raise fault(f"above limit = {limit}", "Write at most as many packets", str(limit // 2))
        if not cls.min_th_may_be_limit and min_th >= limit:
            raise fault(f"not below limit = {limit}", "Write fewer packets", str(limit // 2))

    @field_validator("min_th", check_fields=False)
    @classmethod
    def _fits_the_limit(cls, min_th: int, info: ValidationInfo) -> int:
        limit = info.data.get("limit")
        if limit is not None:
            cls._check_min_th(min_th, limit)
        return min_th

    @field_validator("by_rate", check_fields=False)
    @classmethod
    def _is_a_table(cls, by_rate: Sequence[_Row], info: ValidationInfo) -> Sequence[_Row]:
        limit = info.data.get("limit")
        problems: list[tuple[tuple[str | int, ...], object, Any]] = []
        for index, row in enumerate(by_rate):
            if any(row.rate == other.rate for other in by_rate[:index]):
                twice = fault("in the table twice", "Write one row for each rate")
                problems.append(((index, "rate"), str(row.rate), twice))
            try:
                if limit is not None:
                    cls._check_min_th(row.min_th, limit)
            except PydanticCustomError as error:
                problems.append(((index, "min_th"), row.min_th, error))
        if problems:
            raise faults_at(*problems)
        return by_rate


class Sbd(_ByRate):
    """Slope Based Discard: a drop at the front when the buffer fills too fast (sbd-2006 §3).

    Parameters
    ----------
    limit : int
        maxth, packets, from 1: most that may wait or be held by the link. Default 40
        (sbd-2006 §5).
    min_th : int
        minth, packets, from 0 and at most `limit`; below it nothing is dropped. Default 20
        (sbd-2006 Table 3, 384 kbit/s).
    reaction_time : Duration
        T_r, above 0: how long a drop takes to be felt in the buffer. Default 200 ms
        (sbd-2006 Table 3, 384 kbit/s).
    alpha : int
        alpha, packets, from 1: the rise over which the slope is measured. Default 5
        (sbd-2006 §5).
    tick : Duration
        The measuring time C and T_r are rounded up to multiples of this, above 0. Default 10 ms,
        a TTI (sbd-2006 §3).
    expiry : {"timer", "arrival"}
        Whether the occupancy is examined when a timer expires, or at the next arrival. Default
        timer (sbd-2006 §3, pseudocode).
    after_drop : {"react", "rearm"}
        Whether nothing is measured for T_r after a drop, as the paper's text says, or C is started
        at once, as its pseudocode does. Default react (sbd-2006 §3, text).
    ecn : bool
        Mark an ECN-capable packet instead of dropping it, while there is room. Default False.
    by_rate : list of SbdRow
        `min_th` and `reaction_time` by the link's rate: the row with the largest rate not above
        it, the lowest row if all are above; each rate once. Default none: they stay as they are.
    """

    min_th_may_be_limit = True
    own_keys = ("alpha",)

    kind: Literal["sbd"] = "sbd"
    limit: PositivePacketCount = usual(40)
    min_th: PacketCount = usual(20)
    reaction_time: PositiveDuration = Duration.parse("200 ms")
    alpha: PositivePacketCount = usual(5)
    tick: PositiveDuration = Duration.parse("10 ms")
    expiry: Annotated[str, choice("timer", "arrival")] = "timer"
    after_drop: Annotated[str, choice("react", "rearm")] = "react"
    ecn: Truth = False
    by_rate: ListOf[SbdRow] = Field(
        default=usual([]),
        examples=['[{rate = "384 kbit/s", min_th = 20, reaction_time = "200 ms"}]'],
    )


class RlcRed(_ByRate):
    """RED at the buffer of a radio bearer: instantaneous occupancy, drops at the front (sbd-2006).

    Parameters
    ----------
    limit : int
        max_th, packets, from 1: most that may wait or be held by the link. Default 40
        (sbd-2006 §5).
    min_th : int
        min_th, packets, from 0 and below `limit`; below it nothing is dropped. Default 20
        (sbd-2006 Table 5, 384 kbit/s).
    max_p : float
        max_p, in [0, 1]: the probability that would be reached at `limit`. Default 0.05
        (sbd-2006 Table 5, 384 kbit/s).
    count : bool
        Space drops evenly by the count of arrivals since the last one (Floyd & Jacobson 1993);
        False draws each arrival on its own. Default True (Floyd & Jacobson 1993 Fig. 2).
    drop : {"front", "arrival"}
        Which packet is dropped: the first whose transmission has not started, or the arrival.
        Default front, as SBD.
    ecn : bool
        Mark an ECN-capable packet instead of dropping it. Default False.
    by_rate : list of RlcRedRow
        `min_th` and `max_p` by the link's rate: the row with the largest rate not above it, the
        lowest row if all are above; each rate once. Default none: they stay as they are.
    """

    min_th_may_be_limit = False

    kind: Literal["rlc-red"] = "rlc-red"
    limit: PositivePacketCount = usual(40)
    min_th: PacketCount = usual(20)
    max_p: Probability = 0.05
    count: Truth = True
    drop: Annotated[str, choice("front", "arrival")] = "front"
    ecn: Truth = False
    by_rate: ListOf[RlcRedRow] = Field(
        default=usual([]),
        examples=['[{rate = "384 kbit/s", min_th = 20, max_p = 0.05}]'],
    )
