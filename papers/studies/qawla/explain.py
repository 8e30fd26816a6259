"""Explanation of differences between fixed point and simulation, by assumption of the model.

The fixed point makes five assumptions that a simulation can replace:

* ``spread``: the queue length is x*. Replacement: the simulated distribution around its mean.
* ``start``: the regime depends on the current queue length. Replacement: on the queue length at the
  start of a transmission (ratio of simulated rates and losses to those of the distribution over
  time).
* ``drops``: the drop probability is q(x*). Replacement: the mean of q over the distribution.
* ``bursts``: arrivals see the time average of the queue. Replacement: the simulated drop rate of
  the arrivals, which come in bursts, as a multiple of the simulated mean of q.
* ``tcp``: flows send at the rate of the PFTK formula. Replacement: the simulated rate, as a
  multiple of the formula at the simulated loss rate and round-trip times.

After each replacement the balance is solved again: the distribution is shifted until the sending
rate equals the service rate. With all assumptions replaced, the result should be the simulated
throughput; the remaining difference is shown as ``rest`` (the frame header is 0.13 %). The effect
of one assumption depends on the assumptions replaced before, so it is averaged over all orders
(Shapley value). The effects and the rest add up to ln(T of the model / T simulated).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from airpath.reproduction.quantities import ip_throughput_mbps
from airpath_papers.qawla.data import PACKET_BYTES
from airpath_papers.qawla.queue_lengths import queue_pmf
from airpath_papers.qawla.scenarios import MAX_WINDOW_PACKETS

__all__ = ["ASSUMPTIONS", "CellAverages", "Explanation", "Path", "explain"]

ASSUMPTIONS: Final = ("spread", "start", "drops", "bursts", "tcp")
"""Assumptions of the fixed point, in the order of the module's docstring."""

