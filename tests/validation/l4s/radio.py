"""L4S marks over radio links: goodput and delay of Prague and CUBIC through several disciplines.

``python tests/validation/l4s/radio.py`` prints the tables of `docs/reference/models/l4span.md`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import airpath as ap

GOODPUT = 0.9
"""Least goodput through `l4span`, as a share of the goodput through drop-tail. L4Span (Wan &
Jamieson, CoNEXT 2025) states that the rate remains close to that of the link."""
PRAGUE_P99 = 0.1
"""Largest 99th percentile of Prague's delay at the link through `l4span`, as a share of the same
percentile through drop-tail. L4Span states a reduction of the one-way delay by up to 98 %."""
CUBIC_P99 = 0.5
"""The same for CUBIC with ECN, whose queue the classic threshold limits."""

BASE_RTT_MS = 40
BUFFER = 512
"""Packets that the drop-tail queue holds: the short RLC queue of L4Span's testbed."""

LINKS: dict[str, dict[str, Any]] = {
    "rlc-am": {
        "kind": "rlc-am",
        "rate": "20 Mbit/s",
        "tti": "2 ms",
        "delay": "5 ms",
        "pdu_payload": "168 B",
        "window": 2047,
        "poll_timer": "10 ms",
        "status_prohibit": "5 ms",
        "errors": {"kind": "independent", "loss": 0.01},
    },
    "ofdma-tdd": {
        "kind": "ofdma-tdd",
        "downlink_mcs": "64qam-5/6",
        "uplink_mcs": "16qam-1/2",
        "harq": {"attempts": 4, "error": 0.1, "round_trip": "10 ms"},
        "request": {"kind": "random-delay", "delay": ["5 ms", "10 ms"]},
    },
    "cell": {
        "kind": "cell",
        "slot": "1 ms",
        "rate": {"kind": "shannon", "bandwidth": "10 MHz", "cap": "40 Mbit/s"},
        "snr": {"kind": "jakes", "mean": "10 dB", "speed": "1 m/s", "carrier": "2.1 GHz"},
        "harq": "chase",
        "attempts": 5,
    },
    "trace": {"kind": "trace", "file": "traces:Verizon-LTE-short.down"},
}
"""Radio links. The cell has three users with one flow each, the other links have one flow."""
VARIANTS: dict[str, dict[str, Any]] = {
    "cell, constant": {**LINKS["cell"], "snr": {"kind": "constant", "mean": "10 dB"}},
    "cell, 0.1 m/s": {**LINKS["cell"], "snr": {**LINKS["cell"]["snr"], "speed": "0.1 m/s"}},
    "cell, 10 m/s": {**LINKS["cell"], "snr": {**LINKS["cell"]["snr"], "speed": "10 m/s"}},
}
"""The cell with other channels, which show the cause of the loss of goodput. They have no criterion
except for the constant channel, which must meet the criteria of Prague."""

DISCIPLINES: dict[str, dict[str, Any]] = {
    "drop-tail": {"kind": "droptail", "limit": f"{BUFFER} packets"},
    "dualpi2, 1 ms": {"kind": "dualpi2", "ramp_start": "1 ms", "ramp": "0 s"},
    "dualpi2, 5 ms": {"kind": "dualpi2", "ramp_start": "5 ms", "ramp": "0 s"},
    "dualpi2, 10 ms": {"kind": "dualpi2", "ramp_start": "10 ms", "ramp": "0 s"},
    "l4span": {"kind": "l4span"},
}
LONGER: dict[str, dict[str, Any]] = {
    "dualpi2, 20 ms": {"kind": "dualpi2", "ramp_start": "20 ms", "ramp": "0 s"},
    "l4span, 20 ms": {"kind": "l4span", "target": "20 ms"},
    "l4span, 80 ms": {"kind": "l4span", "target": "80 ms"},
}
"""Longer steps and targets in the cell, without a criterion."""
CONTROLS: dict[str, dict[str, Any]] = {
    "prague": {"cc": "prague", "tcp": {"receive_window": "4 MB", "recovery": "sack"}},
    "cubic": {
        "cc": "cubic",
        "profile": "linux",
        "tcp": {"receive_window": "4 MB", "ecn": "on"},
    },
}


