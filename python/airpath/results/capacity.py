"""What the bottleneck link could carry over time, for figures and as a bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from airpath.trace import Trace

__all__ = ["Capacity"]

_MOST_BINS = 2_000_000
_MS = 1_000_000


class Capacity:
    """Bits that a link could have carried since the start, as a function of time.

    Parameters
    ----------
    time_s : ndarray, shape (n,)
        Ascending times from 0, s.
    bits : ndarray, shape (n,)
        Bits up to then; linear between the times.
    period_s : float
        The last time, after which everything repeats; infinite when nothing does.
    """

    def __init__(
        self, time_s: NDArray[np.float64], bits: NDArray[np.float64], period_s: float = math.inf
    ) -> None:
        self._time_s = time_s
        self._bits = bits
        self._period_s = period_s

    @classmethod
    def of(
        cls,
        resolved: Mapping[str, Any],
        traces: Mapping[str, Trace],
        regimes: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    ) -> Capacity | None:
        """Return the capacity of a resolved scenario's bottleneck.

        Parameters
        ----------
        resolved : mapping
            The resolved scenario.
        traces : mapping of str to Trace
            Its traces.
        regimes : pair of ndarray or None
            Times, s, and the regime from then on, counted from 0.
        """
        link, end_s = resolved["bottleneck"]["link"], resolved["duration_ns"] / 1e9
        if "trace" in link:
            return cls._of_trace(traces[link["trace"]])
        if "regimes" in link:
            if regimes is None:
                return None
            rates = np.array([regime["rate_bps"] for regime in link["regimes"]], dtype=float)
            times, numbers = regimes
            steps = np.concatenate(([0], numbers)).astype(int)
            return cls._of_steps(np.concatenate(([0.0], times)), rates[steps], end_s)
        changes = sorted((c["at_ns"] / 1e9, c["action"]["rate_bps"]) for c in resolved["controls"])
        times = np.array([0.0, *(time for time, _ in changes)])
        return cls._of_steps(
            times, np.array([link["rate_bps"], *(rate for _, rate in changes)], float), end_s
        )

    @classmethod
    def _of_steps(
        cls, times: NDArray[np.float64], rates: NDArray[np.float64], end_s: float
    ) -> Capacity:
        edges = np.append(times, max(end_s, times[-1]))
        bits = np.concatenate(([0.0], np.cumsum(rates * np.diff(edges))))
        return cls(edges, bits)

    @classmethod
    def _of_trace(cls, trace: Trace) -> Capacity:
        period_ns = round(trace.duration_s * 1e9)
        bin_ns = _MS * max(1, -(-period_ns // (_MS * _MOST_BINS)))
        rates = trace.bin_rates(bin_ns)
        edges = np.minimum(np.arange(len(rates) + 1) * bin_ns, period_ns) / 1e9
        bits = np.concatenate(([0.0], np.cumsum(rates * np.diff(edges))))
        return cls(edges, bits, period_ns / 1e9)

    def bits(self, time_s: ArrayLike) -> NDArray[np.float64]:
        """Return the bits up to given times, s."""
        time = np.asarray(time_s, dtype=float)
        if math.isinf(self._period_s):
            total: NDArray[np.float64] = np.interp(time, self._time_s, self._bits)
            return total
        rounds = np.floor(time / self._period_s)
        within = np.interp(time - rounds * self._period_s, self._time_s, self._bits)
        bits: NDArray[np.float64] = rounds * self._bits[-1] + within
        return bits

    def rates(self, edges_s: ArrayLike) -> NDArray[np.float64]:
        """Return the mean rate between neighbouring times, bit/s."""
        edges = np.asarray(edges_s, dtype=float)
        rates: NDArray[np.float64] = np.diff(self.bits(edges)) / np.diff(edges)
        return rates
