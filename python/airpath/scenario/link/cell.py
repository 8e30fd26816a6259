"""The cell: a radio channel divided into slots, a queue for each user, and a scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PlainValidator, ValidationInfo

from airpath.scenario.base import (
    ABSENT,
    Component,
    Context,
    ListOf,
    Maybe,
    Model,
    Path,
    usual,
)
from airpath.scenario.link.base import Link
from airpath.scenario.scheduler import ProportionalFair, Scheduler
from airpath.scenario.snr import SnrProcess
from airpath.scenario.units import Duration, Frequency, Rate
from airpath.scenario.values import Number, Real, TableName, Truth, choice, real

__all__ = ["AdaptiveMargin", "Cell", "CellUser", "McsRate", "Shannon", "SlotRate"]


class SlotRate(Component):
    """Formula for the rate of a slot of a cell, chosen by `kind`."""

    family = "a rate of slots"


class Shannon(SlotRate):
    """Shannon capacity W log(1 + (1 - m) N) at the SNR N of the slot's start (clamp-2008 eq. 18).

    m is the `margin` of the cell. A slot fails if the capacity at the SNR of the slot's end is
    below this rate.

    Parameters
    ----------
    bandwidth : Frequency
        W, above 0.
    cap : Rate, optional
        The largest rate, above 0. Default: none.
    log : {"binary", "natural"}
        Base of the logarithm: 2, or e. Default ``"binary"``, because the largest rate in both
        presets of the paper is then the capacity at the mean SNR.
    """

    kind: Literal["shannon"] = "shannon"
    bandwidth: Frequency = Field(examples=['"4.3 MHz"'])
    cap: Maybe[Rate] = ABSENT
    log: Annotated[str, choice("binary", "natural")] = "binary"

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, with the bandwidth in Hz."""
        cap = None if self.cap is None else int(self.cap)
        bandwidth_hz = self.bandwidth.si()
        return {
            "kind": self.kind,
            "bandwidth_hz": bandwidth_hz,
            "cap_bps": cap,
            "log": self.log,
        }


class McsRate(SlotRate):
    """The rate of the MCS in an error-rate table with the largest expected throughput in a slot.

    The expectation uses the fraction 1 - m of the SNR at the slot's start, where m is the `margin`
    of the cell. A slot fails with the error rate of the MCS at the SNR of its end.

    Parameters
    ----------
    table : str
        Error-rate table: a path from the scenario file's directory, or ``airpath:NAME`` for a table
        that comes with Airpath (see `airpath.scenario.tables`).
    bandwidth : Frequency, optional
        W, above 0. The rate of an MCS is then W times its bits per symbol times its code rate.
        Default: the rates in the table.
    """

    kind: Literal["mcs"] = "mcs"
    table: TableName = Field(examples=['"airpath:802.16-ctc-awgn"'])
    bandwidth: Maybe[Frequency] = ABSENT

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; `table` is the key of the table for the engine."""
        return {
            "kind": self.kind,
            "table": context.table_key(self.table, (*path, "table")),
            "bandwidth_hz": None if self.bandwidth is None else self.bandwidth.si(),
        }


class AdaptiveMargin(Model):
    """A margin that adapts to a target share of discarded packets (clamp-2008 §5.2).

    A discarded packet increases the margin of the cell by δ(1 - p*); a delivered packet decreases
    the margin by δp*. The step δ is 0.1 until the 10th loss, then 0.02 until the 40th loss, then
    0.002. The margin starts at the larger of 0 and `least`, and stays between `least` and 0.95.

    Parameters
    ----------
    target_loss : float
        p*, the target share of discarded packets, above 0 and below 1. 0.001 in the paper.
    least : float
        Lower bound of the margin, from -4 to 0.95. Default -4.
    per_user : bool, optional
        True: each user has a separate margin that follows the user's packets, instead of one margin
        for the cell. Default: False.
    """

    target_loss: Real = Field(examples=["0.001"])
    least: Real = -4.0
    per_user: Maybe[Truth] = ABSENT

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; `per_user` is omitted if it is not set."""
        entries = super().resolved(context, path)
        if entries["per_user"] is None:
            del entries["per_user"]
        return entries


