"""One BBR flow against one CUBIC flow, compared with published measurements.

Source: data of github.com/fatihsarpkaya/bbr-shared-bottleneck (arXiv 2505.07741), mean of 3 trials:
drop-tail, 10 Mbit/s, base RTT 40 ms, buffer in units of the bandwidth-delay product. `pairs.csv`
has the measured goodput of the BBR flow. The criteria were committed before the first run.

The published data does not state the duration of the runs. The first comparison used 60 s and
missed the measurements at 8 and 16 BDP, because CUBIC fills the buffer within the first 10 s, in
which BBR keeps its minimum RTT. 240 s is the duration in a public notebook that reproduces figure
1b of Ware et al. (IMC 2019); the measurements use their topology.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import airpath as ap

RATE = 10e6
RTT = 0.04
PACKET = 1500
SECONDS = 240
SEEDS = 10
ALLOWED = {"bbr1": 0.10, "bbr": 0.15}
"""Allowed difference of the mean share, as a part of the capacity."""


def measured(cc: str) -> dict[int, float]:
    """Map the buffer, in units of the bandwidth-delay product, to the share of the BBR flow."""
    with (Path(__file__).parent / "pairs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {int(row["buffer_bdp"]): float(row[f"{cc}_mbps"]) * 1e6 / RATE for row in rows}


def share(cc: str, buffer: int) -> float:
    """Return the mean goodput of the BBR flow as a share of the capacity."""
    limit = int(buffer * RATE * RTT / 8 / PACKET)
    flow = {"profile": "linux", "base_rtt": "40 ms", "start": {"uniform": ["0 s", "100 ms"]}}
    scenario = ap.Scenario(
        duration=f"{SECONDS} s",
        flows=[{"cc": cc, **flow}, {"cc": "cubic", **flow}],
        bottleneck={
            "aqm": {"kind": "droptail", "limit": f"{limit} packets"},
            "link": {"kind": "fixed", "rate": "10 Mbit/s", "delay": "10 ms"},
        },
    )
    result = ap.simulate(scenario, reps=SEEDS)
    return float(result.summary().loc[0, ("goodput_bps", "mean")]) / RATE


@pytest.mark.long
@pytest.mark.parametrize("cc", ["bbr1", "bbr"])
def test_shares_are_as_measured(cc: str) -> None:
    """The mean of ten seeds differs from each measurement by at most `ALLOWED`."""
    found = {buffer: share(cc, buffer) for buffer in measured(cc)}
    text = "; ".join(f"{b} BDP: {found[b]:.2f}, measured {m:.2f}" for b, m in measured(cc).items())
    assert all(abs(found[b] - m) <= ALLOWED[cc] for b, m in measured(cc).items()), text
