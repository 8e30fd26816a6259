"""Result class of the model of MIMO links: packet failures, and the TCP throughput."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airpath.present.tables import Table
from airpath.solutions.base import Solution, digits

__all__ = ["Mimo"]


@dataclass(frozen=True)
class Mimo(Solution, model="mimo"):
    """Packet failures on a MIMO link, and throughput of Reno flows over it (vcp-2008 §II).

    Parameters
    ----------
    model : str
        Name of the model, ``mimo``.
    throughput_bps : float or None
        Total rate of IP packets that reach the receivers, bit/s, according to the fixed-point model
        of a fixed link with rate `capacity_bps` and this loss. None if the fixed-point model does
        not cover the scenario.
    directions : mapping
        Results for ``forward`` and ``reverse``: `error_good` and `error_bad`, the symbol error
        rates; `capacity_bps`, rate of IP packets of the largest size; `packets`, for each size:
        `kind` (``segment``, ``ack``), `bytes`, `on_air_bytes`, `failure`, `failure_next` (directly
        after a failed packet), `snr_db` (SNRs with failure probabilities ``"0.5"``, ``"0.1"``,
        ``"0.01"``, dB), `best_code_rate` (with the largest (k/b) (1 - failure) at this SNR) and
        `best_efficiency`, the value of that product.
    no_throughput : sequence of str
        Reasons why `throughput_bps` is None; otherwise empty.
    flows : sequence of SolvedFlow
        Results of each flow in the fixed-point model; empty if the model does not cover the
        scenario.
    warnings : sequence of str
        Warnings to read before you use the result.
    provenance : mapping
        Provenance of the result: versions and inputs.
    """

    model: str
    throughput_bps: float | None  # type: ignore[assignment]
    directions: Mapping[str, Any]
    no_throughput: Sequence[str]
    flows: Sequence[Any]
    warnings: Sequence[str]
    provenance: Mapping[str, Any]

    def lines(self) -> list[str]:
        """Return the lines on packet failures and throughput that ``airpath solve`` prints."""
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
