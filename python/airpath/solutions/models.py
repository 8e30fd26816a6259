"""Analytic models that can be used without a scenario.

`airpath.solve` selects the model that covers a scenario; these functions take parameters.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from airpath import _airpath
from airpath.errors import BadValueError, show

__all__ = ["RttStages", "rtt_stages", "square_root"]


class RttStages(NamedTuple):
    """Results for downloads by the model of stages (wimax-2009 Eqs. 1 to 8).

    Parameters
    ----------
    throughput_bps : float
        Mean over downloads of Eq. 8, bit/s: transmitted packets, including retransmissions, over
        time.
    ratio_of_sums_bps : float
        Ratio of the sums of Eq. 8 over all downloads, bit/s: smaller, because slow downloads have
        more weight.
    goodput_bps : float
        Mean over downloads of size divided by time, bit/s.
    stages : float
        N of Eq. 2, mean number of stages.
    contention_share : float
        Share of stages that begin with a contention, in [0, 1].
    error_bps : float
        Error of the throughput, bit/s. Grid: 1.5 times the change when the step is halved twice.
        Monte Carlo: the standard error.
    """

    throughput_bps: float
    ratio_of_sums_bps: float
    goodput_bps: float
    stages: float
    contention_share: float
    error_bps: float


def _one_of(name: str, value: object, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        names = " or ".join(f'"{each}"' for each in accepted)
        raise BadValueError(f"{name} = {show(value)}: unknown. Use {names}.")


def rtt_stages(
    size_bytes: float,
    mss_bytes: float,
    rate_bps: float,
    base_rtt_s: float,
    contention_s: float,
    piggyback_s: float,
    loss: float,
    packets_per_ack: float,
    initial_ssthresh_packets: float,
    max_window_packets: float,
    ssthresh: Literal["updated", "constant"] = "updated",
    queue: Literal["literal", "draining"] = "literal",
    method: Literal["grid", "monte-carlo"] = "grid",
    step: float = 0.5,
    samples: int = 10_000,
    seed: int = 1,
) -> RttStages:
    """Return the solution for a download whose ACKs request their uplink (wimax-2009 Eqs. 1 to 8).

    Parameters
    ----------
    size_bytes, mss_bytes : float
        L, above 0, and MSS, at least 1, bytes.
    rate_bps : float
        R, bit/s of payload, above 0.
    base_rtt_s, contention_s, piggyback_s : float
        RTT_min, T_ct and T_pb, s, from 0.
    loss : float
        p_e, from 0 to below 1.
    packets_per_ack : float
        b, at least 1.
    initial_ssthresh_packets, max_window_packets : float
        The first W_th and W_max, packets, at least 1.
    ssthresh : {"updated", "constant"}
        Treatment of W_th at a loss: it becomes half of the window, at least 2, or is constant, as
        printed.
    queue : {"literal", "draining"}
        Treatment of the backlog of Eq. 6: it never drains, as printed, or drains.
    method : {"grid", "monte-carlo"}
        Distribution on a grid, or sampled downloads. With losses, the grid rejects windows that
        cause a queue that never drains.
    step : float
        Step of the grid, packets, from 1/64 to 1. The result uses half of the step; the results
        with the step and twice the step give the error. Default 0.5.
    samples, seed : int
        Number of sampled downloads, and their seed.

    Raises
    ------
    BadValueError
        If a value is outside its range; the message contains the value and its range.

    Examples
    --------
    >>> from airpath.models import rtt_stages
    >>> setting = dict(size_bytes=1e6, mss_bytes=1000, rate_bps=5e6, base_rtt_s=0.1,
    ...                piggyback_s=0.01, loss=0.01, packets_per_ack=1,
    ...                initial_ssthresh_packets=63, max_window_packets=64)
    >>> for contention_s in (0.01, 0.06):
    ...     print(f"{rtt_stages(contention_s=contention_s, **setting).throughput_bps / 1e6:.2f}")
    1.03
    0.71
    """
    _one_of("ssthresh", ssthresh, ("updated", "constant"))
    _one_of("queue", queue, ("literal", "draining"))
    _one_of("method", method, ("grid", "monte-carlo"))
    given = (
        *(size_bytes, mss_bytes, rate_bps, base_rtt_s, contention_s, piggyback_s, loss),
        *(packets_per_ack, initial_ssthresh_packets, max_window_packets),
    )
    drawn = samples if method == "monte-carlo" else None
    try:
        found = _airpath.rtt_stages(
            given, ssthresh == "updated", queue == "draining", step, drawn, seed
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise BadValueError(f"{error}.") from None
    return RttStages(*found)


def square_root(
    mss_bytes: float,
    rtt_s: float,
    loss: float,
    max_window_packets: float,
    packets_per_ack: float = 1.0,
) -> float:
    """Return the square-root formula with the window limit, bit/s (wimax-2009 Eq. 9).

    Parameters
    ----------
    mss_bytes : float
        MSS, bytes, at least 1.
    rtt_s : float
        Round-trip time, s, above 0.
    loss : float
        p_e, in [0, 1]; without losses, only the window limits the rate.
    max_window_packets : float
        W_max, packets, at least 1.
    packets_per_ack : float
        b, at least 1. Default 1.

    Raises
    ------
    BadValueError
        If a value is outside its range.

    Examples
    --------
    >>> from airpath.models import square_root
    >>> round(square_root(1000, 0.11, 0.01, 64))
    890724
    """
    try:
        return _airpath.square_root(mss_bytes, rtt_s, loss, max_window_packets, packets_per_ack)
    except (TypeError, ValueError) as error:
        raise BadValueError(f"{error}.") from None
