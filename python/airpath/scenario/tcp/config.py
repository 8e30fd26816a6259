"""TCP parameters. `make generate-docs` writes this file from `tcp_options.toml`.

A class in a file, not one made at import: editors and type checkers read it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from airpath.scenario.base import ABSENT, Key, Maybe
from airpath.scenario.tcp.values import InitialWindow, SizeOrUnlimited, TcpParameters
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import Number, Real, Retries, Truth, choice

__all__ = ["TcpConfig"]


class TcpConfig(TcpParameters):
    """Parameters of a TCP sender and receiver; the profile has those that are not given.

    Parameters
    ----------
    mss : Size
        Payload bytes of a full segment, above 0.
    header : Size
        IP and TCP header bytes of each packet, above 0; `mss` + `header` is at most 65535 B.
    initial_window : Size or Segments
        Initial cwnd, above 0, in bytes or in segments of `mss`: `"14480 B"`, `"10 segments"`. With
        SACK and `stack = "ns3"` at least `mss`. A number without a unit is rejected, in Python too.
    initial_ssthresh : Size or "unlimited"
        Initial ssthresh, above 0, or `"unlimited"`.
    receive_window : Size
        The receiver's advertised window, at least `mss`.
    recovery : {"reno", "newreno", "sack", "prr"}
        Loss recovery: `"reno"` ends with the first new ACK (RFC 5681 §3.2); `"newreno"` ends when
        all data outstanding at its start is acknowledged (RFC 6582); `"sack"` uses selective
        acknowledgements (RFC 6675); `"prr"` uses selective acknowledgements with proportional rate
        reduction (RFC 6937). `cc` selects `reno` or `newreno`; `sack` and `prr` work with every
        congestion control.
    window_growth : {"bytes", "abc-1", "abc-2", "segments", "per-ack", "per-ack-truncated"}
        Increase of cwnd by an ACK: `"bytes"` RFC 5681 §3.1 eqs. 2 and 3; `"abc-1"` the bytes that
        the ACK acknowledges, in slow start at most one segment (RFC 3465, L = 1); `"abc-2"` as
        `abc-1`, with L = 2; `"segments"` the segments that the ACK acknowledges (Linux);
        `"per-ack"` a segment, or MSS²/cwnd (ns-3 TcpNewReno); `"per-ack-truncated"` as `per-ack`,
        in the arithmetic of ns-3.21.
    exit_window : {"burst-safe", "ssthresh"}
        cwnd after a NewReno recovery (RFC 6582 §3.2 step 3): `"burst-safe"` min(ssthresh,
        max(FlightSize, MSS) + MSS), option 1; `"ssthresh"` ssthresh, option 2.
    fast_retransmit_guard : {"off", "rfc", "ns3"}
        Reaction to duplicate ACKs that may be due to segments sent before the last loss: `"off"`
        they begin a recovery; `"rfc"` they begin a recovery only if they acknowledge more than
        `recover` (RFC 6582 §3.2 step 1); `"ns3"` as `rfc`, and also if they request the first byte
        after `recover` (ns-3).
    partial_ack_timer : {"first", "each"}
        Partial ACKs that restart the retransmission timer (RFC 6582 §4): `"first"` the first
        partial ACK of a recovery (impatient); `"each"` every partial ACK (slow-but-steady).
    limited_transmit : bool
        Send new data on the first two duplicate ACKs (RFC 3042).
    delayed_ack_segments : int
        Number of segments per ACK, from 1; 1 acknowledges each segment immediately.
    delayed_ack_timeout : Duration
        Longest delay of an ACK, above 0.
    initial_rto : Duration
        Retransmission timeout before the first RTT sample, above 0.
    min_rto : Duration
        Smallest retransmission timeout, above 0.
    max_rto : Duration
        Largest retransmission timeout, at least `min_rto` and `initial_rto`.
    max_backoff : int
        Largest factor of the timeout's exponential back-off, from 1.
    rto_granularity : Duration
        Clock granularity of the timeout (RFC 6298 §2.3); 0 s is exact.
    srtt_gain : float
        Gain of the smoothed RTT, above 0 and at most 1.
    rttvar_gain : float
        Gain of the RTT variation, above 0 and at most 1.
    first_rttvar : {"half", "full"}
        RTT variation after the first sample: `"half"` half of the sample (RFC 6298 §2.2); `"full"`
        the sample.
    handshake : bool
        Open the connection with SYN and SYN-ACK before the first data.
    timestamps : bool
        Timestamps (RFC 7323): 12 more header bytes in each packet of both directions, and an RTT
        sample from every ACK of new data. `mss` does not change: `"1448 B"` makes 1500-byte
        packets.
    ecn : {"off", "on", "accurate"}
        Explicit congestion notification (RFC 3168): `"off"` not negotiated; `"on"` negotiated: new
        data is ECN-capable, and the sender reduces its window for marks once per window;
        `"accurate"` the same with accurate feedback (RFC 9768): each ACK carries counters of the
        marked packets and bytes. `cc = "dctcp"` sets `ecn` to `"on"`, with DCTCP's echo;
        `cc = "prague"` sets `ecn` to `"accurate"`; with `cc = "vcp"`, the ECN field carries VCP's
        load code, and `"on"` and `"accurate"` are rejected.
    ecn_reaction : {"rfc", "cwr"}
        Reduction of the window for an echoed mark: `"rfc"` immediately (RFC 3168 §6.1.2); `"cwr"`
        in the state CWR (Linux, ns-3): the window does not grow until data sent after the echo is
        acknowledged, and with `recovery = "prr"` it follows proportional rate reduction. `"cwr"`
        requires SACK and `loss_detection = "rack"` or `stack = "ns3"`; without them the value of a
        profile becomes `"rfc"`.
    window_scaling : {"exact", "off", "on"}
        Encoding of the receive window in an ACK: `"exact"` without a limit; `"off"` in 16 bits, at
        most 65535 B; `"on"` in 16 bits times 2^shift (RFC 7323 §2), rounded down, with the smallest
        shift that `receive_window` requires, at most 14; not scaled in the SYN-ACK.
    sack_after_timeout : {"forget", "keep"}
        SACK information at a timeout: `"forget"` is discarded (RFC 2018 §8); `"keep"` is kept, and
        only holes are retransmitted, unless the oldest segment was selectively acknowledged, which
        proves reneging (Linux). `stack = "ns3"` and `loss_detection = "rack"` always keep the
        information.
    idle_restart : {"off", "restart", "decay"}
        cwnd after more than an RTO without sending: `"off"` unchanged; `"restart"` at most the
        initial window (RFC 5681 §4.1); `"decay"` half for each RTO after the first, down to the
        initial window, with ssthresh at least three quarters of the former cwnd (RFC 2861, Linux).
    grow_unused : bool
        Let Reno's window also grow at ACKs while at least one segment of the window is unused, for
        lack of data or of receive window. With `on_off`, `video` and `requests`, the default is
        false. CUBIC never grows such a window; `window_growth = "segments"` has a separate rule.
    rto_floor : {"total", "variance"}
        Quantity that `min_rto` bounds: `"total"` the timeout (RFC 6298 §2.4); `"variance"`
        4·RTTVAR, so that the timeout is SRTT + max(`min_rto`, 4·RTTVAR) (Linux).
    quick_acks : int
        In-order segments at the start of a connection that are acknowledged one by one, from 0.
    stack : {"rfc", "ns2", "ns3", "linux"}
        Implementation to follow where implementations differ: `"rfc"` the RFCs; `"ns2"` the one-way
        agents of ns-2, which have no SACK; `"ns3"` ns-3.48, in recovery with SACK and in CUBIC's
        arithmetic; `"linux"` a Linux kernel: windows of complete segments, the base of a reduction,
        CUBIC's arithmetic.
    flight_bound : {"none", "cwnd", "replaced"}
        Bound of the FlightSize from which NewReno without SACK computes ssthresh: `"none"` all data
        sent and not cumulatively acknowledged (RFC 5681 §2); `"cwnd"` cwnd and, until all data
        outstanding at a loss is acknowledged, the value used at that loss, so that a timeout in a
        recovery does not raise ssthresh; `"replaced"` cwnd replaces FlightSize, even if less data
        is outstanding (RFC 5681 §3.1: an easy mistake). With SACK, the bound is always cwnd;
        `recovery = "reno"` has no bound.
    pacing : {"off", "on"}
        Departure times of segments, for a congestion control algorithm that requests no pacing
        rate: `"off"` as soon as the windows allow; `"on"` one at a time, at 200 % of cwnd/SRTT
        below half of ssthresh and 120 % above it (Linux).
    tso : bool
        Paced segments leave in bursts of 1/1024 s of the pacing rate, at least two segments
        (segmentation offload). Without pacing it has no effect.
    loss_detection : {"sack", "rack"}
        Detection of losses with SACK: `"sack"` by segments received above a hole (RFC 6675);
        `"rack"` by time (RFC 8985), including lost retransmissions. `stack = "ns3"` uses `"sack"`
        regardless of the value of the profile.
    tail_loss_probe : bool
        Probe the tail after two round trips (RFC 8985 §7). Requires `loss_detection = "rack"`;
        otherwise the value of a profile becomes false.
    frto : bool
        Detect spurious timeouts by new data (F-RTO, RFC 5682): after a timeout, data that was not
        retransmitted arrives. Requires SACK and `loss_detection = "rack"`; otherwise the value of a
        profile becomes false.
    undo : bool
        Undo reductions of the window that timestamps (RFC 3522) or reports of duplicates (RFC 3708)
        reveal as spurious. Without `timestamps` and `dsack` it has no effect. Requires SACK and
        `loss_detection = "rack"`; otherwise the value of a profile becomes false.
    dsack : bool
        Report duplicates in the first SACK block (D-SACK, RFC 2883). The sender uses the reports
        for `undo` and for the reordering window (RFC 8985 §6.2). Requires SACK and
        `loss_detection = "rack"`; otherwise the value of a profile becomes false.
    push : {"off", "bursts"}
        Segments that carry PSH, which the receiver acknowledges immediately: `"off"` none;
        `"bursts"` the last segment of each burst (Linux).
    max_retries : int or "unlimited"
        Unanswered retransmissions of data by the timer after which the next expiry aborts the
        connection (R2 of RFC 9293 §3.8.3; Linux `tcp_retries2`), from 0, or `"unlimited"`.
    max_syn_retries : int or "unlimited"
        Unanswered retransmissions of the SYN after which the next expiry aborts the connection
        (Linux `tcp_syn_retries`), from 0, or `"unlimited"`.
    """

    mss: Annotated[Maybe[Size], Key("mss")] = Field(default=ABSENT, examples=['"1460 B"'])
    header: Maybe[Size] = ABSENT
    initial_window: Annotated[InitialWindow, Key("initial_window")] = ABSENT
    initial_ssthresh: Annotated[SizeOrUnlimited, Key("initial_ssthresh")] = None
    receive_window: Annotated[Maybe[Size], Key("receive_window")] = ABSENT
    recovery: Annotated[str | None, choice("reno", "newreno", "sack", "prr")] = None
    window_growth: Annotated[
        str | None,
        choice("bytes", "abc-1", "abc-2", "segments", "per-ack", "per-ack-truncated"),
    ] = None
    exit_window: Annotated[str | None, choice("burst-safe", "ssthresh")] = None
    fast_retransmit_guard: Annotated[str | None, choice("off", "rfc", "ns3")] = None
    partial_ack_timer: Annotated[str | None, choice("first", "each")] = None
    limited_transmit: Truth | None = None
    delayed_ack_segments: Number | None = None
    delayed_ack_timeout: Maybe[Duration] = ABSENT
    initial_rto: Maybe[Duration] = ABSENT
    min_rto: Maybe[Duration] = ABSENT
    max_rto: Maybe[Duration] = ABSENT
    max_backoff: Number | None = None
    rto_granularity: Maybe[Duration] = ABSENT
    srtt_gain: Real | None = None
    rttvar_gain: Real | None = None
    first_rttvar: Annotated[str | None, choice("half", "full")] = None
    handshake: Truth | None = None
    timestamps: Truth | None = None
    ecn: Annotated[str | None, choice("off", "on", "accurate")] = None
    ecn_reaction: Annotated[str | None, choice("rfc", "cwr")] = None
    window_scaling: Annotated[str | None, choice("exact", "off", "on")] = None
    sack_after_timeout: Annotated[str | None, choice("forget", "keep")] = None
    idle_restart: Annotated[str | None, choice("off", "restart", "decay")] = None
    grow_unused: Truth | None = None
    rto_floor: Annotated[str | None, choice("total", "variance")] = None
    quick_acks: Number | None = None
    stack: Annotated[str | None, choice("rfc", "ns2", "ns3", "linux")] = None
    flight_bound: Annotated[str | None, choice("none", "cwnd", "replaced")] = None
    pacing: Annotated[str | None, choice("off", "on")] = None
    tso: Truth | None = None
    loss_detection: Annotated[str | None, choice("sack", "rack")] = None
    tail_loss_probe: Truth | None = None
    frto: Truth | None = None
    undo: Truth | None = None
    dsack: Truth | None = None
    push: Annotated[str | None, choice("off", "bursts")] = None
    max_retries: Retries = None
    max_syn_retries: Retries = None
