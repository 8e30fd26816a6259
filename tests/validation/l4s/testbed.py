"""One Prague flow against one other flow, compared with measurements in a testbed.

Source: F. B. Sarpkaya, F. Fund, S. Panwar, "To Adopt or Not to Adopt L4S-Compatible Congestion
Control? Understanding Performance in a Partial L4S Deployment", PAM 2025 (arXiv 2411.10952); data
and configuration: github.com/fatihsarpkaya/L4S-PAM2025 and L4S. `testbed.csv` has the means of 10
runs of 60 s: 100 Mbit/s, base RTT 10 ms, one bottleneck, Linux hosts. A row is a discipline, its
limit in units of the bandwidth-delay product (without effect on DualPI2), and the other flow;
`+ecn` is classic ECN.

The criteria of this file were committed before the first run of a row, except for DualPI2, CoDel
and FQ-CoDel with CUBIC, whose criteria precede it (`pairs.py`).

The hosts run Linux, so all flows have the profile `linux`. Prague is version 0.6, because the
notebook of the testbed sets a module parameter that 0.7 does not have: RTT independence begins
after 500 rounds, α starts at 1, pacing does not vary, and the window is reduced once per window of
data. BBRv3 is that of Google's kernel. (The first run used the parameters of Prague 0.7 and the
draft of BBRv3.) Hosts delay packets by a random time, which prevents phase effects of drop-tail;
earlier runs had no such delay. The shaper counts Ethernet headers. The threshold of FQ-CoDel for
L4S is not published; 1 ms agrees with the measured RTT of Prague. Linux `fq` with
one queue and a CE threshold is a FIFO queue with this threshold, here a CoDel queue that never
drops.

``python tests/validation/l4s/testbed.py [DISCIPLINE …]`` prints the table of
`docs/reference/models/prague.md`.
"""

from __future__ import annotations

import csv
import functools
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import airpath as ap

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


SECONDS = 60
REPS = 10
_ETHERNET = 1500 / 1514
"""Part of a frame that is its IP packet."""
TRANSMISSION = 1500 * 8 / (RATE * _ETHERNET * 1e6)
"""Transmission time of a packet at the bottleneck, s: the range of the hosts' random delay."""
_ROWS = 99_000
_FILES = tempfile.TemporaryDirectory()

PRAGUE = {
    "kind": "prague",
    "reduction": "window",
    "transition_rounds": 500,
    "start": "alpha",
    "pacing_variation": 0,
}
"""Prague 0.6 (`tcp_prague.c` of L4STeam/linux 5.15)."""

_AQM: dict[str, dict[str, Any]] = {
    "dualpi2": {"kind": "dualpi2", "profile": "linux", "target": "5 ms"},
    "codel-ecn": {"kind": "codel", "ecn": True},
    "codel-drop": {"kind": "codel"},
    "pie-drop": {"kind": "pie", "target": "5 ms"},
    "fq-codel": {"kind": "fq-codel"},
    "fq-codel-l4s": {"kind": "fq-codel", "ce_threshold": "1 ms", "ce_threshold_ect1": True},
    "ce-threshold": {"kind": "codel", "ecn": True, "target": "10 s", "ce_threshold": "5 ms"},
}


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


class Simulated(NamedTuple):
    """Means over replications: goodputs in Mbit/s, RTTs in ms, delay of Prague's packets in s."""

    prague: float
    other: float
    prague_rtt: float
    other_rtt: float
    median: float


@functools.cache
def host_delays(seconds: int) -> str:
    """Write the delays of the hosts over the time of a run; return the path of the file.

    A delay is uniform between 0 and the transmission time of a packet at the bottleneck (S. Floyd,
    V. Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", 1992).
    """
    path = Path(_FILES.name) / f"{seconds}.csv"
    random = Random(1)
    with path.open("w", encoding="utf-8") as file:
        file.write("time_s,delay_s\n")
        for number in range(_ROWS):
            file.write(f"{number * seconds / _ROWS:.7f},{random.random() * TRANSMISSION:.9f}\n")
    return str(path)


def scenario(row: Row, seconds: int = SECONDS) -> ap.Scenario:
    """Return the scenario of a row."""
    limit = int(1000 * row.buffer * RATE * BASE_RTT / 8)
    aqm: dict[str, Any] = {"kind": "droptail", "limit": f"{limit} B"}
    if row.discipline != "fifo":
        aqm = dict(_AQM[row.discipline])
        if row.discipline != "dualpi2":
            aqm["limit"] = limit // 1500 + 1
    name, _, ecn = row.other.partition("+")
    other: Any = {"kind": "bbr", "variant": "linux"} if name == "bbr" else name
    common = {
        "profile": "linux",
        "base_rtt": f"{BASE_RTT} ms",
        "start": {"uniform": ["0 s", "100 ms"]},
    }
    tcp = {"receive_window": "8 MB"}
    prague = {"cc": PRAGUE, "tcp": tcp}
    legacy = {"cc": other, "tcp": tcp | ({"ecn": "on"} if ecn else {})}
    return ap.Scenario(
        duration=f"{seconds} s",
        flows=[common | prague, common | legacy],
        hops=[
            {
                "name": "hosts",
                "aqm": {"kind": "droptail", "limit": "10000 packets"},
                "link": {"kind": "fixed", "rate": "10 Gbit/s"},
            },
            {
                "name": "router",
                "aqm": aqm,
                "link": {"kind": "fixed", "rate": f"{RATE * _ETHERNET:.4f} Mbit/s"},
            },
        ],
        control=[{"hop": "hosts", "direction": "forward", "schedule": host_delays(seconds)}],
    )


def simulate(row: Row, seconds: int = SECONDS, reps: int = REPS) -> Simulated:
    """Simulate the pair of a row."""
    result = ap.simulate(scenario(row, seconds), reps=reps, seed=1)

    def mean(flow: int, key: str) -> float:
        return float(sum(run["flows"][flow][key] for run in result.replications)) / reps

    base = BASE_RTT / 2000 + TRANSMISSION
    return Simulated(
        mean(0, "goodput_bps") / 1e6,
        mean(1, "goodput_bps") / 1e6,
        1e3 * mean(0, "mean_rtt_s"),
        1e3 * mean(1, "mean_rtt_s"),
        mean(0, "p50_delay_s") - base,
    )


def main() -> None:
    """Print the table as Markdown."""
    wanted = sys.argv[1:]
    for row in rows():
        if wanted and row.discipline not in wanted:
            continue
        found = simulate(row)
        verdict = "" if meets_criterion(row, found.prague, found.other) else " **misses**"
        print(
            f"| {row.discipline} | {row.buffer:g} | {row.other} "
            f"| {row.prague_mbps:.1f}, {row.other_mbps:.1f} "
            f"| {found.prague:.1f}, {found.other:.1f}{verdict} "
            f"| {row.prague_srtt:.1f}, {row.other_srtt:.1f} "
            f"| {found.prague_rtt:.1f}, {found.other_rtt:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
