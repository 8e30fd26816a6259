"""Result class of CLAMP's fluid model."""

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
    """Quantities of one flow in the steady state.

    Parameters
    ----------
    id : int
        Index of the flow.
    throughput_bps : float
        Rate of IP packets that reach the receiver, bit/s.
    rtt_s : float
        Round-trip time with queueing and transmission, s.
    window_bytes : float
        Window that the receiver advertises, payload bytes.
    """

    id: int
    throughput_bps: float
    rtt_s: float
    window_bytes: float


@dataclass(frozen=True)
class ClampFluid(Solution, model="clamp-fluid"):
    """Steady state of long-lived CLAMP flows over a fixed link (clamp-2008 eqs. 1 to 12).

    Parameters
    ----------
    model : str
        Name of the model, ``clamp-fluid``.
    throughput_bps : float
        Total rate of IP packets that reach the receivers, bit/s.
    queue_bytes : float
        q*, bytes of IP packets in the queue and in transmission (Eq. 11).
    queue_delay_s : float
        Time to transmit these bytes, s.
    price_s : float
        p, price, s (Eq. 7).
    stability : mapping
        ``b``: gain of the price. ``limit``: upper bound of b for a stable closed loop.
        ``limit_constant_shares``: this bound if the shares of the rate are constant.
        ``limit_average``: this bound if the price depends on the average queue and the gain on the
        entire round trip, as in the protocol but not in the paper's model. A bound is None if it is
        above 64. ``smallest_window_bytes``: advertised window above which the shares of the rate
        are stable.
    flows : sequence of ClampFlow
        Results of each flow.
    warnings : sequence of str
        Warnings to read before you use the result.
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
        """Return the lines on throughput, queue and stability that ``airpath solve`` prints."""
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
        """Return the table of flows with rate, round-trip time and window."""
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
        """Return the content of ``solve --json``, with ``trajectory`` only if requested."""
        found = super().to_dict()
        if self.trajectory is None:
            del found["trajectory"]
        return found
