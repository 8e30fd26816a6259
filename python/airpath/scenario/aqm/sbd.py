"""Queue disciplines for the buffer of a radio bearer, with parameters per link rate."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from airpath.scenario.aqm.queues import QueueDisc
from airpath.scenario.base import ListOf, Model, usual
from airpath.scenario.units import Duration, Rate
from airpath.scenario.values import PacketCount, Real, Truth, choice

__all__ = ["RlcRed", "RlcRedRow", "Sbd", "SbdRow"]


class SbdRow(Model):
    """Parameters of `Sbd` from one link rate up to the rate of the next row.

    Parameters
    ----------
    rate : Rate
        The lowest link rate of the row, above 0.
    min_th : int
        minth, packets, from 0 and at most the limit.
    reaction_time : Duration
        T_r, above 0.
    """

    rate: Rate = Field(examples=['"384 kbit/s"'])
    min_th: PacketCount = Field(examples=["20"])
    reaction_time: Duration = Field(examples=['"200 ms"'])


class RlcRedRow(Model):
    """Parameters of `RlcRed` from one link rate up to the rate of the next row.

    Parameters
    ----------
    rate : Rate
        The lowest link rate of the row, above 0.
    min_th : int
        min_th, packets, from 0 and below the limit; no packet is dropped below `min_th`.
    max_p : float
        max_p, in [0, 1]: the drop probability that would be reached at the limit.
    """

    rate: Rate = Field(examples=['"384 kbit/s"'])
    min_th: PacketCount = Field(examples=["20"])
    max_p: Real = Field(examples=["0.05"])


class Sbd(QueueDisc):
    """Slope Based Discard: a drop at the front when the buffer fills too fast (sbd-2006 §3).

    Parameters
    ----------
    limit : int
        maxth, from 1: largest number of packets in the queue and in the link together. Default 40
        (sbd-2006 §5).
    min_th : int
        minth, packets, from 0 and at most `limit`; no packet is dropped below `min_th`. Default 20
        (sbd-2006 Table 3, 384 kbit/s).
    reaction_time : Duration
        T_r, time until a drop reduces the buffer occupancy, above 0. Default 200 ms (sbd-2006 Table
        3, 384 kbit/s).
    alpha : int
        alpha, packets, from 1: the growth of the buffer occupancy over which the slope is measured.
        Default 5 (sbd-2006 §5).
    tick : Duration
        Time step, above 0. The measuring time C and T_r are rounded up to multiples of it. Default
        10 ms, a TTI (sbd-2006 §3).
    expiry : {"timer", "arrival"}
        Event at which the occupancy is examined: the expiry of a timer, or the first arrival after
        the expiry. Default timer (sbd-2006 §3, pseudocode).
    after_drop : {"react", "rearm"}
        Action after a drop. ``"react"``: measure again after a pause of T_r, as in the paper's
        text. ``"rearm"``: start a new measuring time C immediately, as in the paper's pseudocode.
        Default react (sbd-2006 §3, text).
    ecn : bool
        Mark an ECN-capable packet instead of dropping it, below the limit. Default False.
    by_rate : list of SbdRow
        `min_th` and `reaction_time` per link rate. The row with the largest rate not above the
        link's rate applies. If all rows have a higher rate, the row with the lowest rate applies.
        Each rate may occur only once. Default none: the values do not depend on the rate.
    """

    own_keys = ("alpha",)

    kind: Literal["sbd"] = "sbd"
    limit: PacketCount = usual(40)
    min_th: PacketCount = usual(20)
    reaction_time: Duration = Duration.parse("200 ms")
    alpha: PacketCount = usual(5)
    tick: Duration = Duration.parse("10 ms")
    expiry: Annotated[str, choice("timer", "arrival")] = "timer"
    after_drop: Annotated[str, choice("react", "rearm")] = "react"
    ecn: Truth = False
    by_rate: ListOf[SbdRow] = Field(
        default=usual([]),
        examples=['[{rate = "384 kbit/s", min_th = 20, reaction_time = "200 ms"}]'],
    )


class RlcRed(QueueDisc):
    """RED on the instantaneous occupancy of a radio bearer's buffer, with front drops (sbd-2006).

    Parameters
    ----------
    limit : int
        max_th, from 1: largest number of packets in the queue and in the link together. Default 40
        (sbd-2006 §5).
    min_th : int
        min_th, packets, from 0 and below `limit`; no packet is dropped below `min_th`. Default 20
        (sbd-2006 Table 5, 384 kbit/s).
    max_p : float
        max_p, in [0, 1]: the drop probability that would be reached at `limit`. Default 0.05
        (sbd-2006 Table 5, 384 kbit/s).
    count : bool
        True: the count of arrivals since the last drop raises the drop probability, so that drops
        are evenly spaced (Floyd & Jacobson 1993). False: drops are independent. Default True (Floyd
        & Jacobson 1993 Fig. 2).
    drop : {"front", "arrival"}
        Packet to drop: the first packet whose transmission has not started, or the arriving packet.
        Default front, as for SBD.
    ecn : bool
        Mark an ECN-capable packet instead of dropping it. Default False.
    by_rate : list of RlcRedRow
        `min_th` and `max_p` per link rate. The row with the largest rate not above the link's rate
        applies. If all rows have a higher rate, the row with the lowest rate applies. Each rate may
        occur only once. Default none: the values do not depend on the rate.
    """

    kind: Literal["rlc-red"] = "rlc-red"
    limit: PacketCount = usual(40)
    min_th: PacketCount = usual(20)
    max_p: Real = 0.05
    count: Truth = True
    drop: Annotated[str, choice("front", "arrival")] = "front"
    ecn: Truth = False
    by_rate: ListOf[RlcRedRow] = Field(
        default=usual([]),
        examples=['[{rate = "384 kbit/s", min_th = 20, max_p = 0.05}]'],
    )
