"""Published numbers with types. The numbers are in the CSV files of this directory."""

from __future__ import annotations

from functools import cache
from typing import Final

from airpath.reproduction.files import read_table
from airpath_papers.paths import WIMAX

__all__ = ["GAINS", "NAMES", "POLICIES", "printed"]

NAMES: Final = {
    "uni": "UNI",
    "blind-bi": "blind-BI",
    "adapt-bi": "adapt-BI",
    "ideal": "ideal",
    "ideal-of-tables": "ideal with the simulation's TCP and R",
    "unsolicited": "unsolicited",
}
"""Names of the policies in the paper, and of the model of §3 without request delays."""

POLICIES: Final = ("uni", "blind-bi", "adapt-bi")
"""Policies in the paper's order."""

_QUANTITIES: Final = {
    "allocated_kb": "allocated",
    "used_kb": "used",
    "efficiency": "efficiency",
    "mac_delay_ms": "mac_delay",
    "mac_delay_p50_ms": "mac_delay_p50",
    "mac_delay_p90_ms": "mac_delay_p90",
    "goodput_mbps": "goodput",
}
"""Quantities by name of the column."""


GAINS: Final = read_table(WIMAX, "text.csv")
"""Gains of one throughput over another that the text states: `gain`, per cent."""


@cache
def printed(name: str) -> dict[tuple[int, str], dict[str, float]]:
    """Return a published table: numbers by RTT_min, ms, and policy, then by quantity.

    Parameters
    ----------
    name : str
        ``table1``, ``table2``, or ``fig6``, the quantiles of §5.2.
    """
    return {
        (int(line.get("base_rtt_ms", 100)), line["policy"]): {
            quantity: float(line[key]) for key, quantity in _QUANTITIES.items() if line.get(key)
        }
        for line in read_table(WIMAX, f"{name}.csv")
    }
