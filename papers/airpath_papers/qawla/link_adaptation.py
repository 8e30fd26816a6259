"""Link adaptation by the fixed point: policies over SNRs and traffic, beside the best pair.

```
  error rates ----> PER of each MCS at each SNR --+
  rates of MCSs ----------------------------------+-> fixed points: T of every pair of MCSs
  traffic: fixed round-trip times ----------------+        |
                                                           v
  policy: MCSs at the estimated SNR --------------> T of the policy / T of *optimum* -> T_M, T_W
```

T_M is the normalised throughput averaged over the SNRs with their weights and over the traffic; T_W
the smallest over the SNRs for each traffic, averaged over the traffic (qawla-2015 §6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from airpath_papers.qawla.error_rates import PACKET_BYTES, Channel, ErrorRates
from airpath_papers.qawla.fixed_points import ModelLink, fixed_points, policy_choices

__all__ = [
    "Adaptation",
    "Links",
    "Pair",
    "Policy",
    "Sweep",
    "max_phy_throughput",
    "qawla",
    "tagla",
    "tfer",
]

Pair = tuple[int, int]
"""MCS_1 and MCS_2, by m: below and above the boundary B of the queue."""

TIE: Final = 1e-6
"""Relative difference of throughputs that are the same to the model."""


@dataclass(frozen=True)
class Links:
    """The links and the traffic that are solved.

    Parameters
    ----------
    rates_bps : mapping of int to float
        Rate of each MCS, bit/s of IP packets.
    boundaries : tuple of int
        B, packets.
    base_rtts_s : sequence of sequence of float
        Round-trip times without queueing of the flows of each traffic scenario, s.
    gred : tuple of float
        min_th and max_th, packets, and max_p of gentle RED.
    tcp : tuple of float
        The largest window, packets, the timeout, s, and the packets for each ACK.
    """

    rates_bps: Mapping[int, float]
    boundaries: tuple[int, ...]
    base_rtts_s: Sequence[Sequence[float]]
    gred: tuple[float, float, float]
    tcp: tuple[float, float, float]

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every pair that is solved: of MCSs that are as fast either may be MCS_1."""
        rates = self.rates_bps
        return tuple((m, n) for m in rates for n in rates if m <= n or rates[m] == rates[n])

    @cached_property
    def optimum_pairs(self) -> tuple[Pair, ...]:
        """The pairs of *optimum*: one MCS, or a slower one below a faster one."""
        rates = self.rates_bps
        return tuple((m, n) for m, n in self.pairs if m == n or rates[m] != rates[n])


# --- policies ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Policy:
    """A link adaptation policy.

    Parameters
    ----------
    name : str
        As papers write it.
    kind : str
        What the library calls it.
    parameters : tuple of (str, value)
        Its parameters there, except B.
    boundary : int
        B, packets, of the links that it is measured on.
    """

    name: str
    kind: str
    parameters: tuple[tuple[str, float | str], ...]
    boundary: int = 20

    def described(self) -> Mapping[str, Any]:
        """Return the library's description of it."""
        boundary = {"threshold": self.boundary} if self.kind == "qawla" else {}
        return {"kind": self.kind, **dict(self.parameters), **boundary}


def qawla(th_per: float, h: float = 100, boundary: int = 20) -> Policy:
    """Return QAWLA(th_PER, H, B)."""
    parameters = (("th_per", th_per), ("h", h))
    return Policy(f"QAWLA({th_per:g}, {h:g}, {boundary})", "qawla", parameters, boundary)


def tagla(th_per: float) -> Policy:
    """Return TAGLA(th_PER)."""
    return Policy(f"TAGLA({th_per:g})", "tagla", (("th_per", th_per),))


def tfer(th_fer: float) -> Policy:
    """Return TFER(th_FER)."""
    return Policy(f"TFER({th_fer:g})", "tfer", (("th_fer", th_fer),))


def max_phy_throughput(rate: str) -> Policy:
    """Return MaxPHYThru by the packet error rate, ``per``, or the frame error rate, ``fer``."""
    parameters = (("error_rate", rate),)
    return Policy(f"MaxPHYThru-{rate.upper()}", "max-phy-throughput", parameters)


# --- policies on a channel ---------------------------------------------------------------------


