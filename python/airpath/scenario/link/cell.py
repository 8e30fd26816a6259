"""The cell: one radio channel in slots, a queue for each user, and a scheduler."""

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
    """The rate that a slot of a cell is given; `kind` says by what."""

    family = "a rate of slots"


class Shannon(SlotRate):
    """The capacity at the SNR of the slot's start, W log(1 + (1 - m) N) (clamp-2008 eq. 18).

    A slot fails when the capacity at the SNR of its end is below that rate; m is the `margin` of
    the cell.

    Parameters
    ----------
    bandwidth : Frequency
        W, above 0.
    cap : Rate, optional
        The largest rate, above 0. Default: none.
    log : {"binary", "natural"}
        Base of the logarithm: 2, or e. Default ``"binary"``: with it both presets of the paper
        have a largest rate that is the capacity at the mean SNR.
    """

    kind: Literal["shannon"] = "shannon"
    bandwidth: Frequency = Field(examples=['"4.3 MHz"'])
    cap: Maybe[Rate] = ABSENT
    log: Annotated[str, choice("binary", "natural")] = "binary"

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, the bandwidth in Hz."""
        cap = None if self.cap is None else int(self.cap)
        bandwidth_hz = self.bandwidth.si()
        return {
            "kind": self.kind,
            "bandwidth_hz": bandwidth_hz,
            "cap_bps": cap,
            "log": self.log,
        }


class McsRate(SlotRate):
    """The rate of the scheme of an error-rate table that is expected to deliver most in a slot.

    Expected at the share 1 - m of the SNR at the slot's start, m the `margin` of the cell. A slot
    fails with the scheme's error rate at the SNR of its end.

    Parameters
    ----------
    table : str
        Error-rate table: a path from the scenario file's directory, or ``airpath:NAME`` for one
        that comes with Airpath (see `airpath.scenario.tables`).
    bandwidth : Frequency, optional
        W, above 0; a scheme carries W times its bits per symbol times its code rate. Default: the
        schemes have the rates of the table.
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
    """A margin that finds the share of packets that are given up (clamp-2008 §5.2).

    A packet that is given up adds δ(1 - p*) to the margin of the cell, one that is delivered takes
    δp* away; δ is 0.1 until the 10th loss, 0.02 until the 40th, then 0.002. The margin begins at 0,
    or at `least` where that is above, and stays from `least` to 0.95.

    Parameters
    ----------
    target_loss : float
        p*, above 0 and below 1. The paper's is 0.001.
    least : float
        Lower bound of the margin, from -4 to 0.95. Default -4.
    per_user : bool, optional
        Whether each user has a margin that follows the user's own packets, instead of one margin
        for the cell. Default: False.
    """

    target_loss: Real = Field(examples=["0.001"])
    least: Real = -4.0
    per_user: Maybe[Truth] = ABSENT

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; without `per_user` unless it is set."""
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
    """Parameters that differ for one user of a cell.

    Parameters
    ----------
    user : int
        Its number, from 0. Flows must have it.
    weight : float
        w in the scheduler's utility, above 0. Default 1.
    snr : SnrProcess, optional
        Its SNR. Default: that of the cell.
    """

    user: Number = Field(examples=["0"])
    weight: Real = 1.0
    snr: Maybe[SnrProcess] = ABSENT

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; without `snr`, the key is absent."""
        entries = super().resolved(context, path)
        if self.snr is None:
            del entries["snr"]
        return entries


class Cell(Link):
    """A fading cell: slots, a queue for each user, and a scheduler (clamp-2008 §5.2, §5.3).

    At the start of each slot a scheduler chooses among the users with data. The slot takes as many
    bits of that user's packets as its rate allows, of several packets or of a part of one, and
    fails when the SNR at its end does not carry that rate. Each user has a separate queue with the
    bottleneck's queue discipline; a flow's `user` selects it.

    Parameters
    ----------
    slot : Duration
        Length of a slot, from 1 us up to 1 h. The paper's is 3 ms.
    rate : SlotRate
        The rate of a slot.
    snr : SnrProcess
        The SNR of each user, independent of the others.
    scheduler : Scheduler
        Scheduler that selects the user of each slot. Default ``"proportional-fair"`` (clamp-2008
        §5.3).
    margin : float or AdaptiveMargin
        m: a slot's rate is selected for the share 1 - m of the SNR. From -100 to below 1, or
        ``{target_loss = 0.001}``, which finds it. Default 0.
    attempts : int
        n: after n failed slots of a user in a row, the packets that the last one would have
        completed are discarded. From 1. Default 15 (clamp-2008 §5.4, fast fading).
    harq : {"off", "chase", "incremental"}
        Treatment of a block whose slot has failed: its bits go into new blocks; or it is
        retransmitted, and the SNRs (chase combining) or the capacities (incremental redundancy)
        of its slots add up. Default ``"off"`` (clamp-2008 §5.2).
    users : list of CellUser
        Users that differ. Default none.
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
        """Return the slots of a run."""
        return float(duration_ns / resolved["slot_ns"])
