"""Published tables with types, and the paper's traffic.

The numbers are in the CSV files in this directory.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from math import ceil, log2
from typing import Final, Literal, NamedTuple

from airpath.reproduction.files import read_records, read_table
from airpath_papers.paths import QAWLA

__all__ = [
    "FLOWS",
    "MEAN_RTT0_MS",
    "MEASURES",
    "PACKET_BYTES",
    "TABLE_OF",
    "TRAFFIC",
    "Inputs",
    "Mcs",
    "Published",
    "Traffic",
    "inputs",
    "link_rate_bps",
    "mcs_table",
    "published_entry",
    "published_table",
]

PACKET_BYTES: Final = 1500
"""Size L of an IP packet, bytes (§4)."""

SUBCARRIERS_PER_S: Final = 5.376e6
"""Rate c of data sub-carriers in the downlink, 1/s (§4)."""

TABLE_OF: Final = {10: "table3", 20: "table4", 30: "table5"}
"""Table of results for each B, the queue length, packets, at which the link changes its regime."""

MEASURES: Final = {
    "mean_normalised_throughput": "T_M",
    "worst_normalised_throughput": "T_W",
}
"""Measures of Table 6, with their symbols."""

# --- traffic -----------------------------------------------------------------------------------

FLOWS: Final = (1, 2, 4, 8, 16)
"""Numbers of flows N (§4)."""

MEAN_RTT0_MS: Final = (1, 5, 10, 20, 40, 60, 80, 100)
"""Mean fixed round-trip times F, ms (§4)."""


class Traffic(NamedTuple):
    """Traffic scenario: N long-lived flows whose fixed round-trip times are F ms on average."""

    spacing: Literal["SF", "SU"]  # all alike, or spaced uniformly
    flows: int  # N
    mean_rtt0_ms: int  # F

    @property
    def name(self) -> str:
        """Name in the paper: ``SU(4,40)``."""
        return f"{self.spacing}({self.flows},{self.mean_rtt0_ms})"

    def rtt0_ns(self) -> list[Fraction]:
        """Return RTT_0,i of every flow, ns: F, or 2 (i + 1) F / (N + 1) ms (§4)."""
        mean_ns = self.mean_rtt0_ms * 10**6
        if self.spacing == "SF":
            return [Fraction(mean_ns)] * self.flows
        return [Fraction(2 * (i + 1) * mean_ns, self.flows + 1) for i in range(self.flows)]


TRAFFIC: Final = tuple(
    Traffic(spacing, flows, mean_rtt0_ms)
    for spacing in ("SU", "SF")
    for flows in FLOWS
    for mean_rtt0_ms in MEAN_RTT0_MS
    # SF(1, F) equals SU(1, F).
    if flows > 1 or spacing == "SU"
)
"""The 72 traffic scenarios of §4."""

# --- tables ------------------------------------------------------------------------------------


class Mcs(NamedTuple):
    """A modulation and coding scheme (Table 1)."""

    mcs: int  # m
    constellation_points: int  # V_m
    printed_rate: str  # R_m
    fec_block_bytes: int  # k_m

    @property
    def code_rate(self) -> tuple[int, int]:
        """Code rate R_m as numerator and denominator."""
        over, under = self.printed_rate.split("/")
        return int(over), int(under)

    def blocks(self, packet_bytes: int) -> int:
        """Return the number of FEC blocks of a packet."""
        return ceil(packet_bytes / self.fec_block_bytes)


class Inputs(NamedTuple):
    """A validation scenario (Table 2), with error rates as printed, in three digits."""

    idx: int
    flows: int  # N
    mean_rtt0_ms: int  # F, mean of the flows' fixed round-trip times
    snr_db: int
    mcs: tuple[int, int]  # MCS_1 and MCS_2
    rate_mbps: tuple[float, float]  # r_1 and r_2, of IP packets
    per: tuple[float, float]  # PER_1 and PER_2

    @property
    def traffic(self) -> Traffic:
        """Traffic scenario."""
        return Traffic("SU", self.flows, self.mean_rtt0_ms)


class _Regime(NamedTuple):
    idx: int
    flows: int
    mean_rtt0_ms: int
    snr_db: int
    mcs: int
    rate_mbps: float
    per: float


class Published(NamedTuple):
    """A row of Tables 3, 4 and 5."""

    idx: int
    boundary: int  # B, packets
    ns3_mbps: float  # T of the paper's simulations, mean of ten
    ns3_half_width_mbps: float  # of its 99 % confidence interval
    analysis_mbps: float  # T of the fixed point
    domain: str  # of the fixed point: R1, B or R2
    queue_packets: float  # x*
    alpha: float | None  # alpha*; None where the paper prints N/A


@cache
def mcs_table() -> Mapping[int, Mcs]:
    """Return Table 1 as a mapping from the MCS number m to the MCS."""
    rows = read_records(QAWLA, "table1.csv", Mcs, {"printed_rate": "code_rate"})
    return {row.mcs: row for row in rows}


@cache
def inputs() -> Mapping[int, Inputs]:
    """Return Table 2 as a mapping from idx to the row."""
    rows = read_records(QAWLA, "table2.csv", _Regime)
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return {
        a.idx: Inputs(*a[:4], (a.mcs, b.mcs), (a.rate_mbps, b.rate_mbps), (a.per, b.per))
        for a, b in pairs
    }


@cache
def published_table(boundary: int) -> Mapping[int, Published]:
    """Return Table 3, 4 or 5 by idx; `boundary` is B: 10, 20 or 30 packets."""
    rows = read_records(QAWLA, f"{TABLE_OF[boundary]}.csv", Published, {"boundary": "B"})
    return {row.idx: row for row in rows}


@cache
def published_entry(policy: str, channel: str, measure: str) -> float:
    """Return a number of Table 6."""
    rows = read_table(QAWLA, "table6.csv")
    return next(float(r[measure]) for r in rows if (r["policy"], r["channel"]) == (policy, channel))


def link_rate_bps(mcs: Mcs) -> float:
    """Return the rate g_m of IP packets with an MCS, bit/s (§4).

    This is the raw rate c log2(V_m) R_m, reduced by the padding in the last FEC block of each
    packet.
    """
    over, under = mcs.code_rate
    raw_bps = SUBCARRIERS_PER_S * log2(mcs.constellation_points) * over / under
    return raw_bps * PACKET_BYTES / (mcs.fec_block_bytes * mcs.blocks(PACKET_BYTES))
