"""Result class of the fixed point of TCP flows and datagrams over several hops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from airpath.present.tables import Table
from airpath.solutions.base import Solution, digits

__all__ = ["NetworkFixedPoint", "NetworkFlow", "NetworkHop"]


@dataclass(frozen=True)
class NetworkFlow:
    """Quantities of one flow at the fixed point.

    Parameters
    ----------
    id : int
        Index of the flow.
    throughput_bps : float
        Rate of IP packets that reach the receiver, bit/s.
    rtt_s : float or None
        Round-trip time with queueing and transmission, s; None for datagrams.
    loss : float
        Probability that a packet is dropped or lost, in [0, 1].
    """

    id: int
    throughput_bps: float
    rtt_s: float | None
    loss: float


@dataclass(frozen=True)
class NetworkHop:
    """Quantities of one hop at the fixed point, in the direction of the data.

    Parameters
    ----------
    name : str
        Name of the hop.
    queue_packets : float
        Mean number of waiting packets.
    mean_sojourn_s : float
        Mean time between arrival and start of transmission of an admitted packet, s.
    drop_probability : float
        Share of arrivals that the queue drops, in [0, 1].
    utilisation : float
        Share of time in which the link transmits, in [0, 1].
    """

    name: str
    queue_packets: float
    mean_sojourn_s: float
    drop_probability: float
    utilisation: float


@dataclass(frozen=True)
class NetworkFixedPoint(Solution, model="network-fixed-point"):
    """Operating point of long-lived Reno flows and datagrams over several fixed links.

    Parameters
    ----------
    model : str
        Name of the model, ``network-fixed-point``.
    throughput_bps : float
        Total rate of IP packets that reach the receivers, bit/s.
    hops : sequence of NetworkHop or mapping
        Results of each hop with a link for data, in the order of the path.
    flows : sequence of NetworkFlow
        Results of each flow.
    warnings : sequence of str
        Warnings to read before you use the result.
    provenance : mapping
        Provenance of the result: versions and inputs.
    """

    flow_type: ClassVar[type] = NetworkFlow

    model: str
    throughput_bps: float
    hops: Sequence[NetworkHop]
    flows: Sequence[NetworkFlow]
    warnings: Sequence[str]
    provenance: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Convert mappings of hops to `NetworkHop`."""
        hops = [hop if isinstance(hop, NetworkHop) else NetworkHop(**hop) for hop in self.hops]
        object.__setattr__(self, "hops", hops)

    def metrics(self) -> dict[str, float]:
        """Map names of simulation metrics to rates, RTTs, queues and utilisations."""
        found = {"ip_throughput_bps": self.throughput_bps}
        for flow in self.flows:
            found[f"flows.{flow.id}.ip_throughput_bps"] = flow.throughput_bps
            if flow.rtt_s is not None:
                found[f"flows.{flow.id}.mean_rtt_s"] = flow.rtt_s
        for hop in self.hops:
            found[f"queues.{hop.name}.mean_packets"] = hop.queue_packets
            found[f"queues.{hop.name}.mean_sojourn_s"] = hop.mean_sojourn_s
            found[f"queues.{hop.name}.drop_share"] = hop.drop_probability
            found[f"links.{hop.name}.utilisation"] = hop.utilisation
        return found

    def lines(self) -> list[str]:
        """Return a line on the throughput and a line for each hop."""
        total = f"throughput {digits(self.throughput_bps / 1e6, 4)} Mbit/s (IP packets)"
        return [total, *(_hop_line(hop) for hop in self.hops)]

    def flow_table(self) -> Table:
        """Return the table of flows with rate, round-trip time and loss."""
        rows = [
            [
                label,
                f"{digits(flow.throughput_bps / 1e6)} Mbit/s",
                "" if flow.rtt_s is None else f"{digits(flow.rtt_s * 1e3)} ms",
                f"{flow.loss:.2e}",
            ]
            for label, flow in zip(self.flow_labels(), self.flows, strict=True)
        ]
        return Table("Flows", ["flow", "throughput", "RTT", "loss"], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the output of ``solve --json``."""
        return {**super().to_dict(), "hops": [asdict(hop) for hop in self.hops]}


def _hop_line(hop: NetworkHop) -> str:
    return (
        f"hop {hop.name}: queue {digits(hop.queue_packets)} packets, sojourn time "
        f"{digits(hop.mean_sojourn_s * 1e3)} ms, {100 * hop.drop_probability:.3g} % dropped, "
        f"link in use {digits(100 * hop.utilisation)} % of the time"
    )
