"""Queue disciplines (drop-tail and AQM), one class for each."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from airpath.scenario.base import Component, Context, Path, usual
from airpath.scenario.faults import fault, faults_at
from airpath.scenario.typed import ABSENT, Maybe
from airpath.scenario.units import Duration, Packets, Size
from airpath.scenario.values import (
    AUTOMATIC,
    AutomaticPacketCount,
    AutomaticReal,
    Number,
    PacketCount,
    QueueLimit,
    Real,
    Truth,
    choice,
)

__all__ = [
    "Ared",
    "CoDel",
    "DropTail",
    "FqCoDel",
    "Gred",
    "Pie",
    "QueueDisc",
    "Red",
]


class QueueDisc(Component):
    """A queue discipline, selected by `kind`. Queue lengths exclude the packet in transmission."""

    family = "a queue discipline"
    engine_family = "aqm"
    compared_keys = ("limit",)
    always_marks: ClassVar[bool] = False
    """True if the discipline always writes into the ECN field and therefore has no key `ecn`."""
    ends: ClassVar[str | None] = None
    """Name of the TCP endpoints that the discipline requires, for messages; None for any."""
    key_labels = {
        "limit": "queue limit",
        "max_p": "largest drop probability",
        "max_th": "upper threshold",
        "min_th": "lower threshold",
        "target": "target delay",
    }

    @property
    def prices(self) -> bool:
        """True if the discipline, or an inner one, writes a price into departing packets."""
        return False

    @property
    def puts_acks_ahead(self) -> bool:
        """True if the discipline, or an inner one, sends ACKs before other packets."""
        return False


class DropTail(QueueDisc):
    """First-in first-out queue that drops an arriving packet if it would exceed the limit.

    Parameters
    ----------
    limit : Packets or Size
        Longest queue, in packets or in bytes of IP packets, above 0. Default 100 packets, a common
        choice in simulations; set it to the limit of your device.
    """

    kind: Literal["droptail"] = "droptail"
    limit: QueueLimit = usual(Packets(100))

    @classmethod
    def adopted(cls, key: str, value: Any) -> Any:
        """Add the unit packets to a limit without unit from another discipline."""
        return f"{value} packets" if key == "limit" and isinstance(value, int) else value

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; the limit is a table with its unit as the key."""
        unit = "packets" if isinstance(self.limit, Packets) else "bytes"
        return {"kind": self.kind, "limit": {unit: int(self.limit)}}


class Gred(QueueDisc):
    """Gentle RED on the instantaneous queue, with independent drops (qawla-2015 eq. 1).

    The drop curve itself limits the queue to ``2 max_th`` packets.

    Parameters
    ----------
    min_th : int
        th_min, packets, from 0. No packet is dropped below `min_th`. Default 30 (qawla-2015 §4).
    max_th : int
        th_max, packets, above `min_th`: the drop probability is `max_p` at `max_th` and reaches 1
        at twice `max_th`. Default 90 (qawla-2015 §4).
    max_p : float
        p_max, the drop probability at `max_th`, in [0, 1]. Default 0.1 (qawla-2015 §4).
    ecn : bool
        Mark ECN-capable packets instead of dropping them. Default False, as in qawla-2015.
    """

    kind: Literal["gred"] = "gred"
    min_th: PacketCount = usual(30)
    max_th: PacketCount = usual(90)
    max_p: Real = 0.1
    ecn: Truth = False


