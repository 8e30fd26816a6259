"""Link adaptation of §6 by the fixed point: policies, and the best pair, over SNRs and traffic.

```
  error rates ----> PER of each MCS at each SNR --+
  rates of MCSs ----------------------------------+-> fixed points: T of every pair of MCSs
  traffic: fixed round-trip times ----------------+        |
                                                           v
  policy: MCSs at the estimated SNR --------------> T of the policy / T of *optimum* -> T_M, T_W
```

T_M is the normalised throughput, averaged over the weighted SNRs and over the traffic. T_W is the
minimum over the SNRs for each traffic scenario, averaged over the traffic.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

import airpath as ap
from airpath import _airpath
from airpath.phy import PerTable
from airpath.reproduction.session import Session
from airpath_papers.qawla.data import MEASURES, PACKET_BYTES, TRAFFIC, link_rate_bps, mcs_table
from airpath_papers.qawla.error_rates import CHANNELS, Channel, rates_of
from airpath_papers.qawla.scenarios import GRED, LINK_DELAY_NS, MAX_WINDOW_PACKETS

__all__ = [
    "BASE_RTTS_S",
    "BOUNDARIES",
    "OPTIMUM_PAIRS",
    "PAIRS",
    "POLICIES",
    "TH_FER",
    "TH_PER",
    "Adaptation",
    "Adaptations",
    "Pair",
    "adaptations",
]

Array = NDArray[np.float64]

Pair = tuple[int, int]
"""Numbers m of MCS_1 and MCS_2: below and above the boundary B of the queue."""

RATES_BPS: Final = {m: link_rate_bps(mcs) for m, mcs in mcs_table().items()}
"""Rate of each MCS, bit/s of IP packets."""

BOUNDARIES: Final = (20, 30, 40)
"""Values of B in §6, packets."""

PAIRS: Final = tuple(
    (m, n)
    for m in RATES_BPS
    for n in RATES_BPS
    # mcs3 and mcs4 have the same rate, so that either can be MCS_1.
    if m <= n or RATES_BPS[m] == RATES_BPS[n]
)
"""All solved pairs."""

OPTIMUM_PAIRS: Final = tuple((m, n) for m, n in PAIRS if m == n or RATES_BPS[m] != RATES_BPS[n])
"""The paper's 35 policies (§4): one MCS, or a slower MCS below B and a faster MCS above."""

BASE_RTTS_S: Final = [
    [float(rtt0 + 2 * LINK_DELAY_NS) * 1e-9 for rtt0 in traffic.rtt0_ns()] for traffic in TRAFFIC
]
"""Base RTTs, RTT_0,i + 2 D_F, of the flows of each traffic scenario, s."""

TCP: Final = (MAX_WINDOW_PACKETS, 1.0, 2.0)
"""TCP parameters: W_max, packets; T_0,min, s; b (§4)."""

POLICIES: Final[Mapping[str, ap.policy.LinkAdaptation]] = {
    "QAWLA(0.05, 100, 20)": ap.policy.Qawla(th_per=0.05, h=100, threshold=20),
    "TAGLA(0.0032)": ap.policy.Tagla(th_per=0.0032),
    "TFER(0.00013)": ap.policy.Tfer(th_fer=0.00013),
    "MaxPHYThru-PER": ap.policy.MaxPhyThroughput(error_rate="per"),
    "MaxPHYThru-FER": ap.policy.MaxPhyThroughput(error_rate="fer"),
}
"""Policies in the rows of Table 6."""

TH_PER: Final = tuple(10 ** (tenths / 10) for tenths in range(-50, -2))
"""Values of th_PER in the figures: ten per decade, from 1e-5 to 0.5."""

TH_FER: Final = tuple(10 ** (tenths / 10) for tenths in range(-60, -2))
"""Candidate values of th_FER in the search of the best: from 1e-6 to 0.5."""


def _policy(name: str, threshold: float, h: int, boundary: int) -> ap.policy.LinkAdaptation:
    if name == "TFER":
        return ap.policy.Tfer(th_fer=threshold)
    if name == "TAGLA":
        return ap.policy.Tagla(th_per=threshold)
    return ap.policy.Qawla(th_per=threshold, h=h, threshold=boundary)


def _boundary(chosen: ap.policy.LinkAdaptation) -> int:
    """Return B of a policy; a single MCS has the same throughput with any B."""
    return chosen.threshold if isinstance(chosen, ap.policy.Qawla) else BOUNDARIES[0]


# --- policies on a channel ---------------------------------------------------------------------


