"""One Prague flow against one other flow, compared with measurements in a testbed.

Source: F. B. Sarpkaya, F. Fund, S. Panwar, "To Adopt or Not to Adopt L4S-Compatible Congestion
Control? Understanding Performance in a Partial L4S Deployment", PAM 2025 (arXiv 2411.10952); data
and configuration: github.com/fatihsarpkaya/L4S-PAM2025 and L4S. `testbed.csv` has the means of 10
runs of 60 s: 100 Mbit/s, base RTT 10 ms, one bottleneck, Linux hosts. A row is a discipline, its
limit in units of the bandwidth-delay product (without effect on DualPI2), and the other flow;
`+ecn` is classic ECN.

The criteria of this file were committed before the first run of a row, except for DualPI2, CoDel
and FQ-CoDel with CUBIC, whose criteria precede it (`pairs.py`).

``python tests/validation/l4s/testbed.py`` prints the table of `docs/reference/models/prague.md`.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

RATE = 100
"""Link rate, Mbit/s."""
BASE_RTT = 10
"""Base RTT, ms."""

SHARE = 10.0
"""Allowed difference of Prague's goodput from the measurement, Mbit/s: 0.1 of the capacity."""
RATIOS = {
    ("dualpi2", "cubic"): (0.65, 0.95),
    ("dualpi2", "cubic+ecn"): (0.65, 0.95),
    ("dualpi2", "bbr+ecn"): (0.0, 0.1),
    ("codel-ecn", "cubic"): (8.0, float("inf")),
    ("codel-ecn", "cubic+ecn"): (8.0, float("inf")),
    ("fq-codel", "cubic"): (0.9, 1.1),
}
"""Bounds of the ratio of Prague's goodput to the other flow's, where they replace `SHARE`."""
L4S_MEDIAN = 0.5e-3
"""Bound of the median queueing delay of Prague's packets in DualPI2, s."""


class Row(NamedTuple):
    """One measured pair: goodputs in Mbit/s, smoothed RTTs in ms."""

    discipline: str
    buffer: float
    other: str
    prague_mbps: float
    other_mbps: float
    prague_srtt: float
    other_srtt: float


def rows() -> list[Row]:
    """Return the measurements of `testbed.csv`."""
    with (Path(__file__).parent / "testbed.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))[1:]
    return [Row(line[0], float(line[1]), line[2], *map(float, line[3:])) for line in lines]


def meets_criterion(row: Row, prague: float, other: float) -> bool:
    """Return true if simulated goodputs, Mbit/s, meet the criterion of the row."""
    if bounds := RATIOS.get((row.discipline, row.other)):
        return bounds[0] <= prague / other <= bounds[1]
    return abs(prague - row.prague_mbps) <= SHARE
