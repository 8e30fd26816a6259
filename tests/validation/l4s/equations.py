"""Equilibrium of one Prague and one CUBIC flow over DualPI2.

V is the virtual RTT, max(RTT, 25 ms). Prague increases its window by 1 - p segments per V, and
reduces it by the fraction p/2 at the first mark after V. With random marks, this mark is late by
V / (2 (1 - p) / d) on average, where d is the number of reductions per V:
d = 1 / (1 + d / (2 (1 - p))). So the window is 2 (1 - p) / (d p) segments per V.

CUBIC's window is the larger of that of its Reno-friendly region, sqrt(1.5 / p), and that of its
cubic region (RFC 9438 §5.1), per RTT with the queueing delay.
"""

from __future__ import annotations

import math

PACKET = 1500 * 8
"""Size of a packet, bit."""
VIRTUAL_RTT = 25e-3
"""Smallest virtual RTT, s."""


def reductions(p: float) -> float:
    """Return d, Prague's reductions per virtual RTT with random marks of probability `p`."""
    return (1 - p) * (math.sqrt(1 + 2 / (1 - p)) - 1)


def prague_rate(p: float, rtt: float) -> float:
    """Return Prague's rate, bit/s, with random marks of probability `p` and an RTT in s."""
    return 2 * (1 - p) / (reductions(p) * p) * PACKET / max(rtt, VIRTUAL_RTT)


def cubic_rate(p: float, rtt: float) -> float:
    """Return CUBIC's rate, bit/s, with drops of probability `p` and an RTT in s."""
    reno, cubic = math.sqrt(1.5 / p), 1.054 * math.pow(rtt / p, 0.75)
    return max(reno, cubic) * PACKET / rtt


def ratio(rate: float, rtt: float, target: float = 15e-3) -> float:
    """Return the ratio of the two rates if both flows fill a link with a constant p'.

    Parameters
    ----------
    rate : float
        Link rate, bit/s.
    rtt : float
        Base RTT, s; CUBIC's RTT is longer by `target`.
    target : float
        Delay of the classic queue, s.
    """
    low, high = 1e-6, 0.499
    for _ in range(100):
        base = math.sqrt(low * high)
        rates = prague_rate(2 * base, rtt), cubic_rate(base**2, rtt + target)
        low, high = (base, high) if sum(rates) > rate else (low, base)
    return rates[0] / rates[1]
