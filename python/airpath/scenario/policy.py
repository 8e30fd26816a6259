"""Link adaptation: the policies that choose a modulation and coding scheme (MCS)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from airpath.scenario.base import Component, Context, Path
from airpath.scenario.values import Mcs, PacketCount, Real, choice

__all__ = [
    "DualRegime",
    "Fixed",
    "LinkAdaptation",
    "MaxPhyThroughput",
    "Optimum",
    "Qawla",
    "Tagla",
    "Tfer",
]


class LinkAdaptation(Component):
    """A link-adaptation policy; `kind` says which."""

    family = "a link-adaptation policy"
    engine_family = "policy"


class Fixed(LinkAdaptation):
    """One MCS, independent of the SNR.

    Parameters
    ----------
    mcs : str or int
        The MCS: its name in the error-rate table, or its place there, from 0.
    """

    kind: Literal["fixed"] = "fixed"
    mcs: Mcs = Field(examples=['"mcs3"'])


class DualRegime(LinkAdaptation):
    """One MCS below a threshold of the queue, another from it on (qawla-2015 §2).

    Parameters
    ----------
    mcs_below : str or int
        MCS1: its name in the error-rate table, or its place there, from 0.
    mcs_above : str or int
        MCS2, as `mcs_below`.
    threshold : int
        B, packets waiting, from 1. The paper recommends 20.
    """

    kind: Literal["dual-regime"] = "dual-regime"
    mcs_below: Mcs = Field(examples=['"mcs3"'])
    mcs_above: Mcs = Field(examples=['"mcs6"'])
    threshold: PacketCount = Field(examples=["20"])


class Tagla(LinkAdaptation):
    """The fastest MCS with a packet error rate below a threshold (qawla-2015 §2).

    Parameters
    ----------
    th_per : float
        th_PER, above 0, at most 1. The paper's best over both of its channels is 0.0032.
    """

    kind: Literal["tagla"] = "tagla"
    th_per: Real = Field(examples=["0.0032"])


class Qawla(LinkAdaptation):
    """Queue-aware: two thresholds of the packet error rate, by the queue (qawla-2015 §2).

    Parameters
    ----------
    th_per : float
        th_PER, for `threshold` packets waiting and more, above 0, at most 1. The paper recommends
        0.05.
    h : float
        H: below `threshold` packets, ``th_per / h`` holds; 1 to 1e9. The paper recommends 100.
    threshold : int
        B, packets waiting, from 1. The paper recommends 20, below the gentle RED's min_th of 30.
    """

    kind: Literal["qawla"] = "qawla"
    th_per: Real = Field(examples=["0.05"])
    h: Real = Field(examples=["100"])
    threshold: PacketCount = Field(examples=["20"])


class Tfer(LinkAdaptation):
    """The fastest MCS with a block error rate below a threshold (qawla-2015 §6).

    Parameters
    ----------
    th_fer : float
        th_FER, above 0, at most 1. The paper's best over both of its channels is 0.00013.
    """

    kind: Literal["tfer"] = "tfer"
    th_fer: Real = Field(examples=["0.00013"])


class MaxPhyThroughput(LinkAdaptation):
    """The MCS that carries most bits per symbol, losses deducted (qawla-2015 §6).

    Parameters
    ----------
    error_rate : {"per", "fer"}
        Error rate that the policy uses: of packets or of blocks. Default per, the better one in the
        paper's Table 6.
    """

    kind: Literal["max-phy-throughput"] = "max-phy-throughput"
    error_rate: Annotated[str, choice("per", "fer")] = "per"


class Optimum(LinkAdaptation):
    """The dual-regime pair with the most throughput by the fixed point (qawla-2015 §6).

    Found for this scenario at its true SNR when it is resolved; its resolved form is that of a
    `policy.DualRegime`. Needs a scenario that `airpath.solve` covers, and is for the link of the
    bottleneck alone.

    Parameters
    ----------
    threshold : int
        B, packets waiting, from 1. The paper recommends 20.
    """

    kind: Literal["optimum"] = "optimum"
    threshold: PacketCount = Field(examples=["20"])

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return a pair of MCSs with this threshold: what the engine knows of an optimum."""
        pair = {"mcs_below": 0, "mcs_above": 0}
        return self.resolved(context, path) | pair | {"kind": "dual-regime"}
