"""Model of §3, with the parameters of the figures, tables and claims (wimax-2009 Eqs. 1 to 9).

Functions of `Axes` receive the values of a point in the sweeps of `model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from airpath.models import RttStages, rtt_stages, square_root
from airpath_papers.wimax.scenarios import MODEL_SEGMENT, MODEL_WINDOW, OBJECT_BYTES, SEGMENT

__all__ = [
    "DEFAULTS",
    "analysed",
    "analysis_mbps",
    "eq9_mbps",
    "goodput_of",
    "ideal_mbps",
    "model1_mbps",
    "model2_mbps",
    "printed_ideal_mbps",
    "tables_ideal_mbps",
]

Axes = Mapping[str, Any]

DEFAULTS: Final = {"contention_ms": 30.0, "base_rtt_ms": 100.0, "loss": 0.01, "size_kb": 1000}
"""Default parameters (wimax-2009 §3.2)."""

RATE_BPS: Final = 8 * 360 * 9 / 5e-3 * SEGMENT / (SEGMENT + 46)
"""Rate R of the tables' link: 360 slots of 9 bytes in 5 ms; 1500 of 1546 bytes are payload."""

PIGGYBACK_MS: Final = 10.0
"""T_pb, ms; `analysed` limits it to the duration of a contention."""


@cache
def _solved(**parameters: Any) -> RttStages:
    """Return the solution of the model with a draining queue, over 100 000 random downloads."""
    samples = 100_000 if parameters["loss"] else 1
    return rtt_stages(queue="draining", method="monte-carlo", samples=samples, **parameters)


def analysed(axes: Axes, packets: float = 63.0, rule: str = "updated") -> RttStages:
    """Return the model's solution of a parameter set of §3.2.

    The initial W_th is `packets` (default: see README.md). After a loss, W_th is ``updated`` to
    half of the window, or ``constant``, as printed.
    """
    contention_s = axes["contention_ms"] / 1e3
    return _solved(
        size_bytes=1000 * axes["size_kb"],
        mss_bytes=MODEL_SEGMENT,
        rate_bps=5e6,
        base_rtt_s=axes["base_rtt_ms"] / 1e3,
        contention_s=contention_s,
        piggyback_s=min(PIGGYBACK_MS / 1e3, contention_s),
        loss=axes["loss"],
        packets_per_ack=1,
        initial_ssthresh_packets=packets,
        max_window_packets=MODEL_WINDOW,
        ssthresh=rule,
    )


def _ideal_mbps(
    base_rtt_ms: float, loss: float, rate_bps: float, first_packets: float, most_packets: float
) -> float:
    """Return the throughput of the tables' object without request delays, Mbit/s."""
    found = _solved(
        size_bytes=OBJECT_BYTES,
        mss_bytes=SEGMENT,
        rate_bps=rate_bps,
        base_rtt_s=base_rtt_ms / 1e3,
        contention_s=0.0,
        piggyback_s=0.0,
        loss=loss,
        packets_per_ack=2,
        initial_ssthresh_packets=first_packets,
        max_window_packets=most_packets,
    )
    return float(found.throughput_bps) / 1e6


def tables_ideal_mbps(base_rtt_ms: float, loss: float = 0.0) -> float:
    """Return the ideal throughput with the tables' TCP and R, Mbit/s."""
    return _ideal_mbps(base_rtt_ms, loss, RATE_BPS, 12, 16)


def printed_ideal_mbps(base_rtt_ms: float) -> float:
    """Return the ideal throughput of Table 2, Mbit/s.

    The paper prints the segment size and an ACK for two segments (§5.1), a window of 64 KB (§3.2),
    and a target error rate of 1 % (§5.1), to which p_e is close. R and W_th are fitted on the
    column.
    """
    return _ideal_mbps(base_rtt_ms, 0.008, 1.7e6, 30.0, 43)


def eq9_mbps(rtt_s: float, loss: float) -> float:
    """Return Eq. 9 for an ACK per packet, Mbit/s.

    The RTT, s, and p_e must be above 0.
    """
    return 1e-6 * square_root(MODEL_SEGMENT, rtt_s, loss, MODEL_WINDOW)


# --- curves of Figs. 3 and 4 -------------------------------------------------------------------


def analysis_mbps(axes: Axes, packets: float = 63.0, rule: str = "updated") -> float:
    """Return Eq. 8, with W_th as for `analysed`, Mbit/s."""
    return float(analysed(axes, packets, rule).throughput_bps) / 1e6


def goodput_of(axes: Axes) -> float:
    """Return the goodput of the analysis, object size over time, Mbit/s.

    Eq. 8 also counts retransmissions and the full capacity of the last stage, which is half of the
    total for the smallest object.
    """
    return float(analysed(axes).goodput_bps) / 1e6


def ideal_mbps(axes: Axes, loss: float | None = None) -> float:
    """Return Eq. 8 with T_ct = 0 and the same or another error rate, Mbit/s."""
    other = axes["loss"] if loss is None else loss
    return analysis_mbps({**axes, "contention_ms": 0.0, "loss": other})


def model1_mbps(axes: Axes) -> float:
    """Return TCP model1: Eq. 9 with RTT_min and T_ct, Mbit/s."""
    return eq9_mbps((axes["base_rtt_ms"] + axes["contention_ms"]) / 1e3, axes["loss"])


def model2_mbps(axes: Axes) -> float:
    """Return TCP model2: Eq. 9 with RTT_min and T_pb, Mbit/s."""
    return eq9_mbps((axes["base_rtt_ms"] + PIGGYBACK_MS) / 1e3, axes["loss"])
