"""The model of §3, as the figures, tables and claims use it (wimax-2009 Eqs. 1 to 9)."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from airpath.models import RttStages, rtt_stages, square_root
from airpath_papers.wimax.scenarios import OBJECT_BYTES, SEGMENT

__all__ = [
    "CHOSEN",
    "DEFAULTS",
    "PIGGYBACK_MS",
    "RATE_BPS",
    "SEGMENT_BYTES",
    "WINDOW_PACKETS",
    "Analysed",
    "WindowRule",
    "analysed",
    "analysis_mbps",
    "eq9_mbps",
    "goodput_of",
    "ideal_mbps",
    "ideal_of",
    "model1_mbps",
    "model2_mbps",
    "printed_ideal_mbps",
]

RATE_BPS: Final = 8 * 360 * 9 / 5e-3 * SEGMENT / (SEGMENT + 46)
"""R of the tables' link: 360 slots of 9 bytes in 5 ms, of 1546 bytes 1500 are payload."""


class WindowRule(NamedTuple):
    """What W_th is.

    Parameters
    ----------
    packets : float
        The first one.
    rule : str
        ``updated``: half of the window after each loss; ``constant``: as printed.
    """

    packets: float
    rule: str


CHOSEN: Final = WindowRule(63.0, "updated")
"""README.md."""


class Analysed(NamedTuple):
    """A parameter set of Figs. 3 and 4.

    Parameters
    ----------
    contention_ms : float
        T_ct.
    base_rtt_ms : float
        RTT_min.
    loss : float
        p_e.
    size_kb : int
        L, kB of 1000 bytes.
    """

    contention_ms: float = 30.0
    base_rtt_ms: float = 100.0
    loss: float = 0.01
    size_kb: int = 1000


DEFAULTS: Final = Analysed()
"""wimax-2009 §3.2."""

SEGMENT_BYTES: Final = 1000
WINDOW_PACKETS: Final = 64
SAMPLES: Final = 100_000
"""Downloads that are drawn; one where nothing is lost."""
PIGGYBACK_MS: Final = 10.0
"""T_pb; a piggyback request never takes longer than a contention here."""


@cache
def analysed(case: Analysed, rule: WindowRule = CHOSEN) -> RttStages:
    """Return the model's solution of a parameter set of §3.2, with a queue that drains.

    Parameters
    ----------
    case : Analysed
        The parameters.
    rule : WindowRule
        What W_th is. Default: README.md's.
    """
    return rtt_stages(
        size_bytes=1000 * case.size_kb,
        mss_bytes=SEGMENT_BYTES,
        rate_bps=5e6,
        base_rtt_s=case.base_rtt_ms / 1e3,
        contention_s=case.contention_ms / 1e3,
        piggyback_s=min(PIGGYBACK_MS, case.contention_ms) / 1e3,
        loss=case.loss,
        packets_per_ack=1,
        initial_ssthresh_packets=rule.packets,
        max_window_packets=WINDOW_PACKETS,
        ssthresh="updated" if rule.rule == "updated" else "constant",
        queue="draining",
        method="monte-carlo",
        samples=SAMPLES if case.loss else 1,
    )


@cache
def ideal_of(base_rtt_ms: float, loss: float = 0.0) -> RttStages:
    """Return the model's solution with the tables' TCP and without a delay of requests."""
    return rtt_stages(
        size_bytes=OBJECT_BYTES,
        mss_bytes=SEGMENT,
        rate_bps=RATE_BPS,
        base_rtt_s=base_rtt_ms / 1e3,
        contention_s=0.0,
        piggyback_s=0.0,
        loss=loss,
        packets_per_ack=2,
        initial_ssthresh_packets=12,
        max_window_packets=16,
        queue="draining",
        method="monte-carlo",
        samples=SAMPLES if loss else 1,
    )


@cache
def printed_ideal_mbps(base_rtt_ms: float) -> float:
    """Return the ideal of Table 2, Mbit/s.

    Printed are the segments and an ACK for two of them (§5.1), a window of 64 KB (§3.2), and a
    target error rate of 1 % (§5.1), which p_e is near. R and W_th are fitted on the column.
    """
    found = rtt_stages(
        size_bytes=OBJECT_BYTES,
        mss_bytes=SEGMENT,
        rate_bps=1.7e6,
        base_rtt_s=base_rtt_ms / 1e3,
        contention_s=0.0,
        piggyback_s=0.0,
        loss=0.008,
        packets_per_ack=2,
        initial_ssthresh_packets=30.0,
        max_window_packets=43,
        queue="draining",
        method="monte-carlo",
        samples=SAMPLES,
    )
    return float(found.throughput_bps) / 1e6


def eq9_mbps(rtt_s: float, loss: float) -> float:
    """Return Eq. 9 for an ACK per packet, Mbit/s.

    Parameters
    ----------
    rtt_s : float
        RTT, s, above 0.
    loss : float
        p_e, above 0.
    """
    return 1e-6 * square_root(SEGMENT_BYTES, rtt_s, loss, WINDOW_PACKETS)


# --- the curves of Figs. 3 and 4 ---------------------------------------------------------------


def analysis_mbps(case: Analysed, rule: WindowRule = CHOSEN) -> float:
    """Return Eq. 8, Mbit/s."""
    return float(analysed(case, rule).throughput_bps) / 1e6


def goodput_of(case: Analysed) -> float:
    """Return the analysis' size over time, Mbit/s.

    Eq. 8 counts repetitions and what the last stage has room for, which is half of it for the
    smallest object.
    """
    return float(analysed(case).goodput_bps) / 1e6


def ideal_mbps(case: Analysed, loss: float | None = None) -> float:
    """Return Eq. 8 with T_ct = 0 and the same error rate, or another one, Mbit/s."""
    other = case._replace(contention_ms=0.0, loss=case.loss if loss is None else loss)
    return analysis_mbps(other)


def model1_mbps(case: Analysed) -> float:
    """Return TCP model1: Eq. 9 with RTT_min and T_ct, Mbit/s."""
    return eq9_mbps((case.base_rtt_ms + case.contention_ms) / 1e3, case.loss)


def model2_mbps(case: Analysed) -> float:
    """Return TCP model2: Eq. 9 with RTT_min and T_pb, Mbit/s."""
    return eq9_mbps((case.base_rtt_ms + PIGGYBACK_MS) / 1e3, case.loss)
