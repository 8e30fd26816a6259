"""Link adaptation by the fixed point: every policy over SNRs and traffic (§6).

```
  error rates ----> PER of each MCS at each SNR --+
  Table 1 --------> rate of each MCS -------------+-> fixed points: T of every pair of MCSs
  72 traffic scenarios ---------------------------+        |
                                                           v
  policy: MCSs at the estimated SNR --------------> T of the policy / T of *optimum* -> T_M, T_W
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from airpath.papers.kit.engine import Engine, ModelLink
from airpath.papers.kit.session import Session
from airpath.papers.qawla.data import PACKET_BYTES, link_rate_bps, mcs_table
from airpath.papers.qawla.radio import CHANNELS, Channel, ErrorRates
from airpath.papers.qawla.scenarios import GRED, LINK_DELAY_NS
from airpath.papers.qawla.traffic import TRAFFIC

__all__ = [
    "BOUNDARIES",
    "BOUNDARY",
    "MAX_PHY_THROUGHPUT_FER",
    "MAX_PHY_THROUGHPUT_PER",
    "OPTIMUM_PAIRS",
    "PAIRS",
    "Adaptation",
    "Adaptations",
    "Pair",
    "Policy",
    "adaptations",
    "qawla",
    "tagla",
    "tfer",
]

Pair = tuple[int, int]
"""MCS_1 and MCS_2, by m."""

PAIRS: Final[tuple[Pair, ...]] = tuple(
    (below, above)
    for below, first in mcs_table().items()
    for above, second in mcs_table().items()
    if below <= above or link_rate_bps(first) == link_rate_bps(second)
)
"""Every pair that is solved. mcs3 and mcs4 are as fast: either may be chosen as MCS_1."""

OPTIMUM_PAIRS: Final = tuple(pair for pair in PAIRS if pair not in ((3, 4), (4, 3)))
"""The paper's 35 policies (§4)."""

BOUNDARIES: Final = (20, 30, 40)
"""B of §6, packets."""

BOUNDARY: Final = 20
"""B of most of §6, packets."""

TIE: Final = 1e-6
"""Relative difference of throughputs that are the same to the model."""

TCP: Final = (65536 / PACKET_BYTES, 1.0, 2.0)
"""W_max, packets, T_0,min, s, and b (§4)."""


# --- policies ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Policy:
    """A link adaptation policy.

    Parameters
    ----------
    name : str
        As the paper writes it.
    kind : str
        What the library calls it.
    parameters : tuple of (str, value)
        Its parameters there.
    boundary : int
        B, packets.
    """

    name: str
    kind: str
    parameters: tuple[tuple[str, float | str], ...]
    boundary: int = BOUNDARY

    def described(self) -> Mapping[str, Any]:
        """Return the library's description of it."""
        return {"kind": self.kind, **dict(self.parameters)}


def qawla(th_per: float, h: float = 100, boundary: int = BOUNDARY) -> Policy:
    """Return QAWLA(th_PER, H, B)."""
    parameters = (("th_per", th_per), ("h", h), ("threshold", boundary))
    return Policy(f"QAWLA({th_per:g}, {h:g}, {boundary})", "qawla", parameters, boundary)


def tagla(th_per: float) -> Policy:
    """Return TAGLA(th_PER)."""
    return Policy(f"TAGLA({th_per:g})", "tagla", (("th_per", th_per),))


def tfer(th_fer: float) -> Policy:
    """Return TFER(th_FER)."""
    return Policy(f"TFER({th_fer:g})", "tfer", (("th_fer", th_fer),))


def _max_phy_throughput(rate: str) -> Policy:
    parameters = (("error_rate", rate),)
    return Policy(f"MaxPHYThru-{rate.upper()}", "max-phy-throughput", parameters)


MAX_PHY_THROUGHPUT_PER: Final = _max_phy_throughput("per")
MAX_PHY_THROUGHPUT_FER: Final = _max_phy_throughput("fer")


# --- fixed points ------------------------------------------------------------------------------


