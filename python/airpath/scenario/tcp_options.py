"""The TCP options of a scenario; what is not given comes from a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field, PlainValidator, ValidationInfo

from airpath.scenario.base import ABSENT, Key, Maybe, Model, fault
from airpath.scenario.units import Duration, Segments, Size
from airpath.scenario.values import (
    Count,
    CountOrNone,
    PositiveDuration,
    PositiveFraction,
    PositiveSize,
    Retries,
    Truth,
    choice,
    counted_or_bytes,
)

__all__ = ["SELECTIVE", "TcpOptions"]

RECOVERY = choice("reno", "newreno", "sack", "prr")
GROWTH = choice("bytes", "abc-1", "abc-2", "segments", "per-ack", "per-ack-truncated")
GUARD = choice("off", "rfc", "ns3")
EXIT = choice("burst-safe", "ssthresh")
PARTIAL = choice("first", "each")
SELECTIVE = ("sack", "prr")
"""Recoveries that go with every congestion control."""
FIRST_RTTVAR = choice("half", "full")
ECN = choice("off", "on")
ECN_REACTION = choice("rfc", "cwr")
SCALING = choice("exact", "off", "on")
SACK_AFTER_TIMEOUT = choice("forget", "keep")
IDLE = choice("off", "restart", "decay")
FLOOR = choice("total", "variance")
PROCEDURES = choice("rfc", "ns2", "ns3", "linux")
LOSS_DETECTION = choice("sack", "rack")
PUSH = choice("off", "bursts")
FLIGHT_BOUND = choice("none", "cwnd", "replaced")
PACING = choice("off", "on")


def _ssthresh(value: Any, info: ValidationInfo) -> Any:
    if value is None or (isinstance(value, str) and value == "unlimited"):
        return value
    size = Size._validate(value, info)
    if size == 0:
        raise fault("not above 0", 'Write a size above 0 or "unlimited"', '"64 kB"')
    return size


def _initial_window(value: Any) -> Any:
    """Read a window in bytes or in segments."""
    window = None if value is None else counted_or_bytes(value, Segments, "window")
    if window == 0:
        raise fault("not above 0", "Write a window above 0", '"10 segments"')
    return window


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    InitialWindow = Takes[str | Size | Segments | None, Size | Segments | None]
else:
    InitialWindow = Annotated[
        Size | Segments | None, Key("initial_window"), PlainValidator(_initial_window)
    ]


class TcpOptions(Model):
    """Options of a TCP sender and receiver; what is not given comes from the profile.

    Parameters
    ----------
    mss : Size
        Payload bytes of a full segment, above 0.
    header : Size
        IP and TCP header bytes of each packet, above 0; `mss` + `header` is at most 65535 B.
    initial_window : Size or Segments
        cwnd at the start, above 0; at least `mss` with SACK and `procedures` = "ns3", which never
        sends a part of a segment. A bare number is refused from Python too.
    initial_ssthresh : Size or "unlimited"
        ssthresh at the start, above 0.
    receive_window : Size
        The receiver's advertised window, at least `mss`.
    recovery : {"reno", "newreno", "sack", "prr"}
        Loss recovery: ends with the first new ACK, as RFC 6582, with selective acknowledgements
        as RFC 6675, or that with proportional rate reduction (RFC 6937). `cc` sets the first two;
        the others go with every congestion control.
    window_growth : {"bytes", "abc-1", "abc-2", "segments", "per-ack", "per-ack-truncated"}
        What an ACK adds to the window: RFC 5681 eqs. 2 and 3; the bytes that it acknowledges, RFC
        3465 with L = 1 segment, as RFC 5681 §3.1 recommends, or with L = 2;
        a segment for each acknowledged and per window of them (Linux); a segment or MSS²/cwnd per
        ACK (ns-3's TcpNewReno); the same as ns-3 did in 2014.
    exit_window : {"burst-safe", "ssthresh"}
        cwnd after recovery: RFC 6582 §3.2 step 3 option 1, or option 2.
    fast_retransmit_guard : {"off", "rfc", "ns3"}
        Whether duplicate ACKs begin a recovery that may be due to what was sent before the last
        loss: any do; only those for more than `recover` (RFC 6582 §3.2 step 1); those for the
        first byte after it as well (ns-3).
    partial_ack_timer : {"first", "each"}
        Partial ACKs that restart the retransmission timer: the first (impatient) or each.
    limited_transmit : bool
        Send new data on the first two duplicate ACKs (RFC 3042).
    delayed_ack_segments : int
        Segments per ACK, from 1; 1 acknowledges everything at once.
    delayed_ack_timeout : Duration
        Longest time an ACK is held back, above 0.
    initial_rto : Duration
        Retransmission timeout before the first RTT sample, above 0.
    min_rto : Duration
        Smallest retransmission timeout, above 0.
    max_rto : Duration
        Largest retransmission timeout, at least `min_rto` and `initial_rto`.
    max_backoff : int
        Largest multiple of the timeout that repeated timeouts lead to, from 1.
    rto_granularity : Duration
        Step of the timeout's clock; 0 s is exact.
    srtt_gain : float
        Gain of the smoothed RTT, above 0 and at most 1.
    rttvar_gain : float
        Gain of the RTT variation, above 0 and at most 1.
    first_rttvar : {"half", "full"}
        RTT variation after the first sample, as a part of that sample.
    handshake : bool
        Open the connection with SYN and SYN-ACK before the first data.
    timestamps : bool
        Timestamps (RFC 7323): 12 more header bytes in each packet of either direction, an RTT
        sample from every ACK of new data. `mss` stays what it is: "1448 B" makes 1500-byte packets.
    ecn : {"off", "on"}
        Explicit congestion notification (RFC 3168): both ends agree to it, data is ECN-capable,
        and marks are answered like losses. `cc` = "dctcp" switches it on; with `cc` = "vcp" the
        field is VCP's load code, and "on" is refused.
    ecn_reaction : {"rfc", "cwr"}
        How the window is reduced for an echoed mark: at once (RFC 3168 §6.1.2), or in the state CWR
        (Linux, ns-3), where it does not grow before something is acknowledged that was sent after
        the echo, and with `recovery` = "prr" is reduced by proportional rate reduction. "cwr"
        needs SACK and `loss_detection` = "rack" or `procedures` = "ns3".
    window_scaling : {"exact", "off", "on"}
        How the window is written into an ACK: as it is; in 16 bits, so at most 65535 B; in 16 bits
        times a power of two (RFC 7323 §2), rounded down, not scaled in the SYN-ACK.
    sack_after_timeout : {"forget", "keep"}
        What becomes of the SACK information at a timeout: all is forgotten (RFC 2018 §8), or kept
        unless the oldest segment is part of it, which proves reneging (Linux).
    idle_restart : {"off", "restart", "decay"}
        What an idle time longer than an RTO leaves of cwnd: all; the initial window at most
        (RFC 5681 §4.1); half for each RTO but the first begun (RFC 2861, Linux).
    grow_unused : bool
        Whether Reno's window grows also when it is not used up. Without it a group of on/off
        sources does not.
    rto_floor : {"total", "variance"}
        What `min_rto` bounds: the timeout (RFC 6298 §2.4), or 4·RTTVAR in it (Linux).
    quick_acks : int
        In-order segments at the start that are acknowledged one by one, from 0.
    procedures : {"rfc", "ns2", "ns3", "linux"}
        Whose procedures rule where they differ: the RFCs'; those of ns-2's one-way agents, which
        have no SACK (what a loss halves, which segments are timed, what a lost SYN leaves, what is
        ECN-capable); those of ns-3.48 in recovery with SACK and in CUBIC's arithmetic; those of
        Linux: whole segments, what a loss is reckoned from, CUBIC's arithmetic.
    flight_bound : {"none", "cwnd", "replaced"}
        What bounds the FlightSize that NewReno without SACK takes ssthresh from: nothing, or cwnd
        and, until what was outstanding at a loss is acknowledged, what it was taken from then. Or
        cwnd takes its place, however little is outstanding (RFC 5681 §3.1: "an easy mistake").
    pacing : {"off", "on"}
        When segments leave, for a congestion control that asks for no rate of its own: when the
        windows allow it, or one at a time at 200 % of cwnd/SRTT below half of ssthresh and 120 %
        from there (Linux).
    loss_detection : {"sack", "rack"}
        How losses are found with SACK: by what has arrived beyond a hole (RFC 6675), or by time
        (RFC 8985), which finds losses of what was sent again as well. `procedures` = "ns3" has the
        first.
    tail_loss_probe : bool
        Probe the tail after two round trips (RFC 8985 §7); needs `loss_detection` = "rack", and is
        off without it.
    push : {"off", "bursts"}
        Which segments carry PSH, so that the receiver acknowledges them at once: none, or the last
        one of each burst (Linux).
    max_retries : int or "unlimited"
        Retransmissions of data by the timer, without an answer, after which its next expiry aborts
        the connection (R2 of RFC 9293 §3.8.3; Linux `tcp_retries2`), from 0.
    max_syn_retries : int or "unlimited"
        The same of the SYN (Linux `tcp_syn_retries`), from 0.
    """

    model_config = ConfigDict(validate_default=False)

    mss: Annotated[Maybe[PositiveSize], Key("mss")] = Field(default=ABSENT, examples=['"1460 B"'])
    header: Maybe[PositiveSize] = ABSENT
    initial_window: InitialWindow = ABSENT
    initial_ssthresh: Annotated[Any, Key("initial_ssthresh"), PlainValidator(_ssthresh)] = None
    receive_window: Annotated[Maybe[PositiveSize], Key("receive_window")] = ABSENT
    recovery: Annotated[str | None, RECOVERY] = None
    window_growth: Annotated[str | None, GROWTH] = None
    exit_window: Annotated[str | None, EXIT] = None
    fast_retransmit_guard: Annotated[str | None, GUARD] = None
    partial_ack_timer: Annotated[str | None, PARTIAL] = None
    limited_transmit: Truth | None = None
    delayed_ack_segments: Count | None = None
    delayed_ack_timeout: Maybe[PositiveDuration] = ABSENT
    initial_rto: Maybe[PositiveDuration] = ABSENT
    min_rto: Maybe[PositiveDuration] = ABSENT
    max_rto: Maybe[PositiveDuration] = ABSENT
    max_backoff: Count | None = None
    rto_granularity: Maybe[Duration] = ABSENT
    srtt_gain: PositiveFraction | None = None
    rttvar_gain: PositiveFraction | None = None
    first_rttvar: Annotated[str | None, FIRST_RTTVAR] = None
    handshake: Truth | None = None
    timestamps: Truth | None = None
    ecn: Annotated[str | None, ECN] = None
    ecn_reaction: Annotated[str | None, ECN_REACTION] = None
    window_scaling: Annotated[str | None, SCALING] = None
    sack_after_timeout: Annotated[str | None, SACK_AFTER_TIMEOUT] = None
    idle_restart: Annotated[str | None, IDLE] = None
    grow_unused: Truth | None = None
    rto_floor: Annotated[str | None, FLOOR] = None
    quick_acks: CountOrNone | None = None
    procedures: Annotated[str | None, PROCEDURES] = None
    flight_bound: Annotated[str | None, FLIGHT_BOUND] = None
    pacing: Annotated[str | None, PACING] = None
    loss_detection: Annotated[str | None, LOSS_DETECTION] = None
    tail_loss_probe: Truth | None = None
    push: Annotated[str | None, PUSH] = None
    max_retries: Retries = None
    max_syn_retries: Retries = None
