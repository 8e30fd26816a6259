"""TCP options, and the named tables (profiles) that fill them in.

A profile is data: each option with its value as a user would write it, and where it comes from.
``rfc`` is what the standards say. ``ns3-2014`` is the classic Reno of the ns-3 release current
in September 2014 (3.21), which the tables of qawla-2015 were made with. ``ns3`` is what the
releases 3.44 to 3.48 do with SACK. ``linux`` is what a Linux kernel does, as far as the options go.
``ns2`` is the one-way Reno of ns-2 of 2006, with its defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

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

__all__ = ["PROFILES", "SELECTIVE", "Option", "TcpOptions", "profile_options"]


class Option(NamedTuple):
    """One line of a profile."""

    value: Any
    source: str


RECOVERY = choice("reno", "newreno", "sack", "prr")
GROWTH = choice("bytes", "abc-1", "abc-2", "segments", "per-ack", "per-ack-truncated")
GUARD = choice("off", "rfc", "ns3")
EXIT = choice("burst-safe", "ssthresh")
PARTIAL = choice("first", "each")
SELECTIVE = ("sack", "prr")
"""Recoveries that go with every congestion control."""
FIRST_RTTVAR = choice("half", "full")
ECN = choice("off", "on")
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
        cwnd at the start, above 0; a bare number is refused from Python too.
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
        (RFC 8985), which finds losses of what was sent again as well.
    tail_loss_probe : bool
        Probe the tail after two round trips (RFC 8985 §7); needs `loss_detection` = "rack".
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


_RFC = "RFC 5681 §3.1"
_NS3 = "ns-3.21, class TcpReno"
_NS3_RTT = "ns-3.21, class RttMeanDeviation"
_QAWLA = "qawla-2015 §4"
_SOCKET = "ns-3.48, class TcpSocket"
_BASE = "ns-3.48, class TcpSocketBase"
_NS2 = "ns-2, ns-default.tcl"
_NS2_TCP = "ns-2, tcp.cc"

PROFILES: Mapping[str, Mapping[str, Option]] = {
    "rfc": {
        "mss": Option("1460 B", "1500-byte IP packets, RFC 6691"),
        "header": Option("40 B", "RFC 791 and RFC 9293, no options"),
        "initial_window": Option("4380 B", f"{_RFC}, three segments"),
        "initial_ssthresh": Option("unlimited", f"{_RFC}, arbitrarily high"),
        "receive_window": Option("65535 B", "RFC 9293 §3.1, no window scaling"),
        "recovery": Option("newreno", "RFC 6582 §3.2"),
        "window_growth": Option("abc-1", f"{_RFC}, counting bytes is RECOMMENDED"),
        "exit_window": Option("burst-safe", "RFC 6582 §3.2 step 3, option 1"),
        "fast_retransmit_guard": Option("rfc", "RFC 6582 §3.2 step 1"),
        "partial_ack_timer": Option("first", "RFC 6582 §4, impatient"),
        "limited_transmit": Option(True, "RFC 3042 §2"),
        "delayed_ack_segments": Option(2, "RFC 5681 §4.2"),
        "delayed_ack_timeout": Option("200 ms", "below the 500 ms of RFC 5681 §4.2"),
        "initial_rto": Option("1 s", "RFC 6298 §2.1"),
        "min_rto": Option("1 s", "RFC 6298 §2.4"),
        "max_rto": Option("60 s", "RFC 6298 §2.5"),
        "max_backoff": Option(64, "six doublings: the span from min_rto to max_rto"),
        "rto_granularity": Option("0 s", "exact clock"),
        "srtt_gain": Option(0.125, "RFC 6298 §2.3"),
        "rttvar_gain": Option(0.25, "RFC 6298 §2.3"),
        "first_rttvar": Option("half", "RFC 6298 §2.2"),
        "handshake": Option(True, "RFC 9293 §3.5"),
        "timestamps": Option(False, "RFC 7323, an option"),
        "ecn": Option("off", "RFC 3168, an option"),
        "window_scaling": Option("exact", "a receive window above 65535 B is meant as it is"),
        "sack_after_timeout": Option("forget", "RFC 2018 §8"),
        "idle_restart": Option("off", "RFC 5681 §4.1 is an option here; bulk data is never idle"),
        "grow_unused": Option(True, "RFC 5681 §3.1 asks for growth with every ACK of new data"),
        "rto_floor": Option("total", "RFC 6298 §2.4"),
        "quick_acks": Option(0, "RFC 5681 §4.2 has none"),
        "procedures": Option("rfc", "RFC 6675, RFC 6937, RFC 9438"),
        "flight_bound": Option("cwnd", "RFC 5681 eq. 4 is an upper bound; §4.3"),
        "pacing": Option("off", "RFC 5681 sends what the windows allow"),
        "loss_detection": Option("sack", "RFC 6675 §4"),
        "tail_loss_probe": Option(False, "RFC 8985 §7, part of RACK-TLP"),
        "push": Option("off", "RFC 9293 §3.9.1.2 leaves PSH to the sender"),
        "max_retries": Option("unlimited", "RFC 9293 §3.8.3 requires at least 100 s; here never"),
        "max_syn_retries": Option(
            "unlimited", "RFC 9293 §3.8.3 requires at least 3 minutes; here never"
        ),
    },
    "ns3-2014": {
        "mss": Option("1460 B", f"{_QAWLA}, 1500-byte packets without timestamps"),
        "header": Option("40 B", "ns-3.21, no timestamps"),
        "initial_window": Option("1460 B", f"{_NS3}, one segment"),
        "initial_ssthresh": Option("65535 B", "ns-3.21, class TcpSocket"),
        "receive_window": Option("65535 B", "ns-3.21, no window scaling; 64 kbytes in " + _QAWLA),
        "recovery": Option("reno", f"{_NS3}, ends with the first new ACK"),
        "window_growth": Option("per-ack-truncated", f"{_NS3}"),
        "exit_window": Option("ssthresh", f"{_NS3}"),
        "fast_retransmit_guard": Option("off", f"{_NS3}"),
        "partial_ack_timer": Option("each", f"{_NS3}, restarted on every new ACK"),
        "limited_transmit": Option(False, f"{_NS3}"),
        "delayed_ack_segments": Option(2, "ns-3.21, class TcpSocket"),
        "delayed_ack_timeout": Option("200 ms", "ns-3.21, class TcpSocket"),
        "initial_rto": Option("3 s", "ns-3.21, class TcpSocket, of the SYN"),
        "min_rto": Option("1 s", _QAWLA),
        "max_rto": Option("1 h", "ns-3.21 has none; the back-off cap bounds it"),
        "max_backoff": Option(64, "ns-3.21, class RttEstimator"),
        "rto_granularity": Option("1 ms", _NS3_RTT),
        "srtt_gain": Option(0.1, _NS3_RTT),
        "rttvar_gain": Option(0.1, _NS3_RTT),
        "first_rttvar": Option("full", _NS3_RTT),
        "handshake": Option(True, "ns-3.21, class TcpSocketBase"),
        "timestamps": Option(False, "ns-3.21 has none"),
        "ecn": Option("off", "ns-3.21 has none"),
        "window_scaling": Option("exact", "ns-3.21 has none; 65535 B need none"),
        "sack_after_timeout": Option("forget", "ns-3.21 has no SACK"),
        "idle_restart": Option("off", f"{_NS3}, has none"),
        "grow_unused": Option(True, f"{_NS3}, with every ACK of new data"),
        "rto_floor": Option("total", "ns-3.21, class RttEstimator"),
        "quick_acks": Option(0, "ns-3.21 has none"),
        "procedures": Option("rfc", "without SACK there is no difference"),
        "flight_bound": Option("none", f"{_NS3}, BytesInFlight"),
        "pacing": Option("off", "ns-3.21 has none"),
        "loss_detection": Option("sack", "ns-3.21 has no SACK"),
        "tail_loss_probe": Option(False, "ns-3.21 has none"),
        "push": Option("off", "ns-3.21 has none"),
        "max_retries": Option("unlimited", "ns-3.21 has none for data"),
        "max_syn_retries": Option("unlimited", "ns-3.21 has six, ConnCount; here never"),
    },
    "ns3": {
        "mss": Option("1448 B", "1500-byte packets with timestamps; ns-3 has 536 B"),
        "header": Option("40 B", "IPv4 and TCP without options"),
        "initial_window": Option("14480 B", f"{_SOCKET}, InitialCwnd 10 segments"),
        "initial_ssthresh": Option("unlimited", f"{_SOCKET}, InitialSlowStartThreshold 2³²−1"),
        "receive_window": Option("65535 B", "the 64-kB window; ns-3 has 131072 B, scaled"),
        "recovery": Option("prr", "ns-3.48, class TcpL4Protocol, TcpPrrRecovery"),
        "window_growth": Option("per-ack", "ns-3.48, class TcpNewReno"),
        "exit_window": Option("ssthresh", "ns-3.48, class TcpRecoveryOps"),
        "fast_retransmit_guard": Option("ns3", f"{_BASE}, m_recover"),
        "partial_ack_timer": Option("first", f"{_BASE}, first partial ACK"),
        "limited_transmit": Option(True, f"{_BASE}, LimitedTransmit"),
        "delayed_ack_segments": Option(2, f"{_SOCKET}, DelAckCount"),
        "delayed_ack_timeout": Option("200 ms", f"{_SOCKET}, DelAckTimeout"),
        "initial_rto": Option("3 s", f"{_SOCKET}, ConnTimeout, of the SYN"),
        "min_rto": Option("1 s", f"{_BASE}, MinRto"),
        "max_rto": Option("60 s", f"{_BASE}, ReTxTimeout"),
        "max_backoff": Option(64, "from 1 s to 60 s"),
        "rto_granularity": Option("0 s", "exact; ClockGranularity only bounds 4 RTTVAR"),
        "srtt_gain": Option(0.125, "ns-3.48, class RttMeanDeviation, Alpha"),
        "rttvar_gain": Option(0.25, "ns-3.48, class RttMeanDeviation, Beta"),
        "first_rttvar": Option("half", "ns-3.48, class RttMeanDeviation"),
        "handshake": Option(True, f"{_BASE}"),
        "timestamps": Option(True, f"{_BASE}, Timestamp"),
        "ecn": Option("off", f"{_BASE}, UseEcn off"),
        "window_scaling": Option("on", f"{_BASE}, WindowScaling"),
        "sack_after_timeout": Option("keep", "ns-3.48, class TcpTxBuffer; part of `procedures`"),
        "idle_restart": Option("off", f"{_BASE}, has none"),
        "grow_unused": Option(True, "`procedures` has the rules of ns-3.48"),
        "rto_floor": Option("total", f"{_BASE}, MinRto"),
        "quick_acks": Option(0, "ns-3.48 has none"),
        "procedures": Option("ns3", f"{_BASE}, TcpTxBuffer, TcpPrrRecovery, TcpCubic"),
        "flight_bound": Option("cwnd", f"{_BASE}, BytesInFlight leaves out duplicates"),
        "pacing": Option("off", "ns-3.48, class TcpSocketState, EnablePacing"),
        "loss_detection": Option("sack", "ns-3.48, class TcpTxBuffer; part of `procedures`"),
        "tail_loss_probe": Option(False, "ns-3.48 has none"),
        "push": Option("off", "ns-3.48 has none"),
        "max_retries": Option("unlimited", "ns-3.48 has six, DataRetries; here never"),
        "max_syn_retries": Option("unlimited", "ns-3.48 has six, ConnCount; here never"),
    },
    "ns2": {
        "mss": Option("1000 B", f"{_NS2}, packetSize_ 1000"),
        "header": Option("40 B", f"{_NS2}, tcpip_base_hdr_size_ 40"),
        "initial_window": Option("2000 B", f"{_NS2}, windowInit_ 2"),
        "initial_ssthresh": Option("20000 B", f"{_NS2_TCP}, ssthresh_ begins at window_"),
        "receive_window": Option("20000 B", f"{_NS2}, window_ 20"),
        "recovery": Option("reno", "ns-2, tcp-reno.cc, ends with the first new ACK"),
        "window_growth": Option("bytes", f"{_NS2_TCP}, opencwnd: 1, or 1/cwnd_, per ACK"),
        "exit_window": Option("ssthresh", "ns-2, tcp-reno.cc; Reno has no other"),
        "fast_retransmit_guard": Option("rfc", f"{_NS2}, bugFix_ true; Reno's as well"),
        "partial_ack_timer": Option("each", f"{_NS2_TCP}, newtimer"),
        "limited_transmit": Option(True, f"{_NS2}, singledup_ 1 since 2001"),
        "delayed_ack_segments": Option(1, "ns-2, Agent/TCPSink"),
        "delayed_ack_timeout": Option("100 ms", f"{_NS2}, interval_ of TCPSink/DelAck; not used"),
        "initial_rto": Option("3 s", f"{_NS2}, rtxcur_init_ 3.0 since January 2006, 6.0 before"),
        "min_rto": Option("200 ms", f"{_NS2}, minrto_ 0.2"),
        "max_rto": Option("60 s", f"{_NS2}, maxrto_ 60 since January 2006, 100000 before"),
        "max_backoff": Option(64, f"{_NS2_TCP}, rtt_backoff"),
        "rto_granularity": Option("10 ms", f"{_NS2}, tcpTick_ 0.01"),
        "srtt_gain": Option(0.125, f"{_NS2}, T_SRTT_BITS 3"),
        "rttvar_gain": Option(0.25, f"{_NS2}, T_RTTVAR_BITS 2"),
        "first_rttvar": Option("half", f"{_NS2_TCP}, rtt_update"),
        "handshake": Option(True, f"{_NS2}, syn_ true: packet 0 stands for the SYN"),
        "timestamps": Option(False, f"{_NS2}, timestamps_ false"),
        "ecn": Option("off", f"{_NS2}, ecn_ 0"),
        "window_scaling": Option("exact", "ns-2 counts the window in packets"),
        "sack_after_timeout": Option("forget", "Agent/TCP/Reno has no SACK"),
        "idle_restart": Option("off", f"{_NS2}, QOption_ 0"),
        "grow_unused": Option(True, f"{_NS2}, control_increase_ 0"),
        "rto_floor": Option("total", f"{_NS2_TCP}, rtt_timeout"),
        "quick_acks": Option(0, "an ACK for each segment anyway"),
        "procedures": Option("ns2", "ns-2, tcp.cc, tcp-reno.cc"),
        "flight_bound": Option("none", "part of `procedures`: the window is halved"),
        "pacing": Option("off", f"{_NS2}, overhead_ 0"),
        "loss_detection": Option("sack", "Agent/TCP/Reno has no SACK"),
        "tail_loss_probe": Option(False, "ns-2 has none"),
        "push": Option("off", "ns-2 has none"),
        "max_retries": Option("unlimited", f"{_NS2_TCP}, a sender never stops"),
        "max_syn_retries": Option("unlimited", f"{_NS2}, max_connects_ -1"),
    },
    "linux": {
        "mss": Option("1448 B", "1500-byte packets with timestamps"),
        "header": Option("40 B", "RFC 791 and RFC 9293; timestamps add 12"),
        "initial_window": Option("14480 B", "TCP_INIT_CWND, ten segments, RFC 6928"),
        "initial_ssthresh": Option("unlimited", "TCP_INFINITE_SSTHRESH"),
        "receive_window": Option("3 MiB", "half of tcp_rmem's maximum of 6 MiB; not tuned"),
        "recovery": Option("prr", "tcp_cwnd_reduction; tcp_sack = 1"),
        "window_growth": Option("segments", "tcp_slow_start, tcp_cong_avoid_ai"),
        "exit_window": Option("ssthresh", "tcp_end_cwnd_reduction; means nothing to prr"),
        "fast_retransmit_guard": Option("rfc", "tcp_try_undo_recovery; means nothing to prr"),
        "partial_ack_timer": Option("each", "tcp_rearm_rto; means nothing to prr"),
        "limited_transmit": Option(True, "tcp_limited_transmit, RFC 3042"),
        "delayed_ack_segments": Option(2, "__tcp_ack_snd_check"),
        "delayed_ack_timeout": Option("40 ms", "TCP_DELACK_MIN; not adapted"),
        "initial_rto": Option("1 s", "TCP_TIMEOUT_INIT"),
        "min_rto": Option("200 ms", "TCP_RTO_MIN"),
        "max_rto": Option("120 s", "TCP_RTO_MAX"),
        "max_backoff": Option(32768, "tcp_retries2 = 15 doublings"),
        "rto_granularity": Option("0 s", "exact clock; a kernel's has ticks of 1/HZ"),
        "srtt_gain": Option(0.125, "tcp_rtt_estimator"),
        "rttvar_gain": Option(0.25, "tcp_rtt_estimator; falling variance differs"),
        "first_rttvar": Option("half", "tcp_rtt_estimator"),
        "handshake": Option(True, "RFC 9293 §3.5"),
        "timestamps": Option(True, "tcp_timestamps = 1"),
        "ecn": Option("off", "tcp_ecn = 2: accepts, does not ask"),
        "window_scaling": Option("on", "tcp_window_scaling = 1"),
        "sack_after_timeout": Option("keep", "tcp_timeout_mark_lost"),
        "idle_restart": Option("decay", "tcp_slow_start_after_idle = 1, tcp_cwnd_restart"),
        "grow_unused": Option(False, "tcp_is_cwnd_limited, part of segments growth"),
        "rto_floor": Option("variance", "__tcp_set_rto, tcp_rtt_estimator"),
        "quick_acks": Option(16, "TCP_MAX_QUICKACKS"),
        "procedures": Option("linux", "tcp_cubic, tcp_reno_ssthresh, tcp_cong_control"),
        "flight_bound": Option("cwnd", "tcp_enter_loss, tcp_reno_ssthresh"),
        "pacing": Option(
            "off", "SK_PACING_NONE, unless the queue is fq or the congestion control asks"
        ),
        "loss_detection": Option("rack", "tcp_rack_detect_loss; tcp_recovery = 1"),
        "tail_loss_probe": Option(True, "tcp_send_loss_probe; tcp_early_retrans = 3"),
        "push": Option("bursts", "__tcp_transmit_skb, tcp_tso_autosize, tcp_measure_rcv_mss"),
        "max_retries": Option("unlimited", "tcp_retries2 = 15, more than 900 s; here never"),
        "max_syn_retries": Option("unlimited", "tcp_syn_retries = 6, 127 s; here never"),
    },
}
"""The profiles by name: each option's value and source."""