class Adaptation:
    """All policies on one channel.

    Parameters
    ----------
    channel : Channel
        Which one.
    rates : ErrorRates
        Of its MCSs.
    engine : Engine
        Solves, and chooses.
    threads : int or None
        For solving; None is one for each core.
    """

    def __init__(
        self, channel: Channel, rates: ErrorRates, engine: Engine, threads: int | None = None
    ) -> None:
        self.channel = channel
        self.rates = rates
        self.snrs_db = channel.snrs_db()
        self.throughput_bps = _solve(rates, self.snrs_db, engine, threads)
        self._engine = engine
        self._choices: dict[tuple[Policy, float], list[Pair]] = {}
        self._found: dict[tuple[Policy, float], tuple[float, float]] = {}

    def with_choices_of(self, rates: ErrorRates) -> Adaptation:
        """Return the same links, on which policies choose by other error rates."""
        other = copy(self)
        other.rates, other._choices, other._found = rates, {}, {}
        return other

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The weight of each SNR; their sum is 1."""
        return self.channel.weights()

    @cached_property
    def optimum_bps(self) -> NDArray[np.float64]:
        """T of *optimum* at each SNR for each traffic scenario, bit/s."""
        found: NDArray[np.float64] = np.max([self.optimum_of_bps(b) for b in BOUNDARIES], axis=0)
        return found

    def optimum_of_bps(self, boundary: int) -> NDArray[np.float64]:
        """Return T of the best of the policies with one B, packets, as `optimum_bps` has it."""
        chosen = [PAIRS.index(pair) for pair in OPTIMUM_PAIRS]
        found: NDArray[np.float64] = self.throughput_bps[boundary][:, chosen].max(axis=1)
        return found

    def optimum_pair(self, snr_db: float, traffic: int) -> Pair:
        """Return *optimum* for B = `BOUNDARY` at one SNR for one traffic scenario.

        Where the queue stays in one regime the other makes no difference to the model: of pairs
        with the same throughput the one whose MCSs are the least different, then the fastest.

        Parameters
        ----------
        snr_db : float
            One of `snrs_db`.
        traffic : int
            Place in `TRAFFIC`.
        """
        at = self.snrs_db.index(snr_db)
        throughput = dict(zip(PAIRS, self.throughput_bps[BOUNDARY][at, :, traffic], strict=True))
        best = max(throughput[pair] for pair in OPTIMUM_PAIRS)
        same = [pair for pair in OPTIMUM_PAIRS if throughput[pair] >= (1 - TIE) * best]
        return max(same, key=lambda pair: (pair[0] - pair[1], pair[0]))

    def choices(self, policy: Policy, over_rating_db: float = 0.0) -> list[Pair]:
        """Return MCS_1 and MCS_2 that a policy chooses at each SNR, over-rated or as it is."""
        key = (policy, over_rating_db)
        if key not in self._choices:
            estimated_db = [snr + over_rating_db for snr in self.snrs_db]
            found = self._engine.policy_choices(
                policy.described(), self.rates.text, estimated_db, PACKET_BYTES
            )
            self._choices[key] = [(chosen[0], chosen[-1]) for chosen in found]
        return self._choices[key]

    def normalised(
        self,
        policy: Policy,
        over_rating_db: float = 0.0,
        optimum_bps: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return T of a policy over that of *optimum*, at each SNR for each traffic scenario."""
        places = [PAIRS.index(pair) for pair in self.choices(policy, over_rating_db)]
        throughput = self.throughput_bps[policy.boundary][np.arange(len(places)), places]
        best = self.optimum_bps if optimum_bps is None else optimum_bps
        found: NDArray[np.float64] = throughput / best
        return found

    def mean(self, policy: Policy, over_rating_db: float = 0.0) -> float:
        """T_M (§6)."""
        return self._both(policy, over_rating_db)[0]

    def worst(self, policy: Policy, over_rating_db: float = 0.0) -> float:
        """T_W (§6)."""
        return self._both(policy, over_rating_db)[1]

    def _both(self, policy: Policy, over_rating_db: float) -> tuple[float, float]:
        key = (policy, over_rating_db)
        if key not in self._found:
            normalised = self.normalised(policy, over_rating_db)
            self._found[key] = (
                float(self.weights @ normalised.mean(axis=1)),
                float(normalised.min(axis=0).mean()),
            )
        return self._found[key]


def _solve(
    rates: ErrorRates, snrs_db: Sequence[float], engine: Engine, threads: int | None
) -> Mapping[int, NDArray[np.float64]]:
    """Return T of each pair by B, at each SNR for each traffic scenario, bit/s."""
    # Many links are the same: error rates are 1 below a curve and 0 above it.
    links: dict[ModelLink, int] = {}
    places: dict[tuple[int, Pair, int], int] = {}
    for at, snr_db in enumerate(snrs_db):
        regimes = [(link_rate_bps(mcs), rates.per(m, snr_db)) for m, mcs in mcs_table().items()]
        for below, above in PAIRS:
            for boundary in BOUNDARIES:
                # A single MCS has no boundary: one solution for every B.
                link: ModelLink = (
                    ((), (regimes[below],))
                    if below == above
                    else ((float(boundary),), (regimes[below], regimes[above]))
                )
                places[at, (below, above), boundary] = links.setdefault(link, len(links))
    gred = (float(GRED["min_th"]), float(GRED["max_th"]), GRED["max_p"])
    found = engine.fixed_points(
        list(links), base_rtts_s(), gred, TCP, packet_bytes=PACKET_BYTES, threads=threads
    )
    return {
        boundary: np.array(
            [[found[places[at, pair, boundary]] for pair in PAIRS] for at in range(len(snrs_db))]
        )
        for boundary in BOUNDARIES
    }


def base_rtts_s() -> list[list[float]]:
    """Return RTT_0,i + 2 D_F of every flow of the 72 traffic scenarios, s."""
    return [
        [float(rtt0 + 2 * LINK_DELAY_NS) * 1e-9 for rtt0 in traffic.rtt0_ns()]
        for traffic in TRAFFIC
    ]


# --- once for a session ------------------------------------------------------------------------

Adaptations = Mapping[str, Adaptation]
"""By the key of the channel."""


def adaptations(session: Session) -> Adaptations | None:
    """Return both channels; None after Ctrl-C."""

    def make() -> Adaptations:
        return {
            key: Adaptation(channel, ErrorRates.of(channel), session.engine, session.threads)
            for key, channel in CHANNELS.items()
        }

    return session.shared("link adaptation", make)