class Point(NamedTuple):
    """Result of one control through one discipline over one link.

    The delay at the link is the one-way delay without propagation: queueing, waiting for grants,
    transmission and retransmissions of the radio.
    """

    goodput: float
    """Goodput of all flows, Mbit/s."""
    mean: float
    """Mean of the delay at the link, ms, averaged over the flows."""
    p99: float
    """99th percentile of the delay at the link, ms, averaged over the flows."""


def scenario(link: str, discipline: str, controls: tuple[str, ...], seconds: int) -> ap.Scenario:
    """Return flows with `controls` over a link. In the cell, every user has all these flows."""
    users = 3 if link.startswith("cell") else 1
    flows = [
        ap.traffic.Tcp(
            **CONTROLS[control],
            base_rtt=f"{BASE_RTT_MS} ms",
            user=user if users > 1 else None,
            start={"uniform": ["0 s", "1 s"]},
        )
        for user in range(users)
        for control in controls
    ]
    reverse = {"kind": "reverse", "aqm": {"kind": "droptail", "limit": "1000 packets"}}
    both_ways: dict[str, Any] = {"ack_path": reverse} if link == "ofdma-tdd" else {}
    return ap.Scenario(
        duration=f"{seconds} s",
        warmup=f"{seconds // 4} s",
        flows=flows,
        bottleneck={
            "aqm": {**DISCIPLINES, **LONGER}[discipline],
            "link": {**LINKS, **VARIANTS}[link],
        },
        **both_ways,
    )


def measure(
    link: str, discipline: str, *controls: str, seconds: int = 60, reps: int = 4
) -> list[Point]:
    """Simulate flows with `controls` in the same queue; return one result for each control."""
    result = ap.simulate(scenario(link, discipline, controls, seconds), reps=reps, seed=1)
    base = BASE_RTT_MS / 2000
    points = []
    for number in range(len(controls)):
        flows = [
            flow for run in result.replications for flow in run["flows"][number :: len(controls)]
        ]

        def mean(key: str, flows: list[Any] = flows) -> float:
            return float(sum(flow[key] for flow in flows) / len(flows))

        users = len(flows) // reps
        points.append(
            Point(
                mean("goodput_bps") * users / 1e6,
                1e3 * (mean("mean_delay_s") - base),
                1e3 * (mean("p99_delay_s") - base),
            )
        )
    return points


def main() -> None:
    """Print the tables as Markdown: each control alone, and both in one queue."""
    print("| link | discipline | Prague | mean | p99 | CUBIC | mean | p99 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for link in LINKS:
        for discipline in DISCIPLINES:
            [prague] = measure(link, discipline, "prague")
            [cubic] = measure(link, discipline, "cubic")
            print(f"| {link} | {discipline} | {_cells(prague)} | {_cells(cubic)} |", flush=True)
    print()
    others = [(link, discipline) for link in VARIANTS for discipline in DISCIPLINES]
    for link, discipline in [*(("cell", longer) for longer in LONGER), *others]:
        [prague] = measure(link, discipline, "prague")
        print(f"| {link} | {discipline} | {_cells(prague)} |", flush=True)
    print()
    for link in LINKS:
        for discipline in DISCIPLINES:
            both = measure(link, discipline, "prague", "cubic")
            print(f"| {link} | {discipline} | {' | '.join(map(_cells, both))} |", flush=True)


def _cells(point: Point) -> str:
    return f"{point.goodput:.2f} | {point.mean:.1f} | {point.p99:.1f}"


if __name__ == "__main__":
    main()
