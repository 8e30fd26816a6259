"""The model of §3 by Monte-Carlo, Eqs. 1 to 8: windows and times from stage to stage.

Source: wimax-2009 §3.1. A stage is a round trip: w packets are sent, and the next window follows
from whether one of them was lost. Differs: W_th may be updated at a loss, as TCP does; the queue
drains when it can (as printed it never does); with backlog t_idle is 0 within a nanosecond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Parameters", "Stages", "rtt_stages"]

IDLE_S: Final = 1e-9
"""Below it a stage has no idle time: when backlog builds, t_idle is 0 but for rounding."""


class Parameters(NamedTuple):
    """What the model takes.

    Parameters
    ----------
    size_bytes, mss_bytes : int
        L and MSS.
    rate_bps : float
        R, bit/s of payload.
    base_rtt_s, contention_s, piggyback_s : float
        RTT_min, T_ct and T_pb, s.
    loss : float
        p_e, from 0 to below 1.
    packets_per_ack : int
        b.
    initial_ssthresh_packets, max_window_packets : float
        W_th and W_max.
    is_updated : bool
        Whether W_th becomes half of the window, 2 at least, at each loss; else it is constant.
    """

    size_bytes: int
    mss_bytes: int
    rate_bps: float
    base_rtt_s: float
    contention_s: float
    piggyback_s: float
    loss: float
    packets_per_ack: int
    initial_ssthresh_packets: float
    max_window_packets: float
    is_updated: bool = True


class Stages(NamedTuple):
    """What the model gives.

    Parameters
    ----------
    throughput_bps : float
        Eq. 8, the mean over runs, bit/s.
    ratio_of_sums_bps : float
        The bits of all runs over their time, bit/s: smaller, as slow runs count for longer.
    goodput_bps : float
        L over the time, the mean over runs, bit/s.
    stages : float
        N of Eq. 2, the mean.
    error_bps : float
        Standard error of the throughput, bit/s.
    """

    throughput_bps: float
    ratio_of_sums_bps: float
    goodput_bps: float
    stages: float
    error_bps: float


def _windows(
    of: Parameters, window: NDArray[np.float64], ssthresh: NDArray[np.float64], draws: object
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return windows and thresholds of the next stage (Eq. 1)."""
    is_lost = np.asarray(draws) >= (1 - of.loss) ** window
    b = of.packets_per_ack
    grown = np.where(window < ssthresh, window * 2 ** (1 / b), window + 1 / b)
    following = np.where(
        is_lost, np.maximum(window / 2, 1.0), np.minimum(grown, of.max_window_packets)
    )
    if of.is_updated:
        ssthresh = np.where(is_lost, np.maximum(window / 2, 2.0), ssthresh)
    return following, ssthresh


def rtt_stages(of: Parameters, samples: int = 10_000, seed: int = 1) -> Stages:
    """Return the throughput of a download (wimax-2009 Eqs. 1 to 8).

    Parameters
    ----------
    of : Parameters
        Of the download.
    samples : int
        Runs, from 1; one where nothing is lost. Default 10000.
    seed : int
        Of the draws. Default 1: parameter sets that are compared share them.
    """
    draws = np.random.default_rng(seed)
    runs = samples if of.loss else 1
    packet_s = 8 * of.mss_bytes / of.rate_bps
    packets = -(-of.size_bytes // of.mss_bytes) * (1 + of.loss)
    window, ssthresh = np.ones(runs), np.full(runs, of.initial_ssthresh_packets)
    sent, time_s, queued_s, stages = (np.zeros(runs) for _ in range(4))
    was_idle = np.ones(runs, dtype=bool)
    under_way = np.ones(runs, dtype=bool)
    while under_way.any():
        request_s = np.where(was_idle, of.contention_s, of.piggyback_s)  # Eq. 5
        rtt_s = packet_s + request_s + queued_s + of.base_rtt_s  # Eq. 4
        idle_s = of.base_rtt_s + queued_s + request_s - (window - 1) * packet_s  # Eq. 7
        stages += under_way
        sent += window * under_way
        time_s += rtt_s * under_way
        queued_s = np.maximum(queued_s + window * packet_s - rtt_s, 0.0)  # Eq. 6
        was_idle = idle_s > IDLE_S
        under_way &= sent <= packets  # Eq. 2
        window, ssthresh = _windows(of, window, ssthresh, draws.random(runs))
    bits = 8.0 * of.mss_bytes * sent / time_s  # Eq. 8
    error = float(bits.std(ddof=1) / np.sqrt(runs)) if runs > 1 else 0.0
    goodput = float((8.0 * of.size_bytes / time_s).mean())
    together = float(8.0 * of.mss_bytes * sent.sum() / time_s.sum())
    return Stages(float(bits.mean()), together, goodput, float(stages.mean()), error)
