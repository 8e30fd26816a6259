"""The queue discipline DualPI2."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import model_validator
from typing_extensions import Self

from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.base import Context, Path, usual
from airpath.scenario.typed import ABSENT, Maybe
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import Number, PacketCount, Real, Truth, choice

__all__ = ["DualPi2"]

DECISIONS = choice("spaced", "random")
DUALPI2_LINUX = {
    "update": Duration.parse("16 ms"),
    "alpha": 41 / 256,
    "beta": 819 / 256,
    "ramp_start": Duration.parse("1 ms"),
    "ramp": Duration(0),
    "th_len": 0,
    "decisions": "random",
}
"""Defaults of `DualPi2` with ``profile = "linux"`` that differ from those of RFC 9332."""


class DualPi2(QueueDisc):
    """DualPI2: a low-latency and a classic queue, coupled for equal flow rates (RFC 9332).

    Packets with ECT(1) or CE go into the low-latency (L) queue, all others into the classic queue.

    Parameters
    ----------
    profile : {"rfc", "linux"}
        Source of the values of unset keys: RFC 9332 Appendix A.1, or Linux 6.17 (sch_dualpi2),
        whose values are stated where they differ. Default rfc (RFC 9332).
    limit : int
        Largest total number of packets in both queues, from 1. Default 10000 (Linux).
    target : Duration
        Target delay of the classic queue, above 0. Default 15 ms (RFC 9332 Appendix A.1).
    update : Duration
        Tupdate, time between updates of the probability, above 0. Linux: 16 ms. Default 15 ms, the
        smaller of `target` and a third of an RTT of 100 ms (RFC 9332 Appendix A.1).
    alpha : float
        Gain of the difference between delay and `target`, 1/s, from 0. Linux: 41/256. Default 0.15,
        which is 0.1 Tupdate / RTT² for an RTT of 100 ms (RFC 9332 Appendix A.1).
    beta : float
        Gain of the change of the delay since the last update, 1/s, from 0. Linux: 819/256. Default
        3, which is 0.3 / RTT (RFC 9332 Appendix A.1).
    coupling : float
        k, ratio of the L queue's probability to the base probability, above 0. Default 2
        (RFC 9332 Appendix A.1).
    ramp_start : Duration
        minTh, sojourn time in the L queue above which packets are marked. Linux: 1 ms. Default
        800 us (RFC 9332 Appendix A.1).
    ramp : Duration
        Sojourn time beyond `ramp_start` from which all packets are marked; 0 s gives a step. Linux:
        0 s. Default 400 us (RFC 9332 Appendix A.1).
    step_packets : int, optional
        Step in packets, from 0, which replaces `ramp_start` and `ramp`: a departing packet is
        marked if more than this number of packets remain in the L queue. Default: the ramp.
    min_qlen_step : int
        The ramp or step applies to a packet if at least this number of packets, from 0, waited in
        the L queue when it arrived. Default 0 (Linux).
    th_len : int
        The ramp or step applies to a departing packet if at least this number of packets, from 0,
        remain in the L queue. Linux: 0. Default 1 (RFC 9332 Appendix A.1).
    decisions : {"spaced", "random"}
        Packets that a probability marks or drops: evenly spaced ones, or independent random ones.
        Linux: random. Default spaced (RFC 9332 Appendix A.1).
    drop_early : bool
        True: the base probability decides about a packet on arrival. False: on departure. Default
        False (Linux).
    drop_overload : bool
        True: on overload, both queues also drop ECN-capable packets. False: the base probability is
        at most 1/k, and only `limit` drops these packets. Default True (RFC 9332 Appendix A.2).
    time_shift : Duration, optional
        Time by which a packet of the L queue may have arrived later than a classic packet and still
        be served first (time-shifted FIFO), from 0. Default: weighted round robin instead.
    classic_percent : int
        Weighted round robin: share of the link for the classic queue while both queues are
        backlogged, per cent, 1 to 99. Default 10 (Linux).
    mtu : Size
        Size of a large packet, above 0: the base probability applies to a backlog of at least two
        large packets, and the initial credit of the weighted round robin is proportional to this
        size. Default 1500 B.
    any_ect : bool
        Put every ECN-capable packet into the L queue. This serves scalable congestion control
        algorithms that send ECT(0), such as DCTCP. Default False (RFC 9331).
    """

    own_keys = ("alpha", "beta", "profile")
    alternatives = (
        ("step_packets", "ramp_start"),
        ("step_packets", "ramp"),
        ("time_shift", "classic_percent"),
    )

    always_marks: ClassVar[bool] = True
    kind: Literal["dualpi2"] = "dualpi2"
    profile: Annotated[str, choice("rfc", "linux")] = "rfc"
    limit: PacketCount = usual(10_000)
    target: Duration = Duration.parse("15 ms")
    update: Duration = Duration.parse("15 ms")
    alpha: Real = 0.15
    beta: Real = 3.0
    coupling: Real = 2.0
    ramp_start: Duration = Duration.parse("800 us")
    ramp: Duration = Duration.parse("400 us")
    step_packets: Maybe[Number] = ABSENT
    min_qlen_step: Number = 0
    th_len: Number = 1
    decisions: Annotated[str, DECISIONS] = "spaced"
    drop_early: Truth = False
    drop_overload: Truth = True
    time_shift: Maybe[Duration] = ABSENT
    classic_percent: Number = 10
    mtu: Size = Size(1500)
    any_ect: Truth = False

    @model_validator(mode="after")
    def _apply_profile(self) -> Self:
        """Replace the defaults of unset keys by those of the profile."""
        if self.profile == "linux":
            unset = DUALPI2_LINUX.keys() - self.model_fields_set
            self.__dict__.update({key: DUALPI2_LINUX[key] for key in unset})
        return self

    def _unused(self) -> set[str]:
        """Return the unset keys of the rules that are not selected."""
        marks = {"step_packets"} if self.step_packets is None else {"ramp_start", "ramp"}
        service = {"time_shift"} if self.time_shift is None else {"classic_percent"}
        return (marks | service) - self.model_fields_set

    def document(self) -> dict[str, Any]:
        """Return the table as plain values for a TOML file, without keys that have no effect."""
        unused = self._unused()
        return {key: value for key, value in super().document().items() if key not in unused}

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form: the values of the profile, without its name.

        Keys that have no effect are omitted, unless they are set; the engine rejects them.
        """
        omitted = self._unused() | {"profile"}
        entries = super().resolved(context, path)
        entries = {k: v for k, v in entries.items() if k.removesuffix("_ns") not in omitted}
        return {key: value for key, value in entries.items() if value is not None}