class Adaptation:
    """All policies on one channel.

    Parameters
    ----------
    channel : Channel
        Which one.
    rates : ErrorRates
        Of its MCSs.
    links : Links
        What is solved.
    threads : int or None
        For solving; None is one for each core.
    """

    def __init__(
        self,
        channel: Channel,
        rates: ErrorRates,
        links: Links,
        threads: int | None = None,
    ) -> None:
        self.channel = channel
        self.rates = rates
        self.links = links
        self.snrs_db = channel.snrs_db()
        self.throughput_bps = _solve(rates, self.snrs_db, links, threads)
        self._chosen: dict[tuple[Any, ...], NDArray[np.intp]] = {}
        self._swept: dict[Sweep, list[float]] = {}
        self._means: dict[tuple[int, int | None], NDArray[np.float64]] = {}

    def with_choices_of(self, rates: ErrorRates) -> Adaptation:
        """Return the same links, on which policies choose by other error rates."""
        other = copy(self)
        other.rates, other._chosen, other._swept = rates, {}, {}
        return other

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The weight of each SNR; their sum is 1."""
        return self.channel.weights()

    @cached_property
    def optimum_bps(self) -> NDArray[np.float64]:
        """T of *optimum* at each SNR for each traffic scenario, bit/s."""
        found: NDArray[np.float64] = np.max(
            [self.optimum_of_bps(b) for b in self.links.boundaries], axis=0
        )
        return found

    def optimum_of_bps(self, boundary: int) -> NDArray[np.float64]:
        """Return T of the best of the policies with one B, packets, as `optimum_bps` has it."""
        pairs = self.links.pairs
        chosen = [pairs.index(pair) for pair in self.links.optimum_pairs]
        found: NDArray[np.float64] = self.throughput_bps[boundary][:, chosen].max(axis=1)
        return found

    def optimum_pair(self, snr_db: float, traffic: int, boundary: int = 20) -> Pair:
        """Return *optimum* for one B at one SNR for one traffic scenario.

        Where the queue stays in one regime the other makes no difference to the model: of pairs
        with the same throughput the one whose MCSs are the least different, then the fastest.

        Parameters
        ----------
        snr_db : float
            One of `snrs_db`.
        traffic : int
            Place in `Links.base_rtts_s`.
        boundary : int
            B, packets. Default 20.
        """
        at = self.snrs_db.index(snr_db)
        found = self.throughput_bps[boundary][at, :, traffic]
        throughput = dict(zip(self.links.pairs, found, strict=True))
        best = max(throughput[pair] for pair in self.links.optimum_pairs)
        same = [pair for pair in self.links.optimum_pairs if throughput[pair] >= (1 - TIE) * best]
        return max(same, key=lambda pair: (pair[0] - pair[1], pair[0]))

    def choices(self, policy: Policy, over_rating_db: float = 0.0) -> list[Pair]:
        """Return MCS_1 and MCS_2 that a policy chooses at each SNR, over-rated or as it is.

        Above the last SNR of the error rates policies see those of the last one.
        """
        return [self.links.pairs[place] for place in self._places(policy, over_rating_db)]

    def _places(self, policy: Policy, over_rating_db: float) -> NDArray[np.intp]:
        """Return the places of `choices` in the links' pairs."""
        key = (policy.kind, policy.parameters)  # They do not depend on B.
        if key not in self._chosen:
            found = policy_choices(policy.described(), self.rates.text, self.snrs_db, PACKET_BYTES)
            pairs = self.links.pairs
            self._chosen[key] = np.array([pairs.index((each[0], each[-1])) for each in found])
        known = self._chosen[key]
        steps = round(over_rating_db / self.channel.grid_db[2])
        return known[np.minimum(np.arange(len(known)) + steps, len(known) - 1)]

    def normalised(
        self,
        policy: Policy,
        over_rating_db: float = 0.0,
        optimum_bps: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return T of a policy over that of *optimum*, at each SNR for each traffic scenario."""
        places = self._places(policy, over_rating_db)
        throughput = self.throughput_bps[policy.boundary][np.arange(len(places)), places]
        best = self.optimum_bps if optimum_bps is None else optimum_bps
        found: NDArray[np.float64] = throughput / best
        return found

    def mean(
        self, policy: Policy, over_rating_db: float = 0.0, optimum_b: int | None = None
    ) -> float:
        """T_M; `optimum_b` is the B of the policies that *optimum* is one of, by default any."""
        key = (policy.boundary, optimum_b)
        if key not in self._means:
            best = self.optimum_bps if optimum_b is None else self.optimum_of_bps(optimum_b)
            throughput = self.throughput_bps[policy.boundary]
            self._means[key] = (throughput / best[:, np.newaxis]).mean(axis=2)
        places = self._places(policy, over_rating_db)
        return float(self.weights @ self._means[key][np.arange(len(places)), places])

    def worst(self, policy: Policy, over_rating_db: float = 0.0) -> float:
        """T_W."""
        return float(self.normalised(policy, over_rating_db).min(axis=0).mean())

    def swept(self, sweep: Sweep) -> Sequence[float]:
        """Return T_M or T_W at every threshold of a sweep."""
        if sweep not in self._swept:
            self._swept[sweep] = [sweep.value(self, each) for each in sweep.thresholds]
        return self._swept[sweep]


# --- a policy over its threshold ---------------------------------------------------------------


@dataclass(frozen=True)
class Sweep:
    """T_M or T_W of a policy over its threshold.

    Parameters
    ----------
    policy : callable
        Makes the policy of a threshold.
    thresholds : sequence of float
        Ascending.
    over_rating_db : float
        By how much the SNR is over-rated, dB.
    worst : bool
        T_W instead of T_M.
    optimum_b : int or None
        B of the policies that *optimum* of T_M is one of, packets; None: any B.
    """

    policy: Callable[[float], Policy]
    thresholds: Sequence[float]
    over_rating_db: float = 0.0
    worst: bool = False
    optimum_b: int | None = None

    def value(self, adaptation: Adaptation, threshold: float) -> float:
        """Return T_M or T_W at one threshold."""
        policy = self.policy(threshold)
        if self.worst:
            return adaptation.worst(policy, self.over_rating_db)
        return adaptation.mean(policy, self.over_rating_db, self.optimum_b)

    def values(self, adaptation: Adaptation, at_least: float = 0.0) -> list[float]:
        """Return T_M or T_W at every threshold from `at_least` on."""
        each = zip(self.thresholds, adaptation.swept(self), strict=True)
        return [value for threshold, value in each if threshold >= 0.999 * at_least]

    def peak(self, adaptation: Adaptation) -> tuple[float, float]:
        """Return the threshold where it is largest, and the value there."""
        value, at = max(zip(self.values(adaptation), self.thresholds, strict=True))
        return at, value

    def average(self, adaptation: Adaptation, at_least: float) -> float:
        """Return the mean over the thresholds from `at_least` on."""
        high = self.values(adaptation, at_least)
        return sum(high) / len(high)

    def best(self, found: Sequence[Adaptation]) -> tuple[float, float]:
        """Return the threshold with the largest average over channels, and that average."""
        average, at = max((self.over(found, each), each) for each in self.thresholds)
        return at, average

    def over(self, found: Sequence[Adaptation], threshold: float) -> float:
        """Return the average over channels at one threshold."""
        return sum(self.value(each, threshold) for each in found) / len(found)


# --- the fixed points --------------------------------------------------------------------------


def _solve(
    rates: ErrorRates,
    snrs_db: Sequence[float],
    what: Links,
    threads: int | None,
) -> Mapping[int, NDArray[np.float64]]:
    """Return T of each pair by B, at each SNR for each traffic scenario, bit/s."""
    # Many links are the same: error rates are 1 below a curve and 0 above it.
    links: dict[ModelLink, int] = {}
    places: dict[tuple[int, Pair, int], int] = {}
    pers = {m: rates.pers(m, snrs_db) for m in what.rates_bps}
    for at in range(len(snrs_db)):
        regimes = {m: (rate, pers[m][at]) for m, rate in what.rates_bps.items()}
        for below, above in what.pairs:
            for boundary in what.boundaries:
                # A single MCS has no boundary: one solution for every B.
                link: ModelLink = (
                    ((), (regimes[below],))
                    if below == above
                    else ((float(boundary),), (regimes[below], regimes[above]))
                )
                places[at, (below, above), boundary] = links.setdefault(link, len(links))
    found = fixed_points(
        list(links),
        what.base_rtts_s,
        what.gred,
        what.tcp,
        packet_bytes=PACKET_BYTES,
        threads=threads,
    )
    return {
        b: np.array(
            [[found[places[at, pair, b]] for pair in what.pairs] for at in range(len(snrs_db))]
        )
        for b in what.boundaries
    }
