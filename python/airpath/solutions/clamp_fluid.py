"""Result of CLAMP's fluid model: flows that follow a price of the queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from airpath.present.tables import Table
from airpath.solutions.base import Solution, digits

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ClampFlow", "ClampFluid"]


@dataclass(frozen=True)
class ClampFlow:
    """One flow in the steady state.

    Parameters
    ----------
    id : int
        Number of the flow.
    throughput_bps : float
        Rate of IP packets that reach the receiver, bit/s.
    rtt_s : float
        Round-trip time with queueing and transmission, s.
    window_bytes : float
        Window that the receiver advertises, bytes of payload.
    """

    id: int
    throughput_bps: float
    rtt_s: float
    window_bytes: float


@dataclass(frozen=True)
class ClampFluid(Solution, model="clamp-fluid"):
    """Long-lived flows whose windows follow CLAMP's price, over a fixed link (Eqs. 1 to 12).

    Parameters
    ----------
    model : str
        Name of the model, ``clamp-fluid``.
    throughput_bps : float
        Rate of IP packets that reach the receivers, all flows together, bit/s.
    queue_bytes : float
        q*, bytes of IP packets in the queue and in transmission (Eq. 11).
    queue_delay_s : float
        Time to transmit these bytes, s.
    price_s : float
        p, price, s (Eq. 7).
    stability : mapping
        ``b``, gain of the price; ``limit``, the bound of b for stability of the closed model;
        ``limit_constant_shares``, the bound with constant shares of the rate; ``limit_average``,
        the bound with the protocol's additions to the paper's model (a price of the average queue,
        a gain with the entire round trip). A bound is None if it is above 64.
        ``smallest_window_bytes``, the advertised window above which the shares are stable.
    flows : sequence of ClampFlow
        Results by flow.
    warnings : sequence of str
        Warnings to check before trusting the result.
    provenance : mapping
        Provenance of the result: versions and inputs.
    trajectory : mapping, optional
        Queue and flows over time: lists ``time_s``, ``queue_bytes`` and ``price_s``, and ``flows``,
        each with ``id``, ``throughput_bps`` and ``window_bytes``. Default: not requested.
    """

    flow_type: ClassVar[type] = ClampFlow

    model: str
    throughput_bps: float
    queue_bytes: float
    queue_delay_s: float
    price_s: float
    stability: Mapping[str, float | None]
    flows: Sequence[ClampFlow]
    warnings: Sequence[str]
    provenance: Mapping[str, Any]
    trajectory: Mapping[str, Any] | None = None

    def lines(self) -> list[str]:
        """Return throughput, queue and stability as printed by the command."""
        limits = {
            name: "above 64" if value is None else digits(value, 4)
            for name, value in self.stability.items()
        }
        return [
            f"throughput {digits(self.throughput_bps / 1e6, 4)} Mbit/s (IP packets), queue "
            f"{digits(self.queue_bytes, 4)} B or {digits(self.queue_delay_s * 1e3)} ms, price "
            f"{digits(self.price_s * 1e3)} ms",
            f"b = {self.stability['b']:g}: stable below {limits['limit']} (with constant shares "
            f"below {limits['limit_constant_shares']}, with the queue's average below "
            f"{limits['limit_average']}); shares stable with windows above "
            f"{limits['smallest_window_bytes']} B",
        ]

    def flow_table(self) -> Table:
        """Return a table of flows: rate, round-trip time and window."""
        rows = [
            [
                label,
                f"{digits(flow.throughput_bps / 1e6)} Mbit/s",
                f"{digits(flow.rtt_s * 1e3)} ms",
                f"{flow.window_bytes:.0f} B",
            ]
            for label, flow in zip(self.flow_labels(), self.flows, strict=True)
        ]
        return Table("Flows", ["flow", "throughput", "RTT", "window"], rows)

    def trajectory_table(self) -> pd.DataFrame:
        """Return the trajectory, one row per time: ``trajectory.csv`` of ``solve --out``.

        Columns ``time_s``, ``queue_bytes``, ``price_s``, and for each flow N ``throughput_bps_N``
        and ``window_bytes_N``. Empty if no trajectory was requested.
        """
        import pandas as pd

        found: Mapping[str, Any] = self.trajectory or {}
        columns = {name: found.get(name, []) for name in ("time_s", "queue_bytes", "price_s")}
        for flow in found.get("flows", []):
            for name in ("throughput_bps", "window_bytes"):
                columns[f"{name}_{flow['id']}"] = flow[name]
        return pd.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``solve --json``; ``trajectory`` only if it was requested."""
        found = super().to_dict()
        if self.trajectory is None:
            del found["trajectory"]
        return found
