"""Functions of analytic models that require no scenario.

`airpath.solve` selects and applies the model that covers a scenario. The functions here have the
model's own parameters instead.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from airpath import _airpath
from airpath.errors import BadValueError, show

__all__ = ["RttStages", "rtt_stages", "square_root"]


class RttStages(NamedTuple):
    """Results of the stage model of downloads (wimax-2009 eqs. 1 to 8).

    Parameters
    ----------
    throughput_bps : float
        Mean of eq. 8 over downloads, bit/s. Eq. 8 divides the transmitted packets, including
        retransmissions, by the time.
    ratio_of_sums_bps : float
        Transmitted bits of all downloads divided by the time of all downloads, bit/s. This value is
        smaller than `throughput_bps`, because slow downloads have more weight.
    goodput_bps : float
        Mean, over downloads, of size divided by time, bit/s.
    stages : float
        N in eq. 2, mean number of stages.
    contention_share : float
        Share of stages that begin with a contention-based request, in [0, 1].
    error_bps : float
        Estimated error of `throughput_bps`, bit/s. Method ``grid``: 1.5 times the sum of the
        changes of the result when the step is halved twice. Method ``monte-carlo``: the standard
        error.
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
    """Solve the stage model of a download over a TDD link (wimax-2009 eqs. 1 to 8).

    Parameters
    ----------
    size_bytes, mss_bytes : float
        L, size of the download, above 0, and MSS, at least 1, bytes.
    rate_bps : float
        R, payload rate of the downlink, bit/s, above 0.
    base_rtt_s, contention_s, piggyback_s : float
        RTT_min, round-trip time without requests; T_ct, time of a contention-based request; T_pb,
        time of a piggyback request; s, from 0.
    loss : float
        p_e, probability that a data packet is lost, from 0 to below 1.
    packets_per_ack : float
        b, at least 1.
    initial_ssthresh_packets, max_window_packets : float
        Initial W_th (slow-start threshold) and W_max (largest window), packets, at least 1.
    ssthresh : {"updated", "constant"}
        W_th after a loss. ``"updated"``: half of the window, at least 2. ``"constant"``: unchanged,
        as in the printed equations.
    queue : {"literal", "draining"}
        Backlog in eq. 6. ``"literal"``: the backlog never drains, as in the printed equation.
        ``"draining"``: the backlog drains.
    method : {"grid", "monte-carlo"}
        ``"grid"``: computes the distribution of the window on a grid. ``"monte-carlo"``: samples
        downloads. With losses, ``"grid"`` rejects windows that would cause a queue that never
        drains.
    step : float
        Step of the grid, packets, from 1/64 to 1. The result is computed with half of this step.
        The error is estimated from additional results with this step and with twice this step.
        Default 0.5.
    samples, seed : int
        Number of sampled downloads, and their seed.

    Raises
    ------
    BadValueError
        If a value is outside its range. The message contains the value and its range.

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
    """Return the TCP rate by the square-root formula with window limit, bit/s (wimax-2009 eq. 9).

    Parameters
    ----------
    mss_bytes : float
        MSS, bytes, at least 1.
    rtt_s : float
        Round-trip time, s, above 0.
    loss : float
        p_e, probability that a packet is lost, in [0, 1]. At 0, only the window limits the rate.
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
