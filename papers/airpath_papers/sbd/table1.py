"""Table 1 as scenarios have it: what the paper says about the bearer, its channel and TCP.

The numbers are those of ``table1.csv``; this module knows their units and what they are called.
What Table 1 leaves open about them is a constant here, with its reason.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from airpath_papers.paths import SBD
from airpath_papers.sbd.settings import Settings

__all__ = [
    "FORWARD_MS",
    "LARGEST_UNSCALED_WINDOW",
    "base_rtt_ms",
    "errors",
    "link_settings",
    "table1",
    "tcp_settings",
    "wired_ms",
]

FORWARD_MS: Final = 20
"""Of the radio's round trip, what the downlink takes, ms. Both ways have to be whole TTIs: a report
that arrives within a TTI waits for the next one, and the round trip would be longer than printed
(with 25 ms each way 55 ms, sbd-2006 has 50)."""

LARGEST_UNSCALED_WINDOW: Final = 65_535
"""Bytes: 64 kbytes are one more than a window without scaling can say."""

HEADER_BYTES: Final = 40
"""TCP and IP headers without options."""


@cache
def table1() -> Settings:
    """Return Table 1 as it is printed."""
    return Settings.read(SBD, "table1.csv")


def _radio_ms() -> int:
    return table1().whole("Wireless Round Trip Delay", "ms")


def wired_ms() -> int:
    """Return the round trip of the wired network, ms."""
    return table1().whole("Wired Network Round Trip Delay", "ms")


def base_rtt_ms() -> int:
    """Return RTPD = RTT_w + RTT_f (sbd-2006 §5), ms."""
    return _radio_ms() + wired_ms()


def errors() -> dict[str, Any]:
    """Return what destroys the radio's frames."""
    printed = table1()
    return {
        "kind": "burst",
        "frame_error_rate": printed.number("Frame Error Ratio (FER)", "%") / 100,
        "doppler": printed.number("Normalized doppler frequency"),
    }


def link_settings() -> dict[str, Any]:
    """Return the settings of RLC, but for the rate and the channel."""
    printed = table1()
    if not printed.yes("In-order-delivery"):
        raise ValueError("table1.csv: the link delivers in order")
    return {
        "tti": f"{printed.whole('TTI (Transm. Time Interval)', 'ms')} ms",
        "delay": f"{FORWARD_MS} ms",
        "reverse_delay": f"{_radio_ms() - FORWARD_MS} ms",
        "pdu_payload": f"{printed.whole('PDU payload size', 'bits') // 8} B",
        "window": printed.whole("Transmission window", "PDUs"),
        "max_dat": printed.whole("maxDAT"),
        "poll_timer": f"{printed.whole('Poll Timer', 'ms')} ms",
        "status_prohibit": f"{printed.whole('Status Prohibit Timer', 'ms')} ms",
        "poll_window": printed.number("Poll window", "%") / 100,
        "last_pdu_poll": printed.yes("Last PDU in buffer Poll"),
        "last_retransmission_poll": printed.yes("Last retransmitted PDU Poll"),
        "missing_pdu_indicator": printed.yes("Missing PDU detection"),
    }


def tcp_settings() -> dict[str, Any]:
    """Return the settings of TCP."""
    printed = table1()
    window = printed.whole("Maximum allowed window", "kbytes") * 1024
    segment = printed.whole("Maximum TCP/IP packet size", "bytes") - HEADER_BYTES
    return {
        "receive_window": f"{min(window, LARGEST_UNSCALED_WINDOW)} B",
        "initial_window": f"{printed.whole('Initial window') * segment} B",
    }
