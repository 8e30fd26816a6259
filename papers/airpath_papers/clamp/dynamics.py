"""Fig. 8: a long flow and short flows with Poisson arrivals (clamp-2008 §5.8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

import airpath as ap
from airpath.reproduction.session import Session
from airpath.reproduction.sweeps import SweepPoint
from airpath_papers.clamp.scenarios import NEWRENO, cell_of, radio_of

__all__ = [
    "ARRIVALS_S",
    "BUFFER_BYTES",
    "CASES",
    "END_S",
    "dynamics",
    "fluctuation",
    "moving_mean",
    "rates_bps",
]

END_S: Final = 150.0
ARRIVALS_S: Final = 100.0
BUFFER_BYTES: Final = 65_000
MOST: Final = 80
"""Maximum number of short flows: 26 are expected, so that this limit is never reached."""


class Dynamics(NamedTuple):
    """Parameters of the scenario of a long flow and short flows.

    Parameters
    ----------
    clamp : bool
        Whether to use CLAMP instead of New Reno.
    mode_packets : int
        Most likely size of the short flows, packets: 2000 (symmetric triangular distribution), or
        1.
    a_bytes : int
        Parameter a of CLAMP, bytes; not used by New Reno.
    buffer_bytes : int
        Buffer of CLAMP's queue, bytes; New Reno's buffer is 65 kB.
    """

    clamp: bool
    mode_packets: int = 2000
    a_bytes: int = 40_000
    buffer_bytes: int = 6_000_000


CASES: Final[Mapping[str, Dynamics]] = {
    **{f"a={a}": Dynamics(clamp=True, a_bytes=a) for a in (20_000, 28_000, 40_000, 56_000)},
    "newreno": Dynamics(clamp=False),
    "restricted": Dynamics(clamp=True, buffer_bytes=65_000),
    "double": Dynamics(clamp=True, buffer_bytes=130_000),
    "smaller newreno": Dynamics(clamp=False, mode_packets=1),
    "smaller clamp": Dynamics(clamp=True, mode_packets=1),
}
"""Scenario parameters by the name that claims use."""


def dynamics(case: str) -> ap.Scenario:
    """Return the scenario for a key of `CASES`."""
    clamp, mode_packets, a_bytes, buffer_bytes = CASES[case]
    same: dict[str, Any] = {"cc": "newreno", "tcp": NEWRENO, "user": 0, "base_rtt": "52 ms"}
    if clamp:
        same["window"] = ap.window.Clamp()
    sizes = {"smallest": "1460 B", "largest": "5840 kB", "step": "1460 B"}
    size = {"triangular": {**sizes, "mode": f"{1460 * mode_packets} B"}}
    arrivals = {"poisson": "0.26 /s", "until": f"{ARRIVALS_S:g} s"}
    buffer = ap.aqm.DropTail(limit=f"{buffer_bytes if clamp else BUFFER_BYTES} B")
    return ap.Scenario(
        name="clamp dynamics",
        duration=END_S,
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.Clamp(a=f"{a_bytes} B", inner=buffer) if clamp else buffer,
            link=cell_of(radio_of("fast")),
        ),
        flows=[
            ap.traffic.Tcp(**same),
            ap.traffic.Tcp(**same, count=MOST, size=size, arrivals=arrivals),
        ],
    )


def rates_bps(session: Session, point: SweepPoint, run: int, window_s: float) -> Any:
    """Return the long flow's rate in consecutive windows of a replication, bit/s."""
    edges = np.arange(0.0, END_S + window_s / 2, window_s)
    return 8 * session.series(point, "delivered", run).sums(0, edges) / window_s


def moving_mean(values: Any, width: int) -> Any:
    """Return the moving average over `width` values."""
    return np.convolve(values, np.ones(width) / width, mode="valid")


def fluctuation(
    session: Session, point: SweepPoint, run: int, window_s: float, mean_s: float
) -> float:
    """Return the standard deviation of the long flow's rate about its moving mean, bit/s.

    Parameters
    ----------
    session : Session
        Session that contains the point.
    point : SweepPoint
        Simulated point.
    run : int
        Number of the replication.
    window_s, mean_s : float
        Averaging times of the rate and of its moving mean, s.
    """
    rates = rates_bps(session, point, run, window_s)
    width = round(mean_s / window_s)
    means = moving_mean(rates, width)
    half = width // 2
    return float(np.std(rates[half : half + len(means)] - means))
