"""Link-adaptation policies, which choose a modulation and coding scheme (MCS)."""

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
    """A link-adaptation policy, selected by `kind`."""

    family = "a link-adaptation policy"
    engine_family = "policy"


class Fixed(LinkAdaptation):
    """One MCS, independent of the SNR.

    Parameters
    ----------
    mcs : str or int
        The MCS: its name in the error-rate table, or its index there, from 0.
    """

    kind: Literal["fixed"] = "fixed"
    mcs: Mcs = Field(examples=['"mcs3"'])


class DualRegime(LinkAdaptation):
    """One MCS for queues shorter than a threshold, another for longer queues (qawla-2015 §2).

    Parameters
    ----------
    mcs_below : str or int
        MCS1, for queue lengths below `threshold`: its name in the error-rate table, or its index
        there, from 0.
    mcs_above : str or int
        MCS2, for queue lengths from `threshold` on, in the form of `mcs_below`.
    threshold : int
        B, queue length, packets, from 1. The paper recommends 20.
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
        th_PER, above 0, at most 1. 0.0032 is the paper's best value over both of its channels.
    """

    kind: Literal["tagla"] = "tagla"
    th_per: Real = Field(examples=["0.0032"])


class Qawla(LinkAdaptation):
    """Queue-aware policy: the queue length selects one of two error-rate limits (qawla-2015 §2).

    Parameters
    ----------
    th_per : float
        th_PER for queue lengths from `threshold` on, above 0, at most 1. The paper recommends 0.05.
    h : float
        H, 1 to 1e9. For queue lengths below `threshold`, the error-rate threshold is
        ``th_per / h``. The paper recommends 100.
    threshold : int
        B, queue length, packets, from 1. The paper recommends 20, which is below min_th = 30 of its
        gentle RED.
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
        th_FER, above 0, at most 1. 0.00013 is the paper's best value over both of its channels.
    """

    kind: Literal["tfer"] = "tfer"
    th_fer: Real = Field(examples=["0.00013"])


class MaxPhyThroughput(LinkAdaptation):
    """The MCS with the most bits per symbol after losses (qawla-2015 §6).

    Parameters
    ----------
    error_rate : {"per", "fer"}
        Error rate that the policy uses: packet error rate or block error rate. Default per, the
        better option in the paper's Table 6.
    """

    kind: Literal["max-phy-throughput"] = "max-phy-throughput"
    error_rate: Annotated[str, choice("per", "fer")] = "per"


class Optimum(LinkAdaptation):
    """The dual-regime pair with the largest throughput in the fixed-point model (qawla-2015 §6).

    The pair is computed for the true SNR when the scenario is resolved. The resolved form is the
    form of a `policy.DualRegime`. The policy requires a scenario that `airpath.solve` covers. Only
    the bottleneck's link can have this policy.

    Parameters
    ----------
    threshold : int
        B, queue length, packets, from 1. The paper recommends 20.
    """

    kind: Literal["optimum"] = "optimum"
    threshold: PacketCount = Field(examples=["20"])

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return a pair of MCSs with this threshold, as a placeholder that the engine can check."""
        pair = {"mcs_below": 0, "mcs_above": 0}
        return self.resolved(context, path) | pair | {"kind": "dual-regime"}
