"""Fig. 8: a long flow among Poisson arrivals of short ones (clamp-2008 §5.8)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

import airpath as ap
from airpath.reproduction.base import Effort
from airpath.reproduction.session import Session
from airpath_papers.clamp.scenarios import AS_CHOSEN, FAST, HIGH, NEWRENO, Radio, cell_of

__all__ = [
    "ARRIVALS_S",
    "BUFFER_BYTES",
    "END_S",
    "Dynamics",
    "build_dynamics",
    "effort_of_dynamics",
    "fluctuation",
    "moving_mean",
    "rates_bps",
]

END_S: Final = 150.0
ARRIVALS_S: Final = 100.0
BUFFER_BYTES: Final = 65_000
RUNS: Final = 20
MOST: Final = 80
"""Short flows that may arrive: 26 are expected, and more than this never come."""


class Dynamics(NamedTuple):
    """The long flow among others.

    Parameters
    ----------
    scheme : str
        ``clamp`` or ``newreno``.
    mode_packets : int
        The most likely size of the others, packets: 2000 of the symmetric triangle, or 1.
    a_bytes : int
        a of CLAMP; of New Reno it has no meaning.
    buffer_bytes : int
        Buffer of CLAMP's queue; New Reno's is 65 kB.
    """

    scheme: str
    mode_packets: int
    a_bytes: int
    buffer_bytes: int = 6_000_000


def effort_of_dynamics(_case: Dynamics) -> Effort:
    """Return how long and how often a case is simulated."""
    return Effort(replications=RUNS, duration_s=END_S, warmup_s=0.0)


def build_dynamics(case: Dynamics, effort: Effort) -> ap.Scenario:
    """Return the scenario of a case."""
    clamp = case.scheme == "clamp"
    same: dict[str, Any] = {"cc": "newreno", "tcp": NEWRENO, "user": 0, "base_rtt": "52 ms"}
    if clamp:
        same["window"] = ap.window.Clamp()
    sizes = {"smallest": "1460 B", "largest": "5840 kB", "step": "1460 B"}
    size = {"triangular": {**sizes, "mode": f"{1460 * case.mode_packets} B"}}
    arrivals = {"poisson": "0.26 /s", "until": f"{ARRIVALS_S:g} s"}
    buffer = ap.aqm.DropTail(limit=f"{case.buffer_bytes if clamp else BUFFER_BYTES} B")
    return ap.Scenario(
        name="clamp dynamics",
        duration=effort.duration_s,
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.Clamp(a=f"{case.a_bytes} B", inner=buffer) if clamp else buffer,
            link=cell_of(Radio(*HIGH, *FAST), AS_CHOSEN),
        ),
        flows=[
            ap.traffic.Tcp(**same),
            ap.traffic.Tcp(**same, count=MOST, size=size, arrivals=arrivals),
        ],
        record=ap.Record(series=["delivered", "queue"]),
    )


def rates_bps(session: Session, case: Dynamics, run: int, window_s: float) -> Any:
    """Return the long flow's rate in consecutive windows of a replication, bit/s."""
    times, received = session.series(case, "delivered", run).of(0)
    edges = np.arange(0.0, END_S + window_s / 2, window_s)
    return 8 * np.histogram(times, bins=edges, weights=received)[0] / window_s


def moving_mean(values: Any, width: int) -> Any:
    """Return the means of `width` neighbours each."""
    return np.convolve(values, np.ones(width) / width, mode="valid")


def fluctuation(
    session: Session, case: Dynamics, run: int, window_s: float, mean_s: float
) -> float:
    """Return the standard deviation of the long flow's rate about its moving mean, bit/s.

    Parameters
    ----------
    session : Session
        Has the case.
    case : Dynamics
        Which.
    run : int
        Which replication.
    window_s, mean_s : float
        Over how long the rate and its mean are taken, s.
    """
    rates = rates_bps(session, case, run, window_s)
    width = round(mean_s / window_s)
    means = moving_mean(rates, width)
    half = width // 2
    return float(np.std(rates[half : half + len(means)] - means))
