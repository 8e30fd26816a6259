"""Result class of the M/D/1/K model of Poisson datagrams over a fixed link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from airpath.present.tables import Table
from airpath.solutions.base import Solution, digits

__all__ = ["Md1k", "Md1kFlow"]


@dataclass(frozen=True)
class Md1kFlow:
    """Quantities of one datagram flow in the steady state.

    Parameters
    ----------
    id : int
        Index of the flow.
    throughput_bps : float
        Rate of IP packets that reach the receiver, bit/s.
    one_way_delay_s : float
        Delay from sender to receiver, including the mean sojourn time, s.
    loss : float
        Probability that a packet is dropped or lost, in [0, 1].
    """

    id: int
    throughput_bps: float
    one_way_delay_s: float
    loss: float


@dataclass(frozen=True)
class Md1k(Solution, model="md1k"):
    """Steady state of Poisson datagrams of equal size over a fixed link with drop-tail (M/D/1/K).

    Parameters
    ----------
    model : str
        Name of the model, ``md1k``.
    throughput_bps : float
        Total rate of IP packets that reach the receivers, bit/s.
    offered_bps : float
        Total rate of IP packets that the sources send, bit/s.
    utilisation : float
        Share of time in which the link transmits, in [0, 1].
    queue_packets : float
        Time-averaged queue length, packets.
    mean_sojourn_s : float
        Average time between arrival and start of transmission, s.
    drop_probability : float
        Probability that an arriving packet finds the queue full, in [0, 1].
    flows : sequence of Md1kFlow
        Results of each flow.
    warnings : sequence of str
        Warnings to read before you use the result.
    provenance : mapping
        Provenance of the result: versions and inputs.
    """

    flow_type: ClassVar[type] = Md1kFlow

    model: str
    throughput_bps: float
    offered_bps: float
    utilisation: float
    queue_packets: float
    mean_sojourn_s: float
    drop_probability: float
    flows: Sequence[Md1kFlow]
    warnings: Sequence[str]
    provenance: Mapping[str, Any]

    def metrics(self) -> dict[str, float]:
        """Map names of simulation metrics to rates, delays, queue length and utilisation."""
        return {
            **super().metrics(),
            **{f"flows.{flow.id}.mean_delay_s": flow.one_way_delay_s for flow in self.flows},
            "queues.bottleneck.mean_packets": self.queue_packets,
            "queues.bottleneck.mean_sojourn_s": self.mean_sojourn_s,
            "queues.bottleneck.drop_share": self.drop_probability,
            "links.bottleneck.utilisation": self.utilisation,
        }

    def lines(self) -> list[str]:
        """Return the lines on throughput, utilisation and queue that ``airpath solve`` prints."""
        return [
            f"throughput {digits(self.throughput_bps / 1e6, 4)} Mbit/s (IP packets) of "
            f"{digits(self.offered_bps / 1e6, 4)} offered, link in use "
            f"{digits(100 * self.utilisation)} % of the time",
            f"queue {digits(self.queue_packets)} packets, sojourn time "
            f"{digits(self.mean_sojourn_s * 1e3)} ms, {100 * self.drop_probability:.3g} % dropped",
        ]

    def flow_table(self) -> Table:
        """Return the table of flows with rate, one-way delay and loss."""
        rows = [
            [
                label,
                f"{digits(flow.throughput_bps / 1e6)} Mbit/s",
                f"{digits(flow.one_way_delay_s * 1e3)} ms",
                f"{flow.loss:.2e}",
            ]
            for label, flow in zip(self.flow_labels(), self.flows, strict=True)
        ]
        return Table("Flows", ["flow", "throughput", "one-way delay", "loss"], rows)
