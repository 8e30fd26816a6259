"""Capacity of the bottleneck link over time, for figures and as an upper bound of rates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from airpath.engine.resolved import ResolvedScenario

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from airpath.trace import Trace

__all__ = ["Capacity"]

_MOST_BINS = 2_000_000
_MS = 1_000_000


class Capacity:
    """Cumulative capacity of a link, bits, as a function of time.

    Parameters
    ----------
    time_s : ndarray, shape (n,)
        Ascending times from 0, s.
    bits : ndarray, shape (n,)
        Cumulative bits at these times, with linear interpolation between them.
    period_s : float
        Period after which the capacity repeats, s; infinite if it does not repeat.
    changes : sequence of pair of float
        Scheduled changes of the rate: pairs of a time, s (ascending), and the factor by which the
        rate is multiplied from this time on.
    offset_s : float
        Offset into a trace at which the link starts, s. Default 0.
    """

    def __init__(
        self,
        time_s: NDArray[np.float64],
        bits: NDArray[np.float64],
        period_s: float = math.inf,
        changes: Sequence[tuple[float, float]] = (),
        offset_s: float = 0.0,
    ) -> None:
        self._offset_s = offset_s
        self._time_s = time_s
        self._bits = bits
        self._period_s = period_s
        self._changes = changes

    @classmethod
    def of(
        cls,
        resolved: ResolvedScenario,
        traces: Mapping[str, Trace],
        regimes: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
        offset_s: float = 0.0,
    ) -> Capacity | None:
        """Return the capacity of a resolved scenario's bottleneck; None if it is unknown.

        Parameters
        ----------
        resolved : ResolvedScenario
            The resolved scenario.
        traces : mapping of str to Trace
            Traces of the scenario.
        regimes : pair of ndarray or None
            Times, s, and the index of the regime (from 0) that applies from each time on.
        offset_s : float
            Offset into the trace at which the link starts, s. Default 0.
        """
        link, end_s = resolved.link, resolved.duration_s
        rates = np.array(link.known_rates_bps)
        if link.trace is not None:
            capacity = cls._from_trace(traces[link.trace])
            nominal_bps = capacity._bits[-1] / capacity._period_s
        elif len(rates) > 1 and regimes is not None:
            times, numbers = regimes
            steps = np.concatenate(([0], numbers)).astype(int)
            capacity = cls._from_steps(np.concatenate(([0.0], times)), rates[steps], end_s)
            nominal_bps = rates.max()
        elif len(rates) == 1:
            capacity, nominal_bps = cls._from_steps(np.array([0.0]), rates, end_s), rates[0]
        else:
            return None
        changes: list[tuple[float, float]] = []
        for change in resolved.changes_of_bottleneck:
            if change.user is not None:
                return None  # This change applies to one station.
            if change.rate_bps is not None:
                changes.append((change.at_s, change.rate_bps / nominal_bps))
            if change.length_s is not None:
                before = changes[-1][1] if changes else 1.0
                changes += [(change.at_s, 0.0), (change.at_s + change.length_s, before)]
        return capacity._scaled(changes, offset_s)

    def _scaled(self, changes: Sequence[tuple[float, float]], offset_s: float) -> Capacity:
        return Capacity(self._time_s, self._bits, self._period_s, changes, offset_s)

    @classmethod
    def _from_steps(
        cls, times: NDArray[np.float64], rates: NDArray[np.float64], end_s: float
    ) -> Capacity:
        edges = np.append(times, max(end_s, times[-1]))
        bits = np.concatenate(([0.0], np.cumsum(rates * np.diff(edges))))
        return cls(edges, bits)

    @classmethod
    def _from_trace(cls, trace: Trace) -> Capacity:
        period_ns = round(trace.duration_s * 1e9)
        bin_ns = _MS * max(1, -(-period_ns // (_MS * _MOST_BINS)))
        rates = trace.bin_rates(bin_ns)
        edges = np.minimum(np.arange(len(rates) + 1) * bin_ns, period_ns) / 1e9
        bits = np.concatenate(([0.0], np.cumsum(rates * np.diff(edges))))
        return cls(edges, bits, period_ns / 1e9)

    def bits(self, time_s: ArrayLike) -> NDArray[np.float64]:
        """Return the cumulative bits from the start of the run to each given time, s."""
        time = np.asarray(time_s, dtype=float)
        if not self._changes:
            return self._unscaled_bits(time)
        starts, factors = zip((0.0, 1.0), *self._changes, strict=True)
        total = np.zeros_like(time)
        for start, end, factor in zip(starts, (*starts[1:], math.inf), factors, strict=True):
            until = self._unscaled_bits(np.minimum(time, end))
            total += factor * (until - self._unscaled_bits(np.minimum(time, start)))
        return total

    def _unscaled_bits(self, time: NDArray[np.float64]) -> NDArray[np.float64]:
        if math.isinf(self._period_s):
            total: NDArray[np.float64] = np.interp(time, self._time_s, self._bits)
            return total
        if not self._offset_s:
            return self._looped_bits(time)
        before = self._looped_bits(np.asarray(self._offset_s))
        bits: NDArray[np.float64] = self._looped_bits(time + self._offset_s) - before
        return bits

    def _looped_bits(self, time: NDArray[np.float64]) -> NDArray[np.float64]:
        rounds = np.floor(time / self._period_s)
        within = np.interp(time - rounds * self._period_s, self._time_s, self._bits)
        bits: NDArray[np.float64] = rounds * self._bits[-1] + within
        return bits

    def rates(self, edges_s: ArrayLike) -> NDArray[np.float64]:
        """Return the mean rate between each pair of consecutive times, bit/s."""
        edges = np.asarray(edges_s, dtype=float)
        rates: NDArray[np.float64] = np.diff(self.bits(edges)) / np.diff(edges)
        return rates
