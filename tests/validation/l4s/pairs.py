"""A Prague flow and a CUBIC flow through one bottleneck: rates and queueing delays.

``python tests/validation/l4s/pairs.py`` prints the tables of `docs/reference/models/prague.md`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import airpath as ap

RATES = (12, 40, 120)
"""Link rates, Mbit/s."""
RTTS = (5, 10, 20, 50)
"""Base RTTs, ms."""

BALANCE = (0.5, 2.0)
"""Bounds of the ratio of Prague's goodput to CUBIC's goodput over DualPI2."""
L4S_P99 = 2e-3
"""Bound of the 99th percentile of the L queue's delay at 40 Mbit/s, s."""
CLASSIC_MEAN = 0.2
"""Bound of the relative difference between the mean delay of the classic queue and its target."""

MEASURED = {"dualpi2": (42.0, 53.0), "codel": (88.0, 6.6), "fq-codel": (47.5, 47.9)}
"""Goodput of Prague and CUBIC at 100 Mbit/s and 10 ms, Mbit/s: means of 10 runs of the testbed of
Sarpkaya et al., "To switch or not to switch to TCP Prague?", PAM 2025 (public raw data)."""
RATIOS = {"dualpi2": (0.65, 0.95), "codel": (8.0, float("inf")), "fq-codel": (0.9, 1.1)}
"""Bounds of the ratio of the two rates, from that data."""

_AQM: dict[str, dict[str, Any]] = {
    "dualpi2": {"kind": "dualpi2", "target": "5 ms", "ramp_start": "1 ms", "ramp": "0 s"},
    "codel": {"kind": "codel", "ecn": True, "limit": 1000},
    "fq-codel": {"kind": "fq-codel", "ecn": True},
}


class Pair(NamedTuple):
    """Result of one pair: goodputs, bit/s; delays, s."""

    prague: float
    cubic: float
    l4s_mean: float
    l4s_p99: float
    classic_mean: float

    @property
    def ratio(self) -> float:
        """Return the ratio of Prague's goodput to CUBIC's."""
        return self.prague / self.cubic


def scenario(rate: float, rtt: float, aqm: dict[str, Any] | str, seconds: int) -> ap.Scenario:
    """Return one Prague and one CUBIC flow with a link rate in Mbit/s and a base RTT in ms.

    CUBIC does not use ECN. Both flows use SACK, and windows that never limit them. A quarter of the
    time is warm-up.
    """
    tcp = {"receive_window": "8 MB", "recovery": "sack"}
    return ap.Scenario(
        duration=f"{seconds} s",
        warmup=f"{seconds // 4} s",
        flows=[
            ap.traffic.Tcp(cc=cc, base_rtt=f"{rtt} ms", tcp=tcp, start={"uniform": ["0 s", "1 s"]})
            for cc in ("prague", "cubic")
        ],
        bottleneck=ap.Bottleneck(aqm=aqm, link=ap.link.Fixed(rate=f"{rate} Mbit/s")),
    )


def measure(
    rate: float, rtt: float, aqm: dict[str, Any] | str = "dualpi2", seconds: int = 80, reps: int = 4
) -> Pair:
    """Simulate a pair and return means over replications.

    The delay of a queue is the one-way delay of the flow that uses it, less propagation and the
    transmission of the packet.
    """
    result = ap.simulate(scenario(rate, rtt, aqm, seconds), reps=reps, seed=1)
    base = rtt / 2000 + 1500 * 8 / (rate * 1e6)

    def mean(flow: int, key: str) -> float:
        return sum(run["flows"][flow][key] for run in result.replications) / reps

    return Pair(
        mean(0, "goodput_bps"),
        mean(1, "goodput_bps"),
        mean(0, "mean_delay_s") - base,
        mean(0, "p99_delay_s") - base,
        mean(1, "mean_delay_s") - base,
    )


def measured_pair(kind: str, seconds: int = 80, reps: int = 4) -> Pair:
    """Simulate the pair of a testbed measurement through the discipline `kind`."""
    return measure(100, 10, _AQM[kind], seconds, reps)


def main() -> None:
    """Print both tables as Markdown."""
    print("| rate, Mbit/s | RTT, ms | Prague | CUBIC | ratio | L mean | L p99 | classic mean |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for rate in RATES:
        for rtt in RTTS:
            print(f"| {rate} | {rtt} | {_row(measure(rate, rtt))} |", flush=True)
    for kind in MEASURED:
        print(f"| {kind} | {_row(measured_pair(kind))} |", flush=True)


def _row(pair: Pair) -> str:
    rates = f"{pair.prague / 1e6:.1f} | {pair.cubic / 1e6:.1f} | {pair.ratio:.2f}"
    delays = " | ".join(f"{1e3 * each:.2f}" for each in pair[2:])
    return f"{rates} | {delays}"


if __name__ == "__main__":
    main()
