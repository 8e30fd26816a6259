"""A Prague flow and a CUBIC flow through one bottleneck: rates and queueing delays.

``python tests/validation/l4s/pairs.py`` prints the tables of `docs/reference/models/prague.md`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from equations import PACKET, cubic_rate, prague_rate, ratio

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

LAW = 0.3
"""Bound of the relative difference between the ratio of the goodputs and that of the equations at
the measured frequencies of marks and drops. The equations assume random marks: d is 0.73, while
evenly spaced marks give 0.67 to 1."""


class Pair(NamedTuple):
    """Result of one pair: goodputs, bit/s; delays, s; frequencies of marks and drops."""

    prague: float
    cubic: float
    l4s_mean: float
    l4s_p99: float
    classic_mean: float
    marked: float
    dropped: float

    @property
    def ratio(self) -> float:
        """Return the ratio of Prague's goodput to CUBIC's."""
        return self.prague / self.cubic

    def law(self, rtt: float) -> float:
        """Return the ratio of the equations at the measured frequencies, with a base RTT in s."""
        cubic = cubic_rate(self.dropped, rtt + self.classic_mean)
        return prague_rate(self.marked, rtt) / cubic


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
    base = rtt / 2000 + PACKET / (rate * 1e6)
    queues = [run["queues"][0] for run in result.replications]

    def mean(flow: int, key: str) -> float:
        return float(sum(run["flows"][flow][key] for run in result.replications)) / reps

    packets = [reps * mean(flow, "delivered_packets") for flow in (0, 1)]
    return Pair(
        mean(0, "goodput_bps"),
        mean(1, "goodput_bps"),
        mean(0, "mean_delay_s") - base,
        mean(0, "p99_delay_s") - base,
        mean(1, "mean_delay_s") - base,
        sum(queue["marks"] for queue in queues) / packets[0],
        sum(queue["drops"].get("early", 0) for queue in queues) / packets[1],
    )


def main() -> None:
    """Print the table as Markdown."""
    print(
        "| rate, Mbit/s | RTT, ms | Prague | CUBIC | ratio | constant p' | measured p "
        "| L mean | L p99 | classic mean |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for rate in RATES:
        for rtt in RTTS:
            print(f"| {rate} | {rtt} | {_row(measure(rate, rtt), rate, rtt)} |", flush=True)


def _row(pair: Pair, rate: float, rtt: float) -> str:
    rates = f"{pair.prague / 1e6:.1f} | {pair.cubic / 1e6:.1f} | {pair.ratio:.2f}"
    laws = f"{ratio(rate * 1e6, rtt / 1e3):.2f} | {pair.law(rtt / 1e3):.2f}"
    delays = " | ".join(f"{1e3 * each:.2f}" for each in pair[2:5])
    return f"{rates} | {laws} | {delays}"


if __name__ == "__main__":
    main()
