"""Named tables of TCP options (profiles).

A profile is data: each option with its value as a user would write it, and where it comes from.
``rfc`` is what the standards say. ``ns3-2014`` is the classic Reno of the ns-3 release current
in September 2014 (3.21), which the tables of qawla-2015 were made with. ``ns3`` is what the
releases 3.44 to 3.48 do with SACK. ``linux`` is what a Linux kernel does, as far as the options go.
``ns2`` is the one-way Reno of ns-2 of 2006, with its defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from airpath.scenario.tcp_options import SELECTIVE, TcpOptions
from airpath.scenario.units import Segments, Size

__all__ = ["PROFILES", "Option", "profile_options"]


class Option(NamedTuple):
    """One line of a profile."""

    value: Any
    source: str


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
        "ecn_reaction": Option("rfc", "RFC 3168 §6.1.2"),
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
        "ecn_reaction": Option("rfc", "ns-3.21 has no ECN"),
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
        "ecn_reaction": Option("cwr", f"{_BASE}, EnterCwr"),
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
        "ecn_reaction": Option("rfc", f"{_NS2_TCP}, ecn: at once"),
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
        "ecn_reaction": Option("cwr", "tcp_enter_cwr, tcp_cwnd_reduction"),
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

    A profile whose recovery goes with every congestion control keeps it. Its loss detection, tail
    loss probes and reaction to ECN give way to an override that excludes them.

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
    given = overrides.document()
    whole = values | given | _implied(values | given, given)
    options = TcpOptions(**whole)
    if isinstance(options.initial_window, Segments):
        in_bytes = Size(options.initial_window * cast(Size, options.mss))
        return TcpOptions(**(whole | {"initial_window": in_bytes}))
    return options


def _implied(values: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return other values of options that are not `given` and that a given one excludes."""
    implied: dict[str, Any] = {}
    is_ns3 = values["procedures"] == "ns3"
    if is_ns3 and "loss_detection" not in given:
        implied["loss_detection"] = "sack"
    by_time = implied.get("loss_detection", values["loss_detection"]) == "rack"
    if not by_time and "tail_loss_probe" not in given:
        implied["tail_loss_probe"] = False
    has_cwr = values["recovery"] in SELECTIVE and (by_time or is_ns3)
    if not has_cwr and "ecn_reaction" not in given:
        implied["ecn_reaction"] = "rfc"
    return implied
