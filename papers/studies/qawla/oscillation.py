"""Oscillation of the queues over the random links: periodicity and speed.

``python -m studies.qawla.oscillation`` prints a line for each random link, in about ten seconds.
`docs/explanation/fixed-point-validity.md` has the conclusions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from airpath import api

from .random_links import LINKS, random_link
from .scenarios import random_path

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Motion", "motion"]

START_S: Final = 30.0
END_S: Final = 150.0
STEP_S: Final = 0.002
LONGEST_PERIOD_S: Final = 30.0


@dataclass(frozen=True)
class Motion:
    """Statistics of the oscillation of a link's queue.

    Parameters
    ----------
    peak : float
        Maximum of the autocorrelation after its first zero, up to 30 s: 1 for a periodic queue,
        near 0 for noise.
    period_rtts : float
        Lag of this maximum, in mean round-trip times: the period, if the queue is periodic.
    slow : float
        Variance of averages over one round-trip time, as a share of the variance.
    together : float
        Variance of the sum of all windows, divided by the sum of their variances: 1 for independent
        flows, N for synchronised flows, below 1 for negatively correlated flows.
    """

    peak: float
    period_rtts: float
    slow: float
    together: float


def motion(link: int, seed: int = 1) -> Motion:
    """Simulate a random link once and measure the oscillation of its queue."""
    run = {"duration": f"{END_S} s", "warmup": f"{START_S} s"}
    scenario = random_path(link).replace({**run, "record.series": ["queue", "cwnd"]})
    result = api.simulate(scenario, reps=1, seed=seed)
    times = np.arange(START_S, END_S, STEP_S)
    queue = result.series("queue")
    lengths = _sampled(queue[queue["id"] == 0], times)
    flows = result.replications[0]["flows"]
    rtt_s = float(np.mean([flow["mean_rtt_s"] for flow in flows if flow["mean_rtt_s"]]))
    steps = max(round(rtt_s / STEP_S), 1)
    sums = np.concatenate(([0.0], np.cumsum(lengths)))
    averages = (sums[steps:] - sums[:-steps]) / steps
    correlation = _autocorrelation(lengths)[: round(LONGEST_PERIOD_S / STEP_S)]
    below = np.flatnonzero(correlation < 0)
    first = int(below[0]) if len(below) else 0
    place = first + int(np.argmax(correlation[first:])) if first else 0
    cwnd = result.series("cwnd")
    windows = np.array(
        [_sampled(cwnd[cwnd["id"] == flow["id"]], times[::5]) for flow in flows]
    ).clip(max=65535)
    apart = float(windows.var(axis=1).sum())
    return Motion(
        float(correlation[place]) if place else 0.0,
        place * STEP_S / rtt_s,
        float(averages.var() / max(lengths.var(), 1e-12)),
        float(windows.sum(axis=0).var()) / apart if apart else float("nan"),
    )


def _sampled(series: pd.DataFrame, times: NDArray[np.float64]) -> NDArray[np.float64]:
    time = np.asarray(series["time_s"], dtype=float)
    value = np.asarray(series["value"], dtype=float)
    sampled: NDArray[np.float64] = value[np.maximum(np.searchsorted(time, times, "right") - 1, 0)]
    return sampled


def _autocorrelation(values: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = values - values.mean()
    spectrum = np.abs(np.fft.rfft(centred, 2 * len(values))) ** 2
    products: NDArray[np.float64] = np.fft.irfft(spectrum)[: len(values)]
    return products / products[0] if products[0] > 0 else products


def main() -> None:
    """Print the statistics of every random link, and medians by number of flows."""
    found: dict[int, list[Motion]] = {}
    print("link   N  peak  at RTTs  slow  together")
    for number in range(1, LINKS + 1):
        moved, flows = motion(number), random_link(number).flows
        found.setdefault(flows, []).append(moved)
        print(
            f"{number:4} {flows:3}  {moved.peak:4.2f} {moved.period_rtts:8.1f}  {moved.slow:4.2f}"
            f"  {moved.together:8.2f}"
        )
    print("\n  N links  peak  slow  together   (medians)")
    for flows, motions in sorted(found.items()):
        medians = [
            float(np.nanmedian([getattr(moved, name) for moved in motions]))
            for name in ("peak", "slow", "together")
        ]
        print(
            f"{flows:3} {len(motions):5}  {medians[0]:4.2f}  {medians[1]:4.2f}  {medians[2]:8.2f}"
        )


if __name__ == "__main__":
    main()
