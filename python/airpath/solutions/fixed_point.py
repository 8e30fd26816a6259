"""Result class of the fixed-point model of TCP flows over a multi-regime link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airpath.present.tables import Table
from airpath.solutions.base import Solution, SolvedFlow, digits

__all__ = ["FixedPoint"]


@dataclass(frozen=True)
class FixedPoint(Solution, model="fixed-point"):
    """Operating point of long-lived Reno flows over a fixed, multi-regime or adaptive link.

    Parameters
    ----------
    model : str
        Name of the model, ``fixed-point``.
    domain : str
        Queue range of the solution: ``R1``, ``R2``, ... for a regime, ``B`` or ``B1``, ``B2``, ...
        for a boundary between two regimes, ``empty`` if the queue stays empty.
    throughput_bps : float
        Total rate of IP packets that reach the receivers, bit/s.
    queue_packets : float
        Queue length, packets.
    alpha : float or None
        At a boundary, the weight of the regime above the boundary, in [0, 1]; otherwise None.
    average_throughput_bps : float
        Estimate of the throughput averaged over the oscillation of the flows' windows, bit/s.
    average_queue_packets : float
        Estimate of the queue length averaged over this oscillation, packets.
    average_queueing_delay_s : float
        Estimate of the delay that queueing and transmission add to a round trip, averaged over this
        oscillation, s. A warning is issued if throughput or shortest RTT differ from the fixed
        point by more than 3 %, or the queue by more than 10 % and a packet.
    max_window_packets : float
        W_max, packets: the receive window in complete segments, or the argument of `airpath.solve`.
    flows : sequence of SolvedFlow
        Results of each flow.
    warnings : sequence of str
        Warnings to read before you use the result.
    provenance : mapping
        Provenance of the result: versions and inputs.
    """

    model: str
    domain: str
    throughput_bps: float
    queue_packets: float
    alpha: float | None
    average_throughput_bps: float
    average_queue_packets: float
    average_queueing_delay_s: float
    max_window_packets: float
    flows: Sequence[SolvedFlow]
    warnings: Sequence[str]
    provenance: Mapping[str, Any]

    def metrics(self) -> dict[str, float]:
        """Map names of simulation metrics to rates, RTTs and queue of the fixed point."""
        return {**super().metrics(), "queues.bottleneck.mean_packets": self.queue_packets}

    def lines(self) -> list[str]:
        """Return the lines on the fixed point and the averages that ``airpath solve`` prints."""
        where = f"domain {self.domain}"
        if self.alpha is not None:
            where += f", alpha {self.alpha:.2g}"
        return [
            f"throughput {digits(self.throughput_bps / 1e6, 4)} Mbit/s (IP packets), "
            f"queue {digits(self.queue_packets)} packets, {where}",
            "averaged over the oscillation of the windows: "
            f"{digits(self.average_throughput_bps / 1e6, 4)} Mbit/s, "
            f"{digits(self.average_queue_packets)} packets",
        ]

    def flow_table(self) -> Table:
        """Return the table of flows with rate, round-trip time and loss."""
        rows = [
            [
                label,
                f"{digits(flow.throughput_bps / 1e6)} Mbit/s",
                f"{digits(flow.rtt_s * 1e3)} ms",
                f"{flow.loss:.2e}",
            ]
            for label, flow in zip(self.flow_labels(), self.flows, strict=True)
        ]
        return Table("Flows", ["flow", "throughput", "RTT", "loss"], rows)
