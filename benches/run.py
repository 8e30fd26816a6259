"""End-to-end benchmarks: prints a table and writes ``out/bench.json``.

``python benches/run.py [NAME ...] [--repeat N]`` runs each scenario in a process of its own, on
one thread, and reports the median run: packets delivered to receivers per CPU-second, events per
packet, simulated seconds per CPU-second and the peak memory of the process. Building the
scenario is not counted. Every packet is acknowledged (no delayed ACK), which makes more events.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from airpath import _airpath
from airpath.scenario import Bottleneck, DropTail, FixedLink, Scenario, flows

OUT = Path("out")


def dumbbell(count: int, rate: str, packets: int) -> Scenario:
    """Bulk NewReno flows, 20 ms RTT and 0.2 ms more for each next flow, up to 40 ms."""
    rtts = [f"{20 + 0.2 * (i % 100):.1f} ms" for i in range(count)]
    return Scenario(
        name=f"dumbbell-{count}",
        duration="100 s",
        warmup="0 s",
        flows=flows(
            count,
            cc="newreno",
            base_rtt=rtts,
            start={"uniform": ["0 s", "1 s"]},
            tcp={"delayed_ack_segments": 1, "receive_window": "1 MB"},
        ),
        bottleneck=Bottleneck(
            aqm=DropTail(limit=f"{packets} packets"), link=FixedLink(rate=rate, delay="0 s")
        ),
    )


def qawla_15() -> Scenario:
    """Scenario 15 of qawla-2015 at B = 20: 16 flows, dual-regime link, ACKs over a link."""
    from airpath.papers.qawla import scenarios

    return scenarios.build(15, 20)


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "dumbbell-16": lambda: dumbbell(16, "100 Mbit/s", 100),
    "dumbbell-1000": lambda: dumbbell(1000, "1 Gbit/s", 1000),
    "qawla-15": qawla_15,
}


def measure(name: str) -> dict[str, Any]:
    """Run one scenario once in this process."""
    resolved, _ = SCENARIOS[name]().resolve()
    began = time.process_time()
    output = _airpath.simulate(resolved, {}, 1, 0, 1, 1, None)
    cpu_s = time.process_time() - began
    report = json.loads(output.replications)[0]
    arrived = sum(flow["delivered_packets"] for flow in report["flows"])
    # Events cover the whole run, packets the measured part of it.
    packets = arrived * report["simulated_s"] / report["measured_s"]
    return {
        "name": name,
        "packets_per_cpu_s": packets / cpu_s,
        "events_per_packet": report["events"] / packets,
        "sim_s_per_cpu_s": report["simulated_s"] / cpu_s,
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "cpu_s": cpu_s,
    }


def median_of(name: str, repeat: int) -> dict[str, Any]:
    """Run one scenario several times in processes of its own; the run of median speed."""
    runs = []
    for _ in range(repeat):
        command = [sys.executable, __file__, "--inside", name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        runs.append(json.loads(done.stdout))
    runs.sort(key=lambda run: run["packets_per_cpu_s"])
    middle = runs[len(runs) // 2]
    speeds = [run["packets_per_cpu_s"] for run in runs]
    return {**middle, "packets_per_cpu_s": statistics.median(speeds), "runs": len(runs)}


def main() -> None:
    """Run the benchmarks that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SCENARIOS))
    parser.add_argument("--repeat", type=int, default=5, help="runs of each (default 5)")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        print(json.dumps(measure(arguments.inside)))
        return
    unknown = sorted(set(arguments.names) - set(SCENARIOS))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}. Accepted: {', '.join(SCENARIOS)}")
    print(f"{_airpath.version()} ({_airpath.commit()}), {platform.machine()}, one thread")
    print(
        f"{'scenario':16} {'packets/CPU-s':>14} {'events/packet':>14}"
        f" {'sim s/CPU s':>12} {'MiB':>6}"
    )
    results = []
    for name in arguments.names or SCENARIOS:
        result = median_of(name, arguments.repeat)
        results.append(result)
        print(
            f"{name:16} {result['packets_per_cpu_s']:14,.0f} {result['events_per_packet']:14.2f} "
            f"{result['sim_s_per_cpu_s']:12,.0f} {result['peak_rss_bytes'] / 2**20:6.0f}",
            flush=True,
        )
    OUT.mkdir(exist_ok=True)
    (OUT / "bench.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