TIMEOUT_S: Final = 1.0
"""Minimum timeout T_0,min, s (§4)."""
PACKET_BITS: Final = 8.0 * PACKET_BYTES
FULL: Final = 180.0
"""Queue length 2 th_max at which gentle RED drops all arrivals, packets."""
STEPS: Final = 34
"""Number of bisection steps, for a precision of 1e-7 packets."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Path:
    """Input of the model for a cell.

    Parameters
    ----------
    rates : ndarray
        Rate of each regime, packets/s.
    pers : ndarray
        Packet error rate of each regime, in [0, 1].
    thresholds : ndarray
        Thresholds between the regimes, packets, ascending.
    base_rtts_s : ndarray
        Base RTT, RTT_0,i + 2 D_F, of each flow, s.
    """

    rates: Array
    pers: Array
    thresholds: Array
    base_rtts_s: Array

    @classmethod
    def of(
        cls,
        rates_mbps: Sequence[float],
        pers: Sequence[float],
        thresholds: Sequence[int],
        base_rtts_s: Sequence[float],
    ) -> Path:
        """Return the path of a cell; rates are in Mbit/s."""
        return cls(
            np.array(rates_mbps) * 1e6 / PACKET_BITS,
            np.array(pers, dtype=float),
            np.array(thresholds, dtype=float),
            np.array(base_rtts_s),
        )


@dataclass(frozen=True)
class CellAverages:
    """Averages over the replications of a cell.

    Parameters
    ----------
    throughput_bps : float
        Throughput T, bit/s.
    system : ndarray
        Share of time with an idle link, then with a busy link and 0, 1, 2, ... waiting packets.
    arrivals_per_s : float
        Rate of arrivals at the queue, packets/s.
    dropped : float
        Share of arrivals that RED dropped, in [0, 1].
    regime_per_s : ndarray
        Rate of started transmissions in each regime, 1/s.
    """

    throughput_bps: float
    system: Array
    arrivals_per_s: float
    dropped: float
    regime_per_s: Array

    @classmethod
    def of(cls, replications: Sequence[Mapping[str, Any]]) -> CellAverages:
        """Return the averages over replications of equal length."""
        pmfs = [queue_pmf(run) for run in replications]
        system = np.zeros(max(map(len, pmfs)) + 1)
        for pmf in pmfs:
            system[1 : len(pmf) + 1] += pmf
        system /= len(pmfs)
        queue = [_named(run["queues"]) for run in replications]
        link = [_named(run["links"]) for run in replications]
        seconds = sum(float(run["measured_s"]) for run in replications)
        idle = 1 - sum(float(side["utilisation"]) for side in link) / len(link)
        system[0] = min(max(idle, 0.0), system[1])
        system[1] -= system[0]
        arrived = sum(int(side["arrived"]) for side in queue)
        drops = sum(sum(side["drops"].values()) for side in queue)
        begun = np.sum([side["regime_packets"] for side in link], axis=0)
        throughput = sum(map(ip_throughput_mbps, replications)) / len(replications)
        return cls(
            throughput * 1e6,
            system / system.sum(),
            arrived / seconds,
            drops / max(arrived, 1),
            begun / seconds,
        )


@dataclass(frozen=True)
class Explanation:
    """Causes of a difference between model and simulation.

    Parameters
    ----------
    difference : float
        ln(T of the model / T simulated).
    parts : mapping of str to float
        Contribution of each assumption, and ``rest``; they add up to `difference`.
    queue_packets, deviation_packets : float
        Mean and standard deviation of the simulated queue.
    tcp_factor : float
        Ratio of the sent packets to the PFTK formula.
    """

    difference: float
    parts: Mapping[str, float]
    queue_packets: float
    deviation_packets: float
    tcp_factor: float


def explain(path: Path, measured: CellAverages) -> Explanation:
    """Split the difference between the fixed point and the simulation of one cell by cause."""
    model = _Counterfactual(path, measured)
    throughput = {
        replaced: math.log(model.throughput_bps(*replaced))
        for replaced in product((False, True), repeat=len(ASSUMPTIONS))
    }
    simulated = math.log(measured.throughput_bps)
    nothing, everything = (False,) * len(ASSUMPTIONS), (True,) * len(ASSUMPTIONS)
    parts = {name: -_shapley(throughput, index) for index, name in enumerate(ASSUMPTIONS)}
    parts["rest"] = throughput[everything] - simulated
    lengths = np.arange(len(measured.system) - 1)
    waiting = measured.system[1:]
    mean = float(waiting @ lengths)
    return Explanation(
        throughput[nothing] - simulated,
        parts,
        mean,
        math.sqrt(max(float(waiting @ lengths**2) - mean**2, 0.0)),
        model.tcp_factor,
    )


def _shapley(values: Mapping[tuple[bool, ...], float], index: int) -> float:
    """Return the mean effect of one replacement over all orders of the replacements."""
    count = len(ASSUMPTIONS)
    total = 0.0
    for replaced, value in values.items():
        if not replaced[index]:
            before = sum(replaced)
            weight = math.factorial(before) * math.factorial(count - before - 1)
            after = (*replaced[:index], True, *replaced[index + 1 :])
            total += weight * (values[after] - value)
    return total / math.factorial(count)


@dataclass(frozen=True)
class _Link:
    """State of the link for one distribution of the queue length."""

    served_per_s: float
    per: float
    waiting: float
    transmission_s: float
    drop: float


class _Counterfactual:
    """Fixed point of a cell, with assumptions replaced by simulated values."""

    def __init__(self, path: Path, measured: CellAverages) -> None:
        self.path = path
        self.system = measured.system
        self.served_factor = self.per_factor = self.drop_factor = 1.0
        begun, rates = measured.regime_per_s, path.rates
        served = float(begun.sum())
        per = float(begun @ path.pers) / served
        here = self.moved(0.0)
        self.served_factor = served / here.served_per_s
        self.per_factor = per / here.per if here.per > 0 else 1.0
        self.drop_factor = measured.dropped / here.drop if here.drop > 1e-9 else 1.0
        loss = 1 - (1 - measured.dropped) * (1 - per)
        delay = here.waiting / served + float((begun / rates).sum()) / served
        self.tcp_factor = measured.arrivals_per_s / self.sent(loss, delay)
        self.moves = np.linspace(-float(len(self.system)), 120.0, 400)
        self.means = np.array([self.moved(move).waiting for move in self.moves])

    def sent(self, loss: float, delay_s: float) -> float:
        """Return the sending rate of all flows by the PFTK formula, packets/s."""
        rounds, timeout_s = _pftk(loss)
        return float((1 / ((self.path.base_rtts_s + delay_s) * rounds + timeout_s)).sum())

    def moved(self, move: float, start: bool = True) -> _Link:
        """Return the link's state if the simulated distribution is shifted by `move` packets.

        Probability that would move below an idle link counts as an idle link.
        """
        places = np.maximum(np.arange(len(self.system)) + move, 0.0)
        low = np.floor(places).astype(int)
        upper = self.system * (places - low)
        share = np.bincount(low, self.system - upper, low[-1] + 2)
        share += np.bincount(low + 1, upper, low[-1] + 2)
        busy, lengths = share[1:], np.arange(len(share) - 1)
        regime = np.searchsorted(self.path.thresholds, lengths, side="right")
        rates = busy * self.path.rates[regime]
        served = max(float(rates.sum()), 1e-9)
        per = float(rates @ self.path.pers[regime]) / served
        return _Link(
            served * (self.served_factor if start else 1.0),
            min(per * (self.per_factor if start else 1.0), 1.0),
            float(busy @ lengths),
            float(busy.sum()) / served,
            float(busy @ _gentle_red(lengths)),
        )

    def throughput_bps(
        self, spread: bool, start: bool, drops: bool, bursts: bool, tcp: bool
    ) -> float:
        """Return T of the balance with the selected assumptions replaced."""
        factor = self.tcp_factor if tcp else 1.0
        drop_factor = self.drop_factor if bursts else 1.0

        def excess(link: _Link) -> float:
            # Admitted rate minus service rate, packets/s.
            drop = min(link.drop * drop_factor, 1.0)
            loss = 1 - (1 - link.per) * (1 - drop)
            delay = link.waiting / link.served_per_s + link.transmission_s
            return (1 - drop) * factor * self.sent(loss, delay) - link.served_per_s

        if spread:

            def at(move: float) -> _Link:
                link = self.moved(move, start)
                drop = link.drop if drops else float(_gentle_red(link.waiting))
                return _Link(link.served_per_s, link.per, link.waiting, link.transmission_s, drop)

            found = at(_root(lambda move: excess(at(move)), -float(len(self.system)), FULL))
            return found.served_per_s * (1 - found.per) * PACKET_BITS
        return self._at_a_point(excess, drops)

    def _at_a_point(self, excess: Callable[[_Link], float], drops: bool) -> float:
        rates, pers = self.path.rates, self.path.pers

        def at(length: float, rate: float, per: float) -> _Link:
            drop = self._mean_drop(length) if drops else float(_gentle_red(length))
            return _Link(rate, per, length, 1 / rate, drop)

        empty = at(0.0, float(rates[0]), float(pers[0]))
        if excess(empty) < 0:
            return (excess(empty) + empty.served_per_s) * (1 - empty.per) * PACKET_BITS
        for index, end in enumerate((*self.path.thresholds, FULL)):
            rate, per = float(rates[index]), float(pers[index])
            if excess(at(end, rate, per)) < 0:
                return rate * (1 - per) * PACKET_BITS
            if index + 1 == len(rates):
                break
            above, above_per = float(rates[index + 1]), float(pers[index + 1])

            def mixed(
                alpha: float,
                end: float = end,
                below: tuple[float, float] = (rate, per),
                above: tuple[float, float] = (above, above_per),
            ) -> _Link:
                parts = below[0] * (1 - alpha), above[0] * alpha
                lost = parts[0] * below[1] + parts[1] * above[1]
                return at(end, sum(parts), lost / sum(parts))

            if excess(mixed(1.0)) < 0:
                found = mixed(_root(lambda alpha: excess(mixed(alpha)), 0.0, 1.0))
                return found.served_per_s * (1 - found.per) * PACKET_BITS
        raise ValueError("the queue is full: the model has no solution")

    def _mean_drop(self, length: float) -> float:
        """Return the mean of q for the distribution shifted to the mean `length`."""
        move = float(np.interp(length, self.means, self.moves))
        return self.moved(move).drop


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return low


def _gentle_red(length: float | NDArray[np.int_]) -> Any:
    """Return q(x) of Eq. 1 with th_min = 30, th_max = 90 and p_max = 0.1 (§4)."""
    return np.interp(length, (30.0, 90.0, FULL), (0.0, 0.1, 1.0))


def _pftk(loss: float) -> tuple[float, float]:
    """Return P_1 and P_2 of Eqs. 8 to 11 with b = 2: round trips and timeout, s, per packet."""
    if loss <= 0:
        return 1 / MAX_WINDOW_PACKETS, 0.0
    p = min(loss, 1 - 1e-12)
    s = 1 - p
    free = 2 / 3 + math.sqrt(4 * s / (3 * p) + 4 / 9)
    window = min(free, MAX_WINDOW_PACKETS)
    share = min(1.0, (1 - s**3) * (1 + s**3 * (1 - s ** (window - 3))) / (1 - s**window))
    backoff = 1 + p + sum(2**n * p ** (n + 1) for n in range(1, 6))
    packets = s / p + window + share / s
    limited = window / 4 + s / (p * window) + 2
    rounds = free + 1 if free < MAX_WINDOW_PACKETS else limited
    return rounds / packets, share * TIMEOUT_S * backoff / s / packets


def _named(places: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return next(place for place in places if place["name"] == "bottleneck")