def _margin(value: Any, info: ValidationInfo) -> float | AdaptiveMargin:
    if isinstance(value, (AdaptiveMargin, Mapping)):
        return AdaptiveMargin.model_validate(value, context=info.context)
    return real(value)


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    Margin = Takes[float | Mapping[str, Any] | AdaptiveMargin, float | AdaptiveMargin]
else:
    Margin = Annotated[float | AdaptiveMargin, PlainValidator(_margin)]


class CellUser(Model):
    """Parameters of one user of a cell that differ from those of the cell.

    Parameters
    ----------
    user : int
        Index of the user, from 0. At least one flow must belong to this user.
    weight : float
        w in the scheduler's utility, above 0. Default 1.
    snr : SnrProcess, optional
        SNR process of the user. Default: the process of the cell.
    """

    user: Number = Field(examples=["0"])
    weight: Real = 1.0
    snr: Maybe[SnrProcess] = ABSENT

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; `snr` is omitted if it is not set."""
        entries = super().resolved(context, path)
        if self.snr is None:
            del entries["snr"]
        return entries


class Cell(Link):
    """A fading cell: slots, a queue for each user, and a scheduler (clamp-2008 §5.2, §5.3).

    At the start of each slot, a scheduler selects one of the users with data. The slot carries as
    many bits of that user's packets as its rate allows: several packets, or a part of a packet. The
    slot fails if the SNR at its end does not support the rate. Each user has a separate queue with
    the bottleneck's queue discipline; a flow's `user` selects the queue.

    Parameters
    ----------
    slot : Duration
        Length of a slot, from 1 us up to 1 h. 3 ms in the paper.
    rate : SlotRate
        The rate of a slot.
    snr : SnrProcess
        SNR process of each user. The SNRs of different users are independent.
    scheduler : Scheduler
        Scheduler that selects the user of each slot. Default ``"proportional-fair"`` (clamp-2008
        §5.3).
    margin : float or AdaptiveMargin
        m, from -100 to below 1, or an adaptive margin, ``{target_loss = 0.001}``. The rate of a
        slot is selected for the fraction 1 - m of the SNR. Default 0.
    attempts : int
        n, from 1. After n consecutive failed slots of a user, the packets that the last of these
        slots would have completed are discarded. Default 15 (clamp-2008 §5.4, fast fading).
    harq : {"off", "chase", "incremental"}
        Treatment of a block whose slot has failed. ``"off"``: its bits are sent in new blocks.
        Otherwise the block is retransmitted. The receiver adds the SNRs of the block's slots
        (``"chase"``, chase combining) or their capacities (``"incremental"``, incremental
        redundancy). Default ``"off"`` (clamp-2008 §5.2).
    users : list of CellUser
        Users whose parameters differ from the defaults of the cell. Default none.
    delay : Duration
        One-way propagation delay, from 0. Default 0 s.
    errors : ErrorProcess, optional
        Slot errors in addition to those of the fading. Default: none.
    """

    kind: Literal["cell"] = "cell"
    slot: Duration = Field(examples=['"3 ms"'])
    rate: SlotRate = Field(
        examples=['{kind = "shannon", bandwidth = "4.3 MHz", cap = "10 Mbit/s"}']
    )
    snr: SnrProcess = Field(examples=['{kind = "rayleigh", mean = "6 dB", doppler = "60 Hz"}'])
    scheduler: Scheduler = ProportionalFair()
    margin: Margin = usual(0.0)
    attempts: Number = 15
    harq: Annotated[str, choice("off", "chase", "incremental")] = "off"
    users: ListOf[CellUser] = usual([])

    series = frozenset({"snr"})

    @classmethod
    def largest_rate_bps(cls, resolved: Mapping[str, Any]) -> float:
        """Return the largest rate of a slot; 0 without a cap."""
        return float(resolved["rate"].get("cap_bps") or 0)

    @classmethod
    def slots(cls, resolved: Mapping[str, Any], duration_ns: int) -> float:
        """Return the number of slots in a run."""
        return float(duration_ns / resolved["slot_ns"])
