"""What repeats what the radio has destroyed: HARQ, and ARQ behind it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PlainValidator

from airpath.scenario.base import Model
from airpath.scenario.values import Count, PositiveDuration, number_within

__all__ = ["Arq", "Harq"]


class Harq(Model):
    """Repetitions of a block that was not received, a round trip apart (wimax-2009 §5.1).

    A repetition takes time, not room.

    Parameters
    ----------
    attempts : int
        How often a block is sent at most, from 1.
    error : float
        Probability that an attempt fails, from 0 to below 1; attempts are independent.
    round_trip : Duration
        From one attempt to the next, above 0.
    """

    attempts: Count = Field(examples=["4"])
    error: Annotated[
        float, PlainValidator(number_within(0.0, 1.0, "from 0 to below 1", "0.316", below=True))
    ] = Field(examples=["0.316"])
    round_trip: PositiveDuration = Field(examples=['"30 ms"'])


class Arq(Model):
    """A second loop, which receives what HARQ has given up (wimax-2009 §5.1).

    Parameters
    ----------
    delay : Duration
        From the last attempt to the reception, above 0.
    """

    delay: PositiveDuration = Field(examples=['"100 ms"'])
