"""What repeats what the radio has destroyed: HARQ, and ARQ behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, ValidationInfo

from airpath.scenario.base import ABSENT, Context, Maybe, Model, Path, fault, usual
from airpath.scenario.decibels import Decibels
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import (
    Count,
    Mcs,
    PositiveDuration,
    TableName,
    choice,
    number_within,
)

__all__ = ["Arq", "AttemptErrors", "Harq"]

LONGEST_WAIT = Duration.parse("1 h")
LARGEST_BLOCK = Size(65535)


def _at_most_an_hour(wait: Duration) -> Duration:
    if wait > LONGEST_WAIT:
        raise fault("longer than 1 h", 'Write at most "1 h"', '"30 ms"')
    return wait


def _level(snr: Decibels) -> Decibels:
    if not -200 <= snr <= 200:
        raise fault("not from -200 dB to 200 dB", "Write a level between them", '"8 dB"')
    return snr


def _a_block(size: Size) -> Size:
    if not Size(1) <= size <= LARGEST_BLOCK:
        raise fault("not the size of a block", 'Write "1 B" to "65535 B"', '"1500 B"')
    return size


Wait = Annotated[PositiveDuration, AfterValidator(_at_most_an_hour)]


class AttemptErrors(Model):
    """How likely attempts fail, from an error-rate table, with what the receiver combines.

    After n attempts a block is not decoded with the error rate at n times the SNR (chase combining:
    the SNRs of attempts add up) or at the SNR with n times the capacity (incremental redundancy:
    the capacities do). Without combining each attempt is by itself.

    Parameters
    ----------
    table : str
        Error-rate table: a path from the scenario file's folder, or ``airpath:NAME`` for one that
        comes with Airpath (see `airpath.scenario.tables`).
    mcs : str or int
        The MCS of all attempts: its name in the error-rate table, or its place there, from 0.
    snr : Decibels
        SNR of each attempt, -200 to 200 dB.
    combining : {"none", "chase", "incremental"}
        What the receiver makes of several attempts. Default chase.
    block : Size
        The block whose error rate it is, 1 to 65535 B. Default 1500 B.
    """

    table: TableName = Field(examples=['"airpath:802.16-ctc-awgn"'])
    mcs: Mcs = Field(examples=['"mcs0"'])
    snr: Annotated[Decibels, AfterValidator(_level)] = Field(examples=['"1.8 dB"'])
    combining: Annotated[str, choice("none", "chase", "incremental")] = "chase"
    block: Annotated[Size, AfterValidator(_a_block)] = Size(1500)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; `table` is the key under which the table is handed over."""
        return {
            "table": context.table_key(self.table, (*path, "table")),
            "mcs": self.mcs,
            "snr_db": float(self.snr),
            "combining": self.combining,
            "block_bytes": int(self.block),
        }


_error_number = number_within(0.0, 1.0, "from 0 to below 1", "0.316", below=True)


def _error(value: Any, info: ValidationInfo) -> float | AttemptErrors:
    if isinstance(value, (AttemptErrors, Mapping)):
        return AttemptErrors.model_validate(value, context=info.context)
    return _error_number(value)


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    AttemptError = Takes[float | Mapping[str, Any] | AttemptErrors, float | AttemptErrors]
else:
    AttemptError = Annotated[float | AttemptErrors, PlainValidator(_error)]


class Harq(Model):
    """Repetitions of a block that was not received, a round trip apart (wimax-2009 §5.1).

    An attempt fails by `error`, and by whatever the link loses. A repetition takes time, not room.

    Parameters
    ----------
    attempts : int
        How often a block is sent at most, from 1.
    error : float or AttemptErrors
        Probability that an attempt fails, from 0 to below 1, each by itself; or that of an
        error-rate table, ``{table = "airpath:802.16-ctc-awgn", mcs = "mcs0", snr = "1.8 dB"}``.
        Default 0.
    round_trip : Duration
        From one attempt to the next, above 0, up to 1 h.
    processes : int, optional
        Stop-and-wait processes, from 1: a block occupies one from its first attempt until the
        feedback on its last, a round trip later, and a new block waits for a free one. Default: as
        many as it takes.
    """

    attempts: Count = Field(examples=["4"])
    error: AttemptError = usual(0.0)
    round_trip: Wait = Field(examples=['"30 ms"'])
    processes: Maybe[Count] = ABSENT


class Arq(Model):
    """A second loop, which receives what HARQ has given up (wimax-2009 §5.1).

    Without HARQ it receives what the link has lost. It never fails, and takes time, not room.

    Parameters
    ----------
    delay : Duration
        From the last failed attempt to the reception, above 0, up to 1 h.
    """

    delay: Wait = Field(examples=['"100 ms"'])