CLASSES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "ns3": {
        "newreno": {"window_growth": "per-ack"},
        "reno": {"window_growth": "segments"},
        "cubic": {},
    },
    "ns2": {"vcp": {"initial_ssthresh": "unlimited", "receive_window": f"{2**32 - 1} B"}},
}
"""Profiles in which `cc` names a class with options of its own: TcpNewReno, TcpLinuxReno and
TcpCubic of ns-3, and the VCP agent of the public package for ns-2, whose window has no end."""


def profile_options(
    profile: str, cc: str | None, recovery: str | None, overrides: TcpOptions
) -> TcpOptions:
    """Return every option: the profile's, then those that `cc` brings, then the overrides.

    A profile whose recovery goes with every congestion control keeps it.

    Parameters
    ----------
    profile : str
        A key of `PROFILES`.
    cc : str or None
        The congestion control, when the user named one.
    recovery : str or None
        The recovery that it asks for; None leaves it to the profile.
    overrides : TcpOptions
        What the user set.
    """
    values = {name: option.value for name, option in PROFILES[profile].items()}
    values |= CLASSES.get(profile, {}).get(cc or "", {})
    if recovery is not None and values["recovery"] not in SELECTIVE:
        values["recovery"] = recovery
    whole = values | overrides.document()
    options = TcpOptions(**whole)
    if isinstance(options.initial_window, Segments):
        in_bytes = Size(options.initial_window * cast(Size, options.mss))
        return TcpOptions(**(whole | {"initial_window": in_bytes}))
    return options
