"""Parameters of retransmissions on a link by HARQ and ARQ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PlainValidator, ValidationInfo

from airpath.scenario.base import ABSENT, Context, Maybe, Model, Path, usual
from airpath.scenario.decibels import Decibels
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import Mcs, Number, TableName, choice, real

__all__ = ["Arq", "AttemptErrors", "Harq"]


class AttemptErrors(Model):
    """Error probability of each HARQ attempt, from an error-rate table and the combining.

    The probability that a block is not decoded after n attempts depends on the combining. With
    chase combining, the SNRs of the attempts add up, so that this probability is the error rate at
    n times the SNR. With incremental redundancy, the capacities add up. Without combining, the
    attempts fail independently.

    Parameters
    ----------
    table : str
        Error-rate table: a path from the scenario file's directory, or ``airpath:NAME`` for a table
        that comes with Airpath (see `airpath.scenario.tables`).
    mcs : str or int
        The MCS of all attempts: its name in the error-rate table, or its index there, from 0.
    snr : Decibels
        SNR of each attempt, -200 to 200 dB.
    combining : {"none", "chase", "incremental"}
        How the receiver combines the attempts of a block. Default chase.
    block : Size
        Size of the block whose error rate is used, 1 to 65535 B. Default 1500 B.
    """

    table: TableName = Field(examples=['"airpath:802.16-ctc-awgn"'])
    mcs: Mcs = Field(examples=['"mcs0"'])
    snr: Decibels = Field(examples=['"1.8 dB"'])
    combining: Annotated[str, choice("none", "chase", "incremental")] = "chase"
    block: Size = Size(1500)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; `table` is the engine's name of the error-rate table."""
        return {
            "table": context.table_key(self.table, (*path, "table")),
            "mcs": self.mcs,
            "snr_db": float(self.snr),
            "combining": self.combining,
            "block_bytes": int(self.block),
        }


def _error(value: Any, info: ValidationInfo) -> float | AttemptErrors:
    if isinstance(value, (AttemptErrors, Mapping)):
        return AttemptErrors.model_validate(value, context=info.context)
    return real(value)


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    AttemptError = Takes[float | Mapping[str, Any] | AttemptErrors, float | AttemptErrors]
else:
    AttemptError = Annotated[float | AttemptErrors, PlainValidator(_error)]


class Harq(Model):
    """HARQ: retransmits a corrupted block after a radio round trip (wimax-2009 §5.1).

    An attempt fails with probability `error`, or because the link loses it. A retransmission takes
    time but no capacity.

    Parameters
    ----------
    attempts : int
        Largest number of transmissions of a block, from 1.
    error : float or AttemptErrors
        Probability that an attempt fails, from 0 to below 1, with independent attempts. Or a table
        that selects the probability from an error-rate table:
        ``{table = "airpath:802.16-ctc-awgn", mcs = "mcs0", snr = "1.8 dB"}``. Default 0.
    round_trip : Duration
        Time from one attempt to the next, above 0, up to 1 h.
    processes : int, optional
        Number of stop-and-wait processes, from 1. A block occupies a process from its first attempt
        until the feedback on its last attempt, one round trip later; a new block waits for a free
        process. Default: unlimited.
    """

    attempts: Number = Field(examples=["4"])
    error: AttemptError = usual(0.0)
    round_trip: Duration = Field(examples=['"30 ms"'])
    processes: Maybe[Number] = ABSENT


class Arq(Model):
    """ARQ: retransmits the blocks that HARQ has discarded (wimax-2009 §5.1).

    Without HARQ, ARQ retransmits the packets that the link has lost. A retransmission always
    succeeds. It takes time but no capacity.

    Parameters
    ----------
    delay : Duration
        Time from the last failed attempt to the reception, above 0, up to 1 h.
    """

    delay: Duration = Field(examples=['"100 ms"'])
