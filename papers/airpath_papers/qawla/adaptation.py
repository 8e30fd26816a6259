"""Link adaptation of §6: the links, the traffic, the policies of Table 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from airpath.reproduction.session import Session
from airpath_papers.qawla.curves import CHANNELS, rates_of
from airpath_papers.qawla.data import MEASURES, PACKET_BYTES, link_rate_bps, mcs_table
from airpath_papers.qawla.link_adaptation import (
    Adaptation,
    Links,
    Policy,
    max_phy_throughput,
    qawla,
    tagla,
    tfer,
)
from airpath_papers.qawla.scenarios import GRED, LINK_DELAY_NS
from airpath_papers.qawla.traffic import TRAFFIC

__all__ = ["LINKS", "POLICIES", "Adaptations", "adaptations", "measured", "solved_on"]

LINKS: Final = Links(
    rates_bps={m: link_rate_bps(mcs) for m, mcs in mcs_table().items()},
    boundaries=(20, 30, 40),
    # RTT_0,i + 2 D_F of every flow of the 72 traffic scenarios.
    base_rtts_s=[
        [float(rtt0 + 2 * LINK_DELAY_NS) * 1e-9 for rtt0 in traffic.rtt0_ns()]
        for traffic in TRAFFIC
    ],
    gred=(float(GRED["min_th"]), float(GRED["max_th"]), GRED["max_p"]),
    # W_max, T_0,min and b (§4).
    tcp=(65536 / PACKET_BYTES, 1.0, 2.0),
)
"""The paper's 35 policies (§4) over its traffic. mcs3 and mcs4 are as fast: either may be MCS_1."""

POLICIES: Final = (
    qawla(0.05, 100, 20),
    tagla(0.0032),
    tfer(0.00013),
    max_phy_throughput("per"),
    max_phy_throughput("fer"),
)
"""The rows of Table 6."""

Adaptations = Mapping[str, Adaptation]
"""By the key of the channel."""


def adaptations(session: Session) -> Adaptations | None:
    """Return both channels; None after Ctrl-C. A resample has error rates that differ."""

    def make() -> Adaptations:
        return {
            key: Adaptation(CHANNELS[key], rates, LINKS, session.threads)
            for key, rates in rates_of(session).items()
        }

    return session.shared("link adaptation", make)


def solved_on(session: Session) -> Adaptations:
    """Return both channels.

    Raises
    ------
    ValueError
        After Ctrl-C.
    """
    found = adaptations(session)
    if found is None:
        raise ValueError("a claim is checked only when nothing was interrupted")
    return found


def measured(found: Adaptations, policy: Policy, channel: str, measure: str) -> float:
    """Return T_M or T_W of a policy."""
    adaptation = found[channel]
    return adaptation.mean(policy) if measure == MEASURES[0] else adaptation.worst(policy)
