"""What a scenario asks of TCP and a kernel does in its own way: a table that results keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from airpath.emulation.refusals import KERNEL
from airpath.scenario.units import Duration, Size

__all__ = ["Difference", "of_control", "of_options", "option_text"]


class Difference(NamedTuple):
    """One option that a kernel does not do as asked.

    Parameters
    ----------
    option : str
        Its key in the scenario, below the group of flows: ``tcp.min_rto``.
    asked : str
        What the scenario says.
    kernel : str
        What the kernel does.
    """

    option: str
    asked: str
    kernel: str


_SELECTIVE = ("sack", "prr")
_TICKS = "timers have ticks of 1/HZ, 1 to 10 ms"

_ALWAYS: Mapping[str, tuple[Any, str]] = {
    "srtt_gain": (0.125, "0.125"),
    "rttvar_gain": (0.25, "0.25, 1/32 when a sample is below SRTT, once per flight"),
    "first_rttvar": ("half", "half"),
    "initial_rto_ns": (10**9, "1 s"),
    "handshake": (True, "always"),
    "limited_transmit": (True, "always"),
    "rto_floor": ("variance", "variance: the timeout is SRTT + max(min_rto, 4 RTTVAR)"),
    "grow_unused": (False, "false: a window that is not used up does not grow"),
    "flight_bound": ("cwnd", "cwnd is what is halved"),
    "rto_granularity_ns": (None, _TICKS),
}
"""Options for which no kernel has a setting, and what it does."""


def of_options(options: Mapping[str, Any], control: str) -> Iterator[Difference]:
    """Yield what a kernel does otherwise of the options for which it has no setting.

    Parameters
    ----------
    options : mapping
        A flow's `options` in a resolved scenario.
    control : str
        The kernel's congestion control.
    """
    for key, (theirs, does) in _ALWAYS.items():
        if options[key] != theirs:
            yield Difference(option_name(key), option_text(key, options[key]), does)
    for key, differs, does in (*_RECOVERY, *_OTHERS):
        if differs(options):
            yield Difference(option_name(key), option_text(key, options[key]), does)
    if control in ("reno", "dctcp") and options["window_growth"] != "segments":
        grows = "segments: by what was acknowledged, whatever the number of ACKs"
        yield Difference("tcp.window_growth", options["window_growth"], grows)


def _is_selective(options: Mapping[str, Any]) -> bool:
    return options["recovery"] in _SELECTIVE


_RECOVERY: tuple[tuple[str, Callable[[Mapping[str, Any]], bool], str], ...] = (
    (
        "recovery",
        lambda options: options["recovery"] != "prr",
        "proportional rate reduction, as RFC 6937, whether SACK is on or not",
    ),
    (
        "exit_window",
        lambda options: not _is_selective(options) and options["exit_window"] != "ssthresh",
        "ssthresh",
    ),
    (
        "fast_retransmit_guard",
        lambda options: not _is_selective(options) and options["fast_retransmit_guard"] != "rfc",
        "rfc",
    ),
    (
        "partial_ack_timer",
        lambda options: not _is_selective(options) and options["partial_ack_timer"] != "each",
        "each",
    ),
    (
        "sack_after_timeout",
        lambda options: _is_selective(options) and options["sack_after_timeout"] != "keep",
        "keep",
    ),
    (
        "loss_detection",
        lambda options: _is_selective(options) and options["loss_detection"] != "rack",
        "rack from Linux 6.17 on, whatever tcp_recovery says",
    ),
)
_OTHERS: tuple[tuple[str, Callable[[Mapping[str, Any]], bool], str], ...] = (
    (
        "ecn_reaction",
        lambda options: options["ecn"] in ("on", "dctcp") and options["ecn_reaction"] != "cwr",
        "cwr",
    ),
    (
        "procedures",
        lambda options: options["procedures"] not in ("rfc", "linux"),
        "its own",
    ),
    (
        "header_bytes",
        lambda options: options["header_bytes"] != 40,
        "40 B, and what options take",
    ),
    (
        "initial_ssthresh",
        lambda options: options["initial_ssthresh"] is not None,
        "unlimited",
    ),
    (
        "delayed_ack_segments",
        lambda options: options["delayed_ack_segments"] > 2,
        "2 full segments",
    ),
    (
        "delayed_ack_timeout_ns",
        lambda options: options["delayed_ack_segments"] > 1,
        "40 to 200 ms, after the gaps between arrivals",
    ),
    (
        "quick_acks",
        lambda options: options["delayed_ack_segments"] > 1 and options["quick_acks"] != 16,
        "at most 16 at the start, and again after a hole or a long gap",
    ),
    (
        "idle_restart",
        lambda options: options["idle_restart"] == "restart",
        "decay",
    ),
    (
        "max_backoff",
        lambda options: options["max_backoff"] < 32_768,
        "doubled up to the largest timeout",
    ),
    ("max_retries", lambda options: "max_retries" in options, "tcp_retries2, as it is set"),
    (
        "max_syn_retries",
        lambda options: "max_syn_retries" in options,
        "tcp_syn_retries, as it is set",
    ),
)


def of_control(control: Mapping[str, Any], name: str) -> Iterator[Difference]:
    """Yield what the kernel's congestion control has otherwise than ours by default.

    Parameters
    ----------
    control : mapping
        The resolved `congestion`.
    name : str
        The kernel's.
    """
    if control["kind"] == "cubic-ns3":
        yield Difference("cc", "cubic, as ns-3 counts", "cubic, as the kernel counts")
    for key, theirs in KERNEL[name].items():
        asked = control.get(key, theirs)
        if asked is not None and asked != theirs:
            yield Difference(f"cc.{key}", str(asked), str(theirs))


_SIZES = ("mss", "header_bytes", "initial_window", "initial_ssthresh", "receive_window")


def option_name(key: str) -> str:
    return f"tcp.{key.removesuffix('_ns').removesuffix('_bytes')}"


def option_text(key: str, value: Any) -> str:
    """Return the value of an option as a scenario would say it, without quotes.

    Parameters
    ----------
    key : str
        Its key in a resolved scenario.
    value : object
        Its value there.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if key.endswith("_ns"):
        return str(Duration(value))
    if key in _SIZES:
        return str(Size(value))
    return str(value)