class Adaptation:
    """Results of all policies on one channel.

    Parameters
    ----------
    channel : Channel
        The channel.
    rates : PerTable
        Error rates that the policies use.
    throughput_bps : mapping of int to ndarray, optional
        Throughput T of each pair, by B, at each SNR for each traffic scenario, bit/s. Default:
        solved with `rates`.
    threads : int or None
        Number of threads of the solver. None: one for each core.
    """

    def __init__(
        self,
        channel: Channel,
        rates: PerTable,
        throughput_bps: Mapping[int, Array] | None = None,
        threads: int | None = None,
    ) -> None:
        self.channel, self.rates = channel, rates
        self.snrs_db = channel.snrs_db()
        self.weights = channel.weights()
        self.throughput_bps = throughput_bps or _solve(rates, self.snrs_db, threads)
        chosen = [PAIRS.index(pair) for pair in OPTIMUM_PAIRS]
        self.optimum_bps: dict[int | None, Array] = {
            b: found[:, chosen].max(axis=1) for b, found in self.throughput_bps.items()
        }
        self.optimum_bps[None] = np.max(list(self.optimum_bps.values()), axis=0)
        """T of the best pair for each B, and of *optimum*, the best pair with any B (key None)."""
        self._text = json.dumps(rates.document)
        self._chosen: dict[tuple[object, ...], NDArray[np.intp]] = {}
        self._found: dict[tuple[object, ...], float] = {}

    def choices(self, chosen: ap.policy.LinkAdaptation, over_rating_db: float = 0.0) -> list[Pair]:
        """Return MCS_1 and MCS_2 of a policy at each SNR, which may be over-rated.

        Above the last SNR of the error rates, policies use the error rates of the last SNR.
        """
        return [PAIRS[place] for place in self._places(chosen, over_rating_db)]

    def _places(self, chosen: ap.policy.LinkAdaptation, over_rating_db: float) -> NDArray[np.intp]:
        # The chosen MCSs do not depend on B.
        key = tuple((vars(chosen) | {"threshold": None}).values())
        if key not in self._chosen:
            text = json.dumps(chosen.document())
            found = _airpath.policy_choices(text, self._text, self.snrs_db, PACKET_BYTES)
            self._chosen[key] = np.array([PAIRS.index((each[0], each[-1])) for each in found])
        places = self._chosen[key]
        steps = round(over_rating_db / self.channel.grid_db[2])
        return places[np.minimum(np.arange(len(places)) + steps, len(places) - 1)]

    def normalised(
        self,
        chosen: ap.policy.LinkAdaptation,
        over_rating_db: float = 0.0,
        optimum_b: int | None = None,
    ) -> Array:
        """Return T of a policy / T of *optimum*, at each SNR for each traffic scenario.

        `optimum_b` is the B of the candidate pairs of *optimum*, packets. Default: any.
        """
        places = self._places(chosen, over_rating_db)
        throughput_bps = self.throughput_bps[_boundary(chosen)][np.arange(len(places)), places]
        found: Array = throughput_bps / self.optimum_bps[optimum_b]
        return found

    def mean(
        self,
        chosen: ap.policy.LinkAdaptation,
        over_rating_db: float = 0.0,
        optimum_b: int | None = None,
    ) -> float:
        """Return T_M."""
        normalised = self.normalised(chosen, over_rating_db, optimum_b)
        return float(self.weights @ normalised.mean(axis=1))

    def worst(
        self,
        chosen: ap.policy.LinkAdaptation,
        over_rating_db: float = 0.0,
        optimum_b: int | None = None,
    ) -> float:
        """Return T_W."""
        return float(self.normalised(chosen, over_rating_db, optimum_b).min(axis=0).mean())

    def at(
        self,
        policy: str,
        threshold: float,
        h: int = 100,
        boundary: int = 20,
        over_rating_db: float = 0,
        worst: bool = False,
        optimum_b: int = 0,
    ) -> float:
        """Return T_M, or T_W if `worst`, of QAWLA, TAGLA or TFER; results are cached.

        The defaults are those of Figs. 9 to 12 and of Table 6. `optimum_b` is the B of the
        candidate pairs of *optimum*, packets; 0 for any.
        """
        key = (policy, threshold, h, boundary, over_rating_db, worst, optimum_b)
        if key not in self._found:
            of = self.worst if worst else self.mean
            chosen = _policy(policy, threshold, h, boundary)
            self._found[key] = of(chosen, over_rating_db, optimum_b or None)
        return self._found[key]

    def entry(self, name: str, measure: str) -> float:
        """Return a number of Table 6: T_M or T_W of a policy in `POLICIES`."""
        of = dict(zip(MEASURES, (self.mean, self.worst), strict=True))
        return of[measure](POLICIES[name])


def _solve(rates: PerTable, snrs_db: Sequence[float], threads: int | None) -> dict[int, Array]:
    """Return T of each pair, by B, at each SNR for each traffic scenario, bit/s."""
    pers = {m: np.asarray(rates.per(m, snrs_db, PACKET_BYTES)).tolist() for m in RATES_BPS}
    # Many links are equal, because error rates are often 0 or 1; each link is solved once.
    links: dict[tuple[tuple[float, ...], tuple[tuple[float, float], ...]], int] = {}

    def number(at: int, pair: Pair, boundary: int) -> int:
        # A single MCS has no boundary: its solution is the same for every B.
        regimes = tuple((RATES_BPS[m], pers[m][at]) for m in dict.fromkeys(pair))
        thresholds = (float(boundary),) if len(regimes) > 1 else ()
        return links.setdefault((thresholds, regimes), len(links))

    numbers = {
        b: [[number(at, pair, b) for pair in PAIRS] for at in range(len(snrs_db))]
        for b in BOUNDARIES
    }
    gred = (float(GRED["min_th"]), float(GRED["max_th"]), float(GRED["max_p"]))
    cores = threads or os.cpu_count() or 1
    found = _airpath.fixed_points(list(links), BASE_RTTS_S, gred, TCP, PACKET_BYTES, cores)
    throughput = np.frombuffer(found, "<f8").reshape(len(links), len(BASE_RTTS_S))
    return {b: throughput[np.array(places)] for b, places in numbers.items()}


Adaptations = Mapping[str, Adaptation]
"""Results of all policies, by key of the channel."""


def adaptations(session: Session) -> Adaptations:
    """Return the adaptation on both channels. A resample uses other error rates."""
    return session.shared(
        "link adaptation",
        lambda: {
            key: Adaptation(CHANNELS[key], rates, threads=session.threads)
            for key, rates in rates_of(session).items()
        },
    )
