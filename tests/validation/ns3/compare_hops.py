"""The paths of `hops.py` in Airpath, compared with the results of ns-3 in `hops.csv`.

python compare_hops.py [--reps 60] [--only ID...]
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import statistics
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import hops

import airpath as ap
from airpath.engine.engine_input import EngineInput

HERE = Path(__file__).parent
CC = {"TcpNewReno": "newreno", "TcpLinuxReno": "reno", "TcpCubic": "cubic"}
RECOVERY = {"TcpPrrRecovery": "prr", "TcpClassicRecovery": "sack"}
HALF_WIDTH = 1.96
"""Half-width of the 95 % confidence interval, in standard errors."""

CPU = "processor time"
"""Processor time of a run, s."""

Values = dict[str, list[float]]
"""Values of each quantity, one per run or replication."""


# --- scenarios -----------------------------------------------------------------------------------


def aqm(queue: hops.Queue) -> ap.aqm.QueueDisc:
    if queue.kind == "droptail":
        return ap.aqm.DropTail(limit=f"{queue.limit} packets")
    if queue.kind == "codel":
        # ns-3 may drop a packet that leaves 1500 bytes behind.
        return ap.aqm.CoDel(limit=queue.limit, mtu="1499 B")
    return ap.aqm.Red(
        limit=queue.limit,
        min_th=queue.min_th,
        max_th=queue.max_th,
        max_p=queue.max_p,
        weight=queue.weight,
        wait=queue.wait,
        variant="ns",
    )


def flow(path: hops.Path, group: hops.Group, access_ms: float) -> ap.traffic.Source:
    common: dict[str, Any] = {
        "direction": "reverse" if group.is_upload else "forward",
        "access": ap.Wire(rate="1 Gbit/s", delay=f"{access_ms} ms"),
        "egress": ap.Wire(rate="1 Gbit/s"),
        "start": {"uniform": ["0 s", "1 s"]},
    }
    if not group.is_tcp:
        return ap.traffic.Poisson(rate=f"{group.mbps} Mbit/s", packet="1500 B", **common)
    return ap.traffic.Tcp(
        cc=CC[group.cc],
        profile="ns3",
        tcp={
            "mss": "1448 B",
            "initial_window": "14480 B",
            "timestamps": True,
            "min_rto": "1 s",
            "receive_window": f"{path.window} B",
            "delayed_ack_segments": path.delayed_ack,
            "recovery": RECOVERY[path.recovery],
        },
        return_wire=ap.Wire(rate="1 Gbit/s", delay=f"{access_ms} ms"),
        **common,
    )


def link(design: hops.Hop, mbps: float, loss: float) -> ap.link.Link:
    return ap.link.Fixed(
        rate=f"{mbps} Mbit/s", delay=f"{design.delay_ms} ms", loss=loss, frame_overhead="2 B"
    )


def resolved_with(design: hops.Hop, path: hops.Path) -> dict[str, Any]:
    """Return the resolved scenario of all flows over one hop."""
    up_mbps = design.mbps if design.up_mbps is None else design.up_mbps
    scenario = ap.Scenario(
        flows=[flow(path, group, delay) for group in path.groups for delay in group.access_ms],
        bottleneck=ap.Bottleneck(
            aqm=aqm(design.queue), link=link(design, design.mbps, design.loss)
        ),
        ack_path=ap.ack_path.Reverse(aqm=aqm(design.up_queue), link=link(design, up_mbps, 0.0)),
        duration=f"{path.duration_s} s",
        warmup=f"{path.warmup_s} s",
    )
    document: dict[str, Any] = json.loads(scenario.resolve()[0])
    return document


def engine_input(path: hops.Path) -> EngineInput:
    """Return the input of the engine that describes the same path as that of `hops.cc`."""
    names = [f"hop-{number}" for number in range(1, len(path.hops) + 1)]
    resolved = [resolved_with(design, path) for design in path.hops]
    path_hops = []
    for name, document in zip(names, resolved, strict=True):
        up = {key: value for key, value in document["ack_path"].items() if key != "kind"}
        path_hops.append({"name": name, "down": document["bottleneck"], "up": up})
    document = resolved[0]
    ends = [(group.first, group.last) for group in path.groups for _ in group.access_ms]
    for described, (first, last) in zip(document["flows"], ends, strict=True):
        described["hops"] = [names[first], names[last]]
    of_one_hop = ("bottleneck", "ack_path", "backhaul")
    document = {key: value for key, value in document.items() if key not in of_one_hop}
    return EngineInput(json.dumps({**document, "hops": path_hops}))


# --- quantities ----------------------------------------------------------------------------------


def is_lot(path: hops.Path) -> bool:
    """Return whether the path is a parking lot, with the long flow first."""
    return path.groups[0].name == "long"


def quantities(
    path: hops.Path, goodputs_bps: Sequence[float], queues_packets: dict[str, float]
) -> dict[str, float]:
    """Return the compared quantities of one run: goodputs in Mbit/s, queues in packets."""
    remaining = iter(goodputs_bps)
    goodputs = [sum(islice(remaining, len(group.access_ms))) / 1e6 for group in path.groups]
    found = {
        f"goodput, {group.name}": goodput
        for group, goodput in zip(path.groups, goodputs, strict=True)
        if group.is_tcp
    }
    found |= {f"queue {name}": queues_packets[name] for name in path.data_queues()}
    if is_lot(path):
        found["share"] = goodputs[0] / (goodputs[0] + statistics.mean(goodputs[1:]))
    return found


def by_name(runs: Iterator[dict[str, float]]) -> Values:
    every = list(runs)
    return {name: [run[name] for run in every] for name in every[0]}


def stored_runs(path: hops.Path) -> Iterator[dict[str, float]]:
    """Yield the quantities of each run of ns-3."""
    names = [f"{i + 1}{suffix}" for i in range(len(path.hops)) for suffix in ("", "_reverse")]
    with (HERE / "hops.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["id"] == path.id:
                goodputs = [float(value) for value in row["goodputs_bps"].split()]
                queues = [float(value) for value in row["queues_packets"].split()]
                found = quantities(path, goodputs, dict(zip(names, queues, strict=True)))
                yield found | {CPU: float(row["cpu_s"])}


def simulated_runs(path: hops.Path, reps: int) -> Iterator[dict[str, float]]:
    """Yield the quantities of each replication of Airpath.

    Parking lots also have the ratio of the mean RTTs of the long flow and of the short flows.
    """
    output = engine_input(path).simulate(1, range(reps))
    for index, report in enumerate(json.loads(output.replications)):
        means = {
            queue["name"].removeprefix("hop-"): queue["mean_packets"] for queue in report["queues"]
        }
        columns = {name: values for name, _, values in output.flows(index)[1]}
        found = quantities(path, numbers(columns["goodput_bps"]), means)
        if is_lot(path):
            long, *short = numbers(columns["mean_rtt_s"])
            found["RTT ratio"] = long / statistics.fmean(short)
        yield found | {CPU: output.cpu_s[index]}


def numbers(column: bytes) -> list[float]:
    """Return the values of a column of 64-bit numbers."""
    return list(array("d", column))


class Difference(NamedTuple):
    """A quantity of one path in both simulators."""

    name: str
    ns3: float
    airpath: float
    half_width: float
    """Half-width of the 95 % confidence interval of `airpath` − `ns3`."""

    @property
    def bound(self) -> float:
        """The largest difference that the criterion accepts, in the unit of the quantity."""
        if self.name.startswith("queue"):
            return max(hops.QUEUE_BOUND * self.ns3, hops.QUEUE_BOUND_PACKETS)
        share_or_goodput = hops.SHARE_BOUND if self.name == "share" else hops.GOODPUT_BOUND
        return share_or_goodput * self.ns3

    @property
    def agrees(self) -> bool:
        return abs(self.airpath - self.ns3) <= self.bound


def differences(ns3: Values, airpath: Values) -> list[Difference]:
    found = []
    for name, reference in ns3.items():
        samples = (reference, airpath[name])
        errors = [statistics.stdev(values) / math.sqrt(len(values)) for values in samples]
        ns3_mean, airpath_mean = (statistics.fmean(values) for values in samples)
        half_width = HALF_WIDTH * math.hypot(*errors)
        found.append(Difference(name, ns3_mean, airpath_mean, half_width))
    return found


def compare(path: hops.Path, airpath: Values) -> list[Difference]:
    """Return the quantities to which the criterion of the path applies."""
    found = differences(by_name(stored_runs(path)), airpath)
    return [one for one in found if one.name != CPU and (one.name == "share") == is_lot(path)]


# --- tables --------------------------------------------------------------------------------------

COLUMNS = ["path", "quantity", "ns-3", "Airpath", "difference, %", "criterion"]
LOT_COLUMNS = ["1/(1 + √n)", "with the RTTs"]


def cells(path: hops.Path, one: Difference) -> list[str]:
    digits = 2 if one.name.startswith("queue") else 3
    percent = 100 * (one.airpath / one.ns3 - 1)
    error = 100 * one.half_width / one.ns3
    return [
        *(path.id, one.name, f"{one.ns3:.{digits}f}", f"{one.airpath:.{digits}f}"),
        *(f"{percent:+.1f} ± {error:.1f}", "met" if one.agrees else "not met"),
    ]


def laws(path: hops.Path, airpath: Values) -> list[str]:
    """Return the shares of the long flow by the square-root law: with equal RTTs, and with the RTTs
    of Airpath."""
    root = math.sqrt(len(path.hops))
    ratio = statistics.fmean(airpath["RTT ratio"])
    return [f"{1 / (1 + root):.3f}", f"{1 / (1 + ratio * root):.3f}"]


def speed(path: hops.Path, airpath: Values) -> list[str]:
    """Return the mean processor times of ns-3 and Airpath, and their ratio."""
    ns3_s = statistics.fmean(by_name(stored_runs(path))[CPU])
    airpath_s = statistics.fmean(airpath[CPU])
    return [path.id, f"{ns3_s:.1f}", f"{airpath_s:.3f}", f"{ns3_s / airpath_s:.0f}"]


def row(values: Sequence[str]) -> str:
    return "| " + " | ".join(values) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=60)
    parser.add_argument("--only", nargs="*")
    given = parser.parse_args()
    speeds = []
    for paths, more in [(hops.dumbbells(), []), (hops.parking_lots(), LOT_COLUMNS)]:
        print_header([*COLUMNS, *more])
        agreeing = []
        for path in paths:
            if given.only and path.id not in given.only:
                continue
            airpath = by_name(simulated_runs(path, given.reps))
            speeds.append(speed(path, airpath))
            found = compare(path, airpath)
            agreeing.append(all(one.agrees for one in found))
            for one in found:
                print(row(cells(path, one) + (laws(path, airpath) if more else [])))
        print(f"\n{sum(agreeing)} of {len(agreeing)} agree\n")
    print_header(["path", "ns-3, s", "Airpath, s", "ratio"])
    for values in speeds:
        print(row(values))


def print_header(columns: Sequence[str]) -> None:
    print(row(columns), row(["---"] * len(columns)), sep="\n")


if __name__ == "__main__":
    main()
