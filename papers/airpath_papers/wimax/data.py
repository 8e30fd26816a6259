"""The published numbers, typed. They are in the CSV files beside this one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from airpath.reproduction.files import read_records, read_table
from airpath_papers.paths import WIMAX

__all__ = [
    "BASE_RTTS_MS",
    "GAINS",
    "IDEAL",
    "IDEAL_OF_TABLES",
    "NAMES",
    "POLICIES",
    "Gain",
    "fig6",
    "table1",
    "table2",
]

POLICIES: Final = ("uni", "blind-bi", "adapt-bi")
"""In the paper's order."""

IDEAL: Final = "ideal"
"""The model of §3 without the delay of requests."""

IDEAL_OF_TABLES: Final = "ideal-of-tables"
"""The same with the TCP and the R of the simulated tables."""

NAMES: Final = {
    "uni": "UNI",
    "blind-bi": "blind-BI",
    "adapt-bi": "adapt-BI",
    IDEAL: "ideal",
    IDEAL_OF_TABLES: "ideal with the simulation's TCP and R",
}
"""As the paper writes them."""

BASE_RTTS_MS: Final = (20, 50, 100, 150, 200)
"""RTT_min of Table 2, ms."""

_QUANTITIES: Final = {
    "allocated_kb": "allocated",
    "used_kb": "used",
    "efficiency": "efficiency",
    "mac_delay_ms": "mac_delay",
    "mac_delay_p50_ms": "mac_delay_p50",
    "mac_delay_p90_ms": "mac_delay_p90",
    "goodput_mbps": "goodput",
}
"""What rows call the columns."""


class Gain(NamedTuple):
    """What the text says of a throughput against another one."""

    section: str
    item: str
    policy: str
    over: str
    base_rtt_ms: int
    gain: float
    """Per cent."""


GAINS: Final = tuple(read_records(WIMAX, "text.csv", Gain))


def _numbers(line: Mapping[str, str]) -> dict[str, float]:
    return {name: float(line[key]) for key, name in _QUANTITIES.items() if line.get(key)}


@cache
def table1() -> dict[str, dict[str, float]]:
    """Return Table 1: numbers by policy and quantity."""
    return {line["policy"]: _numbers(line) for line in read_table(WIMAX, "table1.csv")}


@cache
def fig6() -> dict[str, dict[str, float]]:
    """Return the quantiles of §5.2, ms, by policy and quantity."""
    return {line["policy"]: _numbers(line) for line in read_table(WIMAX, "fig6.csv")}


@cache
def table2() -> dict[tuple[int, str], dict[str, float]]:
    """Return Table 2: numbers by RTT_min, ms, and policy, then by quantity."""
    return {
        (int(line["base_rtt_ms"]), line["policy"]): _numbers(line)
        for line in read_table(WIMAX, "table2.csv")
    }
