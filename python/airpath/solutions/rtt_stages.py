"""Result class of the stage model of a download over a TDD link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from airpath.present.tables import Table
from airpath.solutions.base import Solution, digits

__all__ = ["RttStages", "RttStagesFlow"]

_LINK = ("rate_bps", "base_rtt_s", "contention_s", "piggyback_s", "loss")


def _mbps(value_bps: float) -> str:
    return digits(value_bps / 1e6, 4)


def _ms(value_s: float) -> str:
    return digits(value_s * 1e3, 4)


@dataclass(frozen=True)
class RttStagesFlow:
    """Quantities of the download.

    Parameters
    ----------
    id : int
        Index of the flow, always 0.
    throughput_bps : float
        Size in IP packets divided by completion time, bit/s.
    goodput_bps : float
        Payload size divided by completion time, bit/s.
    completion_s : float
        Size divided by goodput, s.
    loss : float
        Probability that a packet is lost, in [0, 1].
    """

    id: int
    throughput_bps: float
    goodput_bps: float
    completion_s: float
    loss: float


@dataclass(frozen=True)
class RttStages(Solution, model="rtt-stages"):
    """Throughput of a download whose ACKs require uplink requests on a TDD link (wimax-2009 §3).

    Parameters
    ----------
    model : str
        Name of the model, ``rtt-stages``.
    throughput_bps : float
        Size in IP packets divided by completion time, bit/s, according to the method ``grid``, or
        ``monte-carlo`` if ``grid`` rejects the parameters.
    goodput_bps : float
        Payload size divided by completion time, bit/s.
    rate_bps : float
        R, payload rate of a fully used downlink, bit/s.
    base_rtt_s : float
        RTT_min, mean round-trip time of a single packet, without the time for the uplink request of
        its ACK, s.
    base_rtt : mapping
        Components of RTT_min, s. ``wires_s``: delays of the wires. ``downlink_s``: from the arrival
        at the base station until the station has decoded the frame. ``uplink_s``: from the
        reception of a request at the base station until the reception of the burst.
        ``repetitions_s``: retransmissions by HARQ and ARQ in both directions.
    contention_s : float
        T_ct, mean time of a contention-based request, including collisions, s.
    piggyback_s : float
        T_pb, additional uplink time due to a series of piggyback requests, compared with an uplink
        without requests, s.
    loss : float
        p_e, probability that a data packet is lost.
    download : mapping
        Parameters of the flow in the model: ``size_bytes``, ``mss_bytes``, ``packets_per_ack`` (b),
        ``initial_ssthresh_packets`` (initial W_th) and ``max_window_packets`` (W_max).
    grid : mapping or None
        Results of the method ``grid``, with the field names of `airpath.models.RttStages`; None if
        the method rejects the parameters.
    monte_carlo : mapping
        Results of the method ``monte-carlo``, with the same names.
    square_root : mapping
        Payload rates of eq. 9, bit/s. ``contention_bps``: with the round-trip time RTT_min + T_ct
        (TCP model1). ``piggyback_bps``: with RTT_min + T_pb (TCP model2).
    flows : sequence of RttStagesFlow
        Result of the download.
    warnings : sequence of str
        Warnings to read before you use the result.
    provenance : mapping
        Provenance of the result: versions and inputs.
    """

    flow_type: ClassVar[type] = RttStagesFlow

    model: str
    throughput_bps: float
    goodput_bps: float
    rate_bps: float
    base_rtt_s: float
    base_rtt: Mapping[str, float]
    contention_s: float
    piggyback_s: float
    loss: float
    download: Mapping[str, float]
    grid: Mapping[str, float] | None
    monte_carlo: Mapping[str, float]
    square_root: Mapping[str, float]
    flows: Sequence[RttStagesFlow]
    warnings: Sequence[str]
    provenance: Mapping[str, Any]

    def parameters(self) -> dict[str, float]:
        """Return the arguments of `airpath.models.rtt_stages` for the link and the flow."""
        return {**self.download, **{name: getattr(self, name) for name in _LINK}}

    def metrics(self) -> dict[str, float]:
        """Return the completion time as a metric; rates are excluded, as they refer to no run."""
        return {"transfers.0.mean_s": self.flows[0].completion_s}

    def lines(self) -> list[str]:
        """Return the lines on terms, methods and eq. 9 that ``airpath solve`` prints."""
        parts = self.base_rtt
        found = [
            f"throughput {_mbps(self.throughput_bps)} Mbit/s (IP packets), goodput "
            f"{_mbps(self.goodput_bps)} Mbit/s",
            f"R {_mbps(self.rate_bps)} Mbit/s, T_ct {_ms(self.contention_s)} ms, T_pb "
            f"{_ms(self.piggyback_s)} ms, p_e {self.loss:.3g}",
            f"RTT_min {_ms(self.base_rtt_s)} ms: wires {_ms(parts['wires_s'])}, downlink "
            f"{_ms(parts['downlink_s'])}, uplink {_ms(parts['uplink_s'])}, repetitions "
            f"{_ms(parts['repetitions_s'])}",
        ]
        for name, method in (("grid", self.grid), ("Monte-Carlo", self.monte_carlo)):
            if method is not None:
                found.append(
                    f"{name}: Eq. 8 {_mbps(method['throughput_bps'])} Mbit/s (error "
                    f"{_mbps(method['error_bps'])}), {digits(method['stages'], 4)} stages, "
                    f"{100 * method['contention_share']:.3g} % begin with a contention"
                )
        eq9 = self.square_root
        found.append(
            f"Eq. 9: {_mbps(eq9['contention_bps'])} Mbit/s with T_ct, "
            f"{_mbps(eq9['piggyback_bps'])} Mbit/s with T_pb"
        )
        return found

    def flow_table(self) -> Table:
        """Return a table with rate, goodput, completion time and loss of the download."""
        rows = [
            [
                label,
                f"{digits(flow.throughput_bps / 1e6)} Mbit/s",
                f"{digits(flow.goodput_bps / 1e6)} Mbit/s",
                f"{digits(flow.completion_s)} s",
                f"{flow.loss:.2e}",
            ]
            for label, flow in zip(self.flow_labels(), self.flows, strict=True)
        ]
        return Table("Flows", ["flow", "throughput", "goodput", "time", "loss"], rows)
