"""The result of the fixed point of TCP flows and a multi-regime link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airpath.present.tables import Table
from airpath.solutions.base import Solution, SolvedFlow, digits

__all__ = ["FixedPoint"]


@dataclass(frozen=True)
class FixedPoint(Solution, model="fixed-point"):
    """Long-lived Reno flows over a fixed, multi-regime or adaptive link, drop-tail or gentle RED.

    Parameters
    ----------
    model : str
        ``fixed-point``.
    domain : str
        ``R1``, ``R2``, ... for a regime, ``B`` or ``B1``, ``B2``, ... for a boundary between two,
        ``empty`` when the queue stays empty.
    throughput_bps : float
        IP packets that reach the receivers, all flows together, bit/s.
    queue_packets : float
        Packets waiting.
    alpha : float or None
        At a boundary, the weight of the regime above it, in [0, 1].
    average_throughput_bps : float
        An estimate of `throughput_bps`, averaged over the oscillation of the flows' windows, bit/s.
    average_queue_packets : float
        The same of `queue_packets`.
    average_queueing_delay_s : float
        The same of what queue and transmission add to a round trip, s. Where an average differs
        from the fixed point (throughput and the shortest RTT by more than 3 %, the queue by more
        than 10 % and a packet), there is a warning.
    max_window_packets : float
        W_max, packets: the receive window in whole segments, or as `airpath.solve` was given it.
    flows : sequence of SolvedFlow
        By flow.
    warnings : sequence of str
        What to check before trusting the result.
    provenance : mapping
        What made it.
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
        """Return rates, round trips and the queue at the fixed point under simulation's names."""
        return {**super().metrics(), "queues.bottleneck.mean_packets": self.queue_packets}

    def lines(self) -> list[str]:
        """Return the fixed point and its average over the oscillation, as printed."""
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
        """Return a row for each flow: rate, round-trip time and loss."""
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
