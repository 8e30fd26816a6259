"""Table 1 as scenarios have it: what the paper says about the bearer, its channel and TCP.

The numbers are those of ``table1.csv``; this module knows their units and what they are called.
What Table 1 leaves open about them is a constant here, with its reason.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from airpath.papers.kit.files import read_table

__all__ = [
    "FORWARD_MS",
    "LARGEST_UNSCALED_WINDOW",
    "base_rtt_ms",
    "errors",
    "link_settings",
    "radio_ms",
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
def table1() -> dict[str, str]:
    """Return Table 1 as it is printed: settings by parameter."""
    return {row["parameter"]: row["setting"] for row in read_table("sbd", "table1.csv")}


def _number(parameter: str, unit: str) -> float:
    value, _, found = table1()[parameter].partition(" ")
    if found != unit:
        raise ValueError(f"table1.csv: {parameter} = {table1()[parameter]!r} is not in {unit!r}")
    return float(value)


def _whole(parameter: str, unit: str = "") -> int:
    return int(_number(parameter, unit))


def _yes(parameter: str) -> bool:
    return {"yes": True, "true": True, "no": False, "false": False}[table1()[parameter]]


def radio_ms() -> tuple[int, int]:
    """Return how long the radio takes forward and back, ms; together as Table 1 has it."""
    return FORWARD_MS, _whole("Wireless Round Trip Delay", "ms") - FORWARD_MS


def wired_ms() -> int:
    """Return the round trip of the wired network, ms."""
    return _whole("Wired Network Round Trip Delay", "ms")


def base_rtt_ms() -> int:
    """Return RTPD = RTT_w + RTT_f (sbd-2006 §5), ms."""
    return sum(radio_ms()) + wired_ms()


def errors() -> dict[str, Any]:
    """Return what destroys the radio's frames."""
    return {
        "kind": "burst",
        "frame_error_rate": float(table1()["Frame Error Ratio (FER)"].rstrip("%")) / 100,
        "doppler": _number("Normalized doppler frequency", ""),
    }


def link_settings() -> dict[str, Any]:
    """Return the settings of RLC, but for the rate and the channel."""
    forward, back = radio_ms()
    if not _yes("In-order-delivery"):
        raise ValueError("table1.csv: the link delivers in order")
    return {
        "tti": f"{_whole('TTI (Transm. Time Interval)', 'ms')} ms",
        "delay": f"{forward} ms",
        "reverse_delay": f"{back} ms",
        "pdu_payload": f"{_whole('PDU payload size', 'bits') // 8} B",
        "window": _whole("Transmission window", "PDUs"),
        "max_dat": _whole("maxDAT"),
        "poll_timer": f"{_whole('Poll Timer', 'ms')} ms",
        "status_prohibit": f"{_whole('Status Prohibit Timer', 'ms')} ms",
        "poll_window": _number("Poll window", "%") / 100,
        "last_pdu_poll": _yes("Last PDU in buffer Poll"),
        "last_retransmission_poll": _yes("Last retransmitted PDU Poll"),
        "missing_pdu_indicator": _yes("Missing PDU detection"),
    }


def tcp_settings() -> dict[str, Any]:
    """Return the settings of TCP."""
    window = _whole("Maximum allowed window", "kbytes") * 1024
    segment = _whole("Maximum TCP/IP packet size", "bytes") - HEADER_BYTES
    return {
        "receive_window": f"{min(window, LARGEST_UNSCALED_WINDOW)} B",
        "initial_window": f"{_whole('Initial window') * segment} B",
    }
