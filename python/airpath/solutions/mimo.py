"""The result of the model of MIMO links: the law of packets, and what TCP gets with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airpath.present.tables import Table
from airpath.solutions.base import Solution, digits

__all__ = ["Mimo"]


@dataclass(frozen=True)
class Mimo(Solution, model="mimo"):
    """Packets over a MIMO link, and long-lived Reno flows with that loss (vcp-2008 §II).

    Parameters
    ----------
    model : str
        ``mimo``.
    throughput_bps : float or None
        IP packets that reach the receivers, all flows together, bit/s, by the fixed point over a
        fixed link of `capacity_bps` and this loss. None where that does not cover the scenario.
    directions : mapping
        For ``forward`` and ``reverse``: `error_good` and `error_bad`, the shares of modulation
        symbols in error; `capacity_bps`, IP packets of the largest size on the air; `packets`, for
        each size `kind` (``segment``, ``ack``), `bytes`, `on_air_bytes`, `failure`, `failure_next`
        (right behind one that failed), `snr_db` (at which the failure is ``"0.5"``, ``"0.1"``,
        ``"0.01"``, dB), `best_code_rate` (with the largest (k/b) (1 - failure) at this SNR) and
        that, `best_efficiency`.
    no_throughput : sequence of str
        Why there is no throughput; empty where there is one.
    flows : sequence of SolvedFlow
        By flow, of the fixed point; empty without.
    warnings : sequence of str
        What to check before trusting the result.
    provenance : mapping
        What made it.
    """

    model: str
    throughput_bps: float | None  # type: ignore[assignment]
    directions: Mapping[str, Any]
    no_throughput: Sequence[str]
    flows: Sequence[Any]
    warnings: Sequence[str]
    provenance: Mapping[str, Any]

    def lines(self) -> list[str]:
        """Return the laws of packets and the throughput as the command prints them."""
        return [
            *(line for name in self.directions for line in self._direction(name)),
            *self._throughput(),
        ]

    def _direction(self, name: str) -> list[str]:
        law = self.directions[name]
        errors = f"{law['error_good']:.3g} good, {law['error_bad']:.3g} bad"
        rate = f"{digits(law['capacity_bps'] / 1e6, 4)} Mbit/s of IP packets"
        return [f"{name}: symbol errors {errors}; {rate}", *map(_packet, law["packets"])]

    def _throughput(self) -> list[str]:
        if self.throughput_bps is None:
            return [f"no throughput: {line}" for line in self.no_throughput]
        return [f"throughput {digits(self.throughput_bps / 1e6, 4)} Mbit/s (IP packets)"]

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


def _packet(law: Mapping[str, Any]) -> str:
    name = {"segment": "segment", "ack": "ACK"}[law["kind"]]
    snrs = ", ".join(
        f"{failure} at {'no SNR' if snr_db is None else f'{snr_db:.2f} dB'}"
        for failure, snr_db in sorted(law["snr_db"].items(), reverse=True)
    )
    best = "nothing arrives with any code rate"
    if law["best_code_rate"] is not None:
        best = f"best code rate {law['best_code_rate']:g} ({law['best_efficiency']:.3f} arrive)"
    return (
        f"  {name} of {law['bytes']} B, {law['on_air_bytes']} B on the air: failure "
        f"{law['failure']:.3g}; {snrs}; {best}"
    )