class _AutomaticRed(QueueDisc):
    """Base class of RED and ARED, which can derive thresholds and weight from the link's rate."""

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; automatic values, which the engine derives, are null."""
        entries = super().resolved(context, path)
        return {key: None if value == AUTOMATIC else value for key, value in entries.items()}


class Red(_AutomaticRed):
    """Random drops by the average queue length (Floyd & Jacobson 1993).

    Parameters
    ----------
    limit : int
        Most packets in the queue, from 1. Default 100, as for drop-tail.
    min_th : int or "automatic"
        Average queue below which no packet is dropped, packets, from 0. Default 5 (Floyd & Jacobson
        1993, ns-3). Automatic: half of `target_delay` at the link's rate, at least 5 (Floyd,
        Gummadi & Shenker 2001).
    max_th : int or "automatic"
        Average queue at which the drop probability is `max_p`, packets, above `min_th`. Default 15
        (Floyd & Jacobson 1993, ns-3). Automatic: 3 `min_th`.
    max_p : float
        Probability p_b at `max_th`, in [0, 1]. Default 0.1 (Floyd 1997, ns-2); 0.02 in Floyd &
        Jacobson 1993.
    weight : float or "automatic"
        w_q, the weight of a sample in the average, in (0, 1]. Default 0.002 (Floyd & Jacobson
        1993, ns-3). Automatic: 1 - exp(-1/C) for a link of C packets/s (Floyd, Gummadi & Shenker
        2001).
    target_delay : Duration
        Queueing delay from which an automatic `min_th` is computed, from 0. Default 5 ms (Floyd,
        Gummadi & Shenker 2001).
    mean_packet : Size
        Size of an IP packet that converts the link's rate into packets/s, above 0. Default 500 B
        (ns-2, ns-3); set it to the size of your packets.
    gentle : bool
        True: the probability rises to 1 between `max_th` and twice `max_th`. False: it is 1 from
        `max_th` on. Default True (Floyd 2000); RED of Floyd & Jacobson 1993 is not gentle.
    wait : bool
        Wait at least 1/p_b arrivals after a drop before the next drop. Default True (ns-2, ns-3);
        RED of Floyd & Jacobson 1993 does not wait.
    ecn : bool
        Mark ECN-capable packets instead of dropping them, where p_b < 1. Default False (ns-2,
        ns-3).
    hard_drop : bool
        True: drop ECN-capable packets where p_b = 1. False: mark them there too. Default True
        (Floyd & Jacobson 1993, RFC 3168 §7, ns-3). A step at K packets, as DCTCP requires, is
        ``min_th = K``, ``max_th = K + 1``, ``weight = 1``, ``gentle = false``, ``ecn = true``,
        ``hard_drop = false``.
    variant : {"red-1993", "ns"}
        Rule that decides which arrivals are exempt from random drops and which are counted: the
        rule of Floyd & Jacobson 1993, or the rule of ns-2 and ns-3. Default red-1993 (Floyd &
        Jacobson 1993 §7).
    """

    kind: Literal["red"] = "red"
    limit: PacketCount = usual(100)
    min_th: AutomaticPacketCount = usual(5)
    max_th: AutomaticPacketCount = usual(15)
    max_p: Real = 0.1
    weight: AutomaticReal = 0.002
    target_delay: Duration = Duration.parse("5 ms")
    mean_packet: Size = Size(500)
    gentle: Truth = True
    wait: Truth = True
    ecn: Truth = False
    hard_drop: Truth = True
    variant: Annotated[str, choice("red-1993", "ns")] = "red-1993"


class Ared(_AutomaticRed):
    """Adaptive RED: gentle RED that adapts `max_p` to the load (Floyd, Gummadi & Shenker 2001).

    Parameters
    ----------
    limit : int
        Most packets in the queue, from 1. Default 100, as for drop-tail.
    min_th : int or "automatic"
        Average queue below which no packet is dropped, packets, from 0. Automatic: half of
        `target_delay` at the link's rate, at least 5. Default automatic (Floyd, Gummadi & Shenker
        2001 §5).
    max_th : int or "automatic"
        Average queue at which the drop probability is `max_p`, packets, above `min_th`. Automatic:
        3 `min_th`. Default automatic (Floyd, Gummadi & Shenker 2001 §5).
    max_p : float
        Initial probability p_b at `max_th`, in [0, 1]. Default 0.1 (ns-2's RED).
    weight : float or "automatic"
        w_q, the weight of a sample in the average, in (0, 1]. Automatic: 1 - exp(-1/C) for a link
        of C packets/s. Default automatic (Floyd, Gummadi & Shenker 2001 §5).
    target_delay : Duration
        Queueing delay from which an automatic `min_th` is computed, from 0. Default 5 ms (Floyd,
        Gummadi & Shenker 2001).
    mean_packet : Size
        Size of an IP packet that converts the link's rate into packets/s, above 0. Default 500 B
        (ns-2, ns-3); set it to the size of your packets.
    interval : Duration
        Time between adaptations, above 0. Default 500 ms (Floyd, Gummadi & Shenker 2001 §4).
    wait : bool
        Wait at least 1/p_b arrivals after a drop before the next drop. Default True (ns-2, the
        simulator of the source).
    ecn : bool
        Mark ECN-capable packets instead of dropping them, where p_b < 1. Default False, as for RED.
    """

    own_keys = ("interval",)

    kind: Literal["ared"] = "ared"
    limit: PacketCount = usual(100)
    min_th: AutomaticPacketCount = usual("automatic")
    max_th: AutomaticPacketCount = usual("automatic")
    max_p: Real = 0.1
    weight: AutomaticReal = "automatic"
    target_delay: Duration = Duration.parse("5 ms")
    mean_packet: Size = Size(500)
    interval: Duration = Duration.parse("500 ms")
    wait: Truth = True
    ecn: Truth = False


class _CeThreshold(QueueDisc):
    """Base class of the disciplines with Linux's CE threshold."""

    def _check_alternatives(self) -> None:
        super()._check_alternatives()
        if getattr(self, "ce_threshold_ect1", False) and self._effective("ce_threshold") is None:
            wrong = fault("has no effect without ce_threshold", "Set ce_threshold, or remove it")
            raise faults_at((("ce_threshold_ect1",), True, wrong))

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; without a threshold, both of its keys are omitted."""
        entries = super().resolved(context, path)
        if entries.get("ce_threshold_ns") is None:
            entries = {k: v for k, v in entries.items() if not k.startswith("ce_threshold")}
        return entries


class CoDel(_CeThreshold):
    """CoDel: drops at the head if sojourn times stay above a target for an interval (RFC 8289).

    Parameters
    ----------
    limit : int
        Most packets in the queue, from 1. Default 1000 (Linux, ns-3).
    target : Duration
        Acceptable standing sojourn time, above 0. Default 5 ms (RFC 8289 §4.4).
    interval : Duration
        Time for which sojourn times must be at or above `target` before the first drop, above 0;
        about the largest round-trip time. Default 100 ms (RFC 8289 §4.3).
    mtu : Size
        Backlog up to which CoDel drops no packet, bytes of IP packets, from 0. Default 1500 B, the
        MTU of Ethernet.
    ecn : bool
        Mark ECN-capable packets instead of dropping them. Default False (Linux).
    ce_threshold : Duration, optional
        Sojourn time above which ECN-capable packets are marked, independently of CoDel's signals
        (Linux). Default: no threshold.
    ce_threshold_ect1 : bool
        Apply `ce_threshold` only to packets with ECT(1), as Linux with a selector of ECT(1) does.
        Default False (Linux).
    """

    kind: Literal["codel"] = "codel"
    limit: PacketCount = usual(1000)
    target: Duration = Duration.parse("5 ms")
    interval: Duration = Duration.parse("100 ms")
    mtu: Size = Size(1500)
    ecn: Truth = False
    ce_threshold: Maybe[Duration] = ABSENT
    ce_threshold_ect1: Truth = False


class Pie(QueueDisc):
    """PIE: random drops on arrival with a probability that follows the delay (RFC 8033).

    Parameters
    ----------
    limit : int
        Most packets in the queue, from 1. Default 1000 (Linux).
    target : Duration
        QDELAY_REF, the target queueing delay, above 0. Default 15 ms (RFC 8033 §4.2).
    update : Duration
        T_UPDATE, time between updates of the probability, above 0. Default 15 ms (RFC 8033 §4.2).
    alpha : float
        Gain of the difference between delay and `target`, 1/s, from 0. Default 0.125 (RFC 8033
        §4.2).
    beta : float
        Gain of the change of the delay since the last update, 1/s, from 0. Default 1.25 (RFC 8033
        §4.2).
    max_burst : Duration
        MAX_BURST, length of a burst without drops that follows a period without congestion, from 0.
        Default 150 ms (RFC 8033 §4.4).
    mean_packet : Size
        MEAN_PKTSIZE, bytes of IP packets, from 0. No packet is dropped while the backlog is at most
        twice this size. Default 1500 B, the MTU, as in Linux.
    delay_estimate : {"timestamps", "departure-rate"}
        Estimate of the queueing delay: the sojourn time of the last departure, or the backlog
        divided by the departure rate. Default timestamps (RFC 8033 Appendix A).
    derandomise : bool
        Space drops more evenly (RFC 8033 §5.4). Default False (RFC 8033 Appendix A).
    ecn : bool
        Mark ECN-capable packets instead of dropping them, up to `ecn_threshold`. Default False
        (Linux).
    ecn_threshold : float
        Drop probability, in [0, 1], above which ECN-capable packets are dropped, not marked.
        Default 0.1 (RFC 8033 §5.1).
    """

    own_keys = ("alpha", "mean_packet")

    kind: Literal["pie"] = "pie"
    limit: PacketCount = usual(1000)
    target: Duration = Duration.parse("15 ms")
    update: Duration = Duration.parse("15 ms")
    alpha: Real = 0.125
    beta: Real = 1.25
    max_burst: Duration = Duration.parse("150 ms")
    mean_packet: Size = Size(1500)
    delay_estimate: Annotated[str, choice("timestamps", "departure-rate")] = "timestamps"
    derandomise: Truth = False
    ecn: Truth = False
    ecn_threshold: Real = 0.1


class FqCoDel(_CeThreshold):
    """FQ-CoDel: a CoDel queue per flow, served round robin with new flows first (RFC 8290).

    Parameters
    ----------
    limit : int
        Largest total number of packets in all queues, from 1. Default 10240 (RFC 8290 §5.2).
    flows : int
        Number of queues, 1 to 65535. Flows whose hashes collide share a queue. Default 1024 (RFC
        8290 §5.2).
    quantum : Size
        Bytes of IP packets that a queue may send per round, 256 B to 4 GB. Default 1514 B
        (RFC 8290 §5.2).
    target : Duration
        CoDel's acceptable standing sojourn time, above 0. Default 5 ms (RFC 8290 §5.2).
    interval : Duration
        Time for which sojourn times must be at or above `target` before the first drop, above 0.
        Default 100 ms (RFC 8290 §5.2).
    mtu : Size
        Backlog of a flow queue up to which CoDel drops no packet, bytes of IP packets, from 0.
        Default 1500 B, as for CoDel.
    ecn : bool
        Mark ECN-capable packets instead of dropping them. Default True (RFC 8290 §5.2).
    ce_threshold : Duration, optional
        Sojourn time above which ECN-capable packets are marked, independently of CoDel's signals
        (Linux). Default: no threshold.
    ce_threshold_ect1 : bool
        Apply `ce_threshold` only to packets with ECT(1), as Linux with a selector of ECT(1) does.
        Default False (Linux).
    """

    kind: Literal["fq-codel"] = "fq-codel"
    limit: PacketCount = usual(10_240)
    flows: Number = 1024
    quantum: Size = Size(1514)
    target: Duration = Duration.parse("5 ms")
    interval: Duration = Duration.parse("100 ms")
    mtu: Size = Size(1500)
    ecn: Truth = True
    ce_threshold: Maybe[Duration] = ABSENT
    ce_threshold_ect1: Truth = False
