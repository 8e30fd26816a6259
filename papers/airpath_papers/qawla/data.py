"""The published tables, typed. The numbers themselves are in the CSV files beside this one."""

from __future__ import annotations

from functools import cache
from math import ceil, log2
from typing import NamedTuple

from airpath.reproduction.base import Row
from airpath.reproduction.engine import Solved
from airpath.reproduction.files import read_records
from airpath.reproduction.published import PublishedQuantity, published_rows
from airpath_papers.paths import QAWLA

__all__ = [
    "AT_BOUNDARY",
    "BOUNDARIES",
    "ELSEWHERE",
    "FIG5_IDX",
    "FIG6_B",
    "MEASURES",
    "PACKET_BYTES",
    "SUBCARRIERS_PER_S",
    "TABLE_OF",
    "Inputs",
    "Mcs",
    "Published",
    "domain",
    "inputs",
    "link_rate_bps",
    "mcs_table",
    "published",
    "published_entry",
    "published_table",
    "published_table6",
]

PACKET_BYTES = 1500
"""L, bytes of an IP packet (qawla-2015 §4)."""

SUBCARRIERS_PER_S = 5.376e6
"""c, data sub-carriers per second of the downlink (qawla-2015 §4)."""

TABLE_OF = {10: "table3", 20: "table4", 30: "table5"}
"""The table of results for each B."""

BOUNDARIES = tuple(TABLE_OF)
"""B, packets: where the link changes its regime."""

FIG5_IDX = 2
"""The scenario of Fig. 5, for every B."""

FIG6_B = 20
"""B of Fig. 6, packets."""

AT_BOUNDARY = (3, 4, 13, 14)
"""Scenarios of Fig. 6 whose solution is at the boundary."""

ELSEWHERE = (11, 18)
"""Scenarios of Fig. 6 whose solution is in R1 and in R2."""

MEASURES = ("mean_normalised_throughput", "worst_normalised_throughput")
"""T_M and T_W."""


class Mcs(NamedTuple):
    """One modulation and coding scheme (Table 1)."""

    mcs: int
    """m."""
    constellation_points: int
    """V_m."""
    printed_rate: str
    """R_m."""
    fec_block_bytes: int
    """k_m, bytes."""

    @property
    def code_rate(self) -> tuple[int, int]:
        """R_m as numerator and denominator."""
        over, under = self.printed_rate.split("/")
        return int(over), int(under)

    @property
    def name(self) -> str:
        """Modulation and code rate."""
        points = self.constellation_points
        return f"{'QPSK' if points == 4 else f'{points}QAM'} {self.printed_rate}"

    def blocks(self, packet_bytes: int) -> int:
        """Return how many FEC blocks a packet takes."""
        return ceil(packet_bytes / self.fec_block_bytes)


class Inputs(NamedTuple):
    """One validation scenario (Table 2)."""

    idx: int
    flows: int
    """N."""
    mean_rtt0_ms: int
    """F, ms: mean of the flows' fixed round-trip times."""
    snr_db: int
    mcs1: int
    mcs2: int
    r1_mbps: float
    r2_mbps: float
    per1: float
    per2: float

    @property
    def mcs(self) -> tuple[int, int]:
        """MCS_1 and MCS_2."""
        return self.mcs1, self.mcs2

    @property
    def rate_mbps(self) -> tuple[float, float]:
        """r_1 and r_2, Mbit/s of IP packets."""
        return self.r1_mbps, self.r2_mbps

    @property
    def per(self) -> tuple[float, float]:
        """PER_1 and PER_2, as printed with three digits."""
        return self.per1, self.per2

    @property
    def traffic(self) -> str:
        """The paper's name of the traffic scenario."""
        return f"SU({self.flows},{self.mean_rtt0_ms})"


class Published(NamedTuple):
    """One row of Tables 3, 4 and 5."""

    idx: int
    boundary: int
    """B, packets."""
    ns3_mbps: float
    """T of the paper's simulations, mean of ten, Mbit/s."""
    ns3_half_width_mbps: float
    """Half-width of its 99 % confidence interval, Mbit/s."""
    analysis_mbps: float
    """T of the fixed point, Mbit/s."""
    domain: str
    """Where the fixed point lies: R1, B or R2."""
    queue_packets: float
    """x*, packets."""
    alpha: float | None
    """alpha*; None where the paper prints N/A."""


@cache
def mcs_table() -> dict[int, Mcs]:
    """Return Table 1 by m."""
    rows = read_records(QAWLA, "table1.csv", Mcs, {"printed_rate": "code_rate"})
    return {row.mcs: row for row in rows}


@cache
def inputs() -> dict[int, Inputs]:
    """Return Table 2 by idx."""
    return {row.idx: row for row in read_records(QAWLA, "table2.csv", Inputs)}


@cache
def published_table(boundary: int) -> dict[int, Published]:
    """Return Table 3, 4 or 5 by idx; `boundary` is B: 10, 20 or 30 packets."""
    file = f"{TABLE_OF[boundary]}.csv"
    rows = read_records(QAWLA, file, Published, {"boundary": "B"})
    return {row.idx: row for row in rows}


def published(idx: int, boundary: int) -> Published:
    """Return the row of one cell."""
    return published_table(boundary)[idx]


def domain(solved: Solved) -> str:
    """Return where a solution lies, in the paper's names: R1, B or R2.

    The paper has one boundary, and counts an empty queue (x* = 0) as R1.
    """
    return {"B1": "B", "empty": "R1"}.get(solved.domain, solved.domain)


@cache
def published_table6() -> dict[tuple[str, str, str], Row]:
    """Return Table 6 by policy, channel and measure."""
    quantities = [PublishedQuantity(measure, "1", measure) for measure in MEASURES]
    rows = published_rows(QAWLA, "table6.csv", ("policy", "channel"), quantities)
    return {(str(row.row["policy"]), str(row.row["channel"]), row.quantity): row for row in rows}


def published_entry(policy: str, channel: str, measure: str) -> float:
    """Return a number of Table 6."""
    found = published_table6()[policy, channel, measure].published
    assert found is not None, "Table 6 has every entry"
    return found


def link_rate_bps(mcs: Mcs) -> float:
    """Return g_m, bit/s of IP packets that the link layer gets from an MCS (qawla-2015 §4).

    The raw rate c log2(V_m) R_m loses what pads the last FEC block of each packet.
    """
    over, under = mcs.code_rate
    raw_bps = SUBCARRIERS_PER_S * log2(mcs.constellation_points) * over / under
    return raw_bps * PACKET_BYTES / (mcs.fec_block_bytes * mcs.blocks(PACKET_BYTES))
