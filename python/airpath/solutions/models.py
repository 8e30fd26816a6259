"""The analytic models that have a use without a scenario.

`airpath.solve` finds the model that covers a scenario; these take parameters.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from airpath import _airpath
from airpath.errors import BadValueError, show

__all__ = ["RttStages", "rtt_stages", "square_root"]


class RttStages(NamedTuple):
    """What downloads get by the model of stages (wimax-2009 Eqs. 1 to 8).

    Parameters
    ----------
    throughput_bps : float
        The mean over downloads of Eq. 8, bit/s: packets sent, repetitions among them, over time.
    ratio_of_sums_bps : float
        Both sums of Eq. 8 over all downloads, bit/s: smaller, as slow downloads count for longer.
    goodput_bps : float
        The mean over downloads of size over time, bit/s.
    stages : float
        N of Eq. 2, the mean number of stages.
    contention_share : float
        Share of stages that begin with a contention, in [0, 1].
    error_bps : float
        Of the throughput, bit/s: 1.5 times what halving the step of the grid twice changes, or the
        standard error.
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
        Whether W_th becomes half of the window at a loss, 2 at least, or stays, as printed.
    queue : {"literal", "draining"}
        Whether the backlog of Eq. 6 never drains, as printed, or does.
    method : {"grid", "monte-carlo"}
        The law on a grid, or drawn downloads. With losses the grid refuses windows that make a
        queue that never drains.
    step : float
        Of the grid, packets, from 1/64 to 1. Half of it is used; its double and itself give the
        error. Default 0.5.
    samples, seed : int
        How many downloads are drawn, and by which seed.

    Raises
    ------
    BadValueError
        If a value is outside its range; it names the value and what is accepted.

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
    """Return the square-root formula with the limit of the window, bit/s (wimax-2009 Eq. 9).

    Parameters
    ----------
    mss_bytes : float
        At least 1.
    rtt_s : float
        Round-trip time, s, above 0.
    loss : float
        p_e, in [0, 1]; without losses the window alone limits.
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
