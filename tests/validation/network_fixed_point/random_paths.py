"""Compare the network fixed point with packet simulation over random paths of two and three hops.

    python tests/validation/network_fixed_point/random_paths.py [--paths 40] [--seed 1] [--reps 3]

The script prints one line per path and a summary with the verdicts of the criteria, and writes the
rows of all groups of flows and of all hops to `groups.csv` and `hops.csv` in this directory
(``--check``: writes nothing).

Criteria, written before the first result:

1. Throughput of TCP groups (mean per flow): median of the error at most 5 %, nine in ten groups
   within 20 %.
2. Utilisation of hops: median at most 1 %, nine in ten hops within 5 %.
3. Mean queue: three in four hops within 15 % of the simulated mean or within 3 packets.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import airpath as ap
from airpath import api
from airpath.engine.engine_input import EngineInput

HERE = Path(__file__).parent
MS = 1_000_000
SECOND = 1_000 * MS
PACKET_BITS = 12_000
DURATION_S, WARMUP_S = 120, 30
UPWARD_QUEUE = {"kind": "droptail", "limit": {"packets": 10_000}}


class Group(NamedTuple):
    """Solved and simulated rate of one TCP flow of a group, Mbit/s, and the kind of its route."""

    path: int
    group: int
    route: str
    flows: int
    solved: float
    simulated: float

    @property
    def error(self) -> float:
        """Relative error of the solved rate."""
        return self.solved / self.simulated - 1


class Hop(NamedTuple):
    """Solved and simulated mean queue, packets, and utilisation of a hop."""

    path: int
    hop: str
    aqm: str
    flows: int
    solved_queue: float
    simulated_queue: float
    solved_utilisation: float
    simulated_utilisation: float

    @property
    def is_near(self) -> bool:
        """True if the queue is within 15 % or 3 packets."""
        off = abs(self.solved_queue - self.simulated_queue)
        return off <= max(3, 0.15 * self.simulated_queue)


def tcp_options() -> dict[str, Any]:
    """Return the resolved TCP parameters of profile `rfc` with a window of 1 MB."""
    scenario = ap.Scenario(
        flows=ap.flows(cc="newreno", base_rtt="40 ms", tcp={"receive_window": "1 MB"}),
        bottleneck=ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="1 Mbit/s")),
        duration="1 s",
    )
    document = api.check(scenario).resolved.document
    source: dict[str, Any] = document["flows"][0]["source"]
    return source


def _queue(rng: random.Random, product: float) -> dict[str, Any]:
    """Return drop-tail, RED or gentle RED for a link with this many packets in 100 ms."""
    kind = rng.choice(["droptail", "red", "gred"])
    if kind == "droptail":
        return {"kind": kind, "limit": {"packets": max(20, round(product * rng.uniform(0.3, 2)))}}
    min_th = max(5, round(product * rng.uniform(0.1, 0.3)))
    curve = {"kind": kind, "min_th": min_th, "max_th": 3 * min_th, "max_p": 0.1, "ecn": False}
    if kind == "gred":
        return curve
    rest = {"target_delay_ns": 5 * MS, "mean_packet_bytes": 1500, "gentle": True, "wait": True}
    return {**curve, **rest, "limit": 8 * min_th, "weight": 0.002}


def _flows(
    rng: random.Random, source: dict[str, Any], route: list[str], count: int, group: int
) -> dict[str, Any]:
    delay_ns = round(rng.uniform(5, 50) * MS)
    return {
        "source": source,
        "count": count,
        "group": group,
        "hops": route,
        "start": {"kind": "uniform", "low_ns": 0, "high_ns": 5 * SECOND},
        "access": {"delay_ns": 0},
        "egress": {"delay_ns": delay_ns},
        "return_wire": {"delay_ns": delay_ns},
    }


def draw(paths: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield random scenarios as documents of the engine.

    Parameters
    ----------
    paths : int
        Number of scenarios.
    seed : int
        Seed of the random numbers.
    """
    rng, tcp = random.Random(seed), tcp_options()
    for _ in range(paths):
        names = ["a", "b", "c"][: rng.choice([2, 3])]
        middle_bps = 5e6 * 8 ** rng.random()
        hops, groups = [], []
        for name in names:
            rate_bps = round(middle_bps * rng.uniform(0.7, 1.4))
            delay_ns = round(rng.uniform(1, 20) * MS)
            link = {"kind": "fixed", "rate_bps": rate_bps}
            down = {"link": link, "queue": _queue(rng, rate_bps / 10 / PACKET_BITS)}
            hops.append({
                "name": name,
                "down": {**down, "delay_ns": delay_ns},
                "up": {"queue": UPWARD_QUEUE},
            })  # fmt: skip
        groups.append(_flows(rng, tcp, [names[0], names[-1]], rng.randint(2, 10), 0))
        for name in names:
            if count := rng.randint(0, 10):
                groups.append(_flows(rng, tcp, [name, name], count, len(groups)))
        if len(names) == 3 and rng.random() < 1 / 3:
            first = rng.randint(0, 1)
            groups.append(
                _flows(rng, tcp, names[first : first + 2], rng.randint(1, 10), len(groups))
            )
        if rng.random() < 0.5:
            hop = rng.choice(hops)
            rate_bps = round(hop["down"]["link"]["rate_bps"] * rng.uniform(0.05, 0.2))
            datagrams = {"kind": "poisson", "rate_bps": rate_bps, "packet_bytes": 1500}
            groups.append(_flows(rng, datagrams, [hop["name"]] * 2, 1, len(groups)))
        yield {
            "duration_ns": DURATION_S * SECOND,
            "warmup_ns": WARMUP_S * SECOND,
            "flows": groups,
            "hops": hops,
        }


def compare(path: int, document: dict[str, Any], reps: int) -> tuple[list[Group], list[Hop]]:
    """Solve and simulate one path.

    Parameters
    ----------
    path : int
        Number of the path.
    document : dict
        Scenario of the engine.
    reps : int
        Number of replications.
    """
    engine = EngineInput(json.dumps(document))
    solution = json.loads(engine.solve("network-fixed-point", None, None))
    output = engine.simulate(1, range(reps), threads=2)
    runs = json.loads(output.replications)
    rates = [_rates(output, run) for run in range(reps)]
    groups, first = [], 0
    for entry in document["flows"]:
        flows = range(first, first + entry["count"])
        first += entry["count"]
        if entry["source"]["kind"] != "tcp":
            continue
        solved = solution["flows"][flows[0]]["throughput_bps"] / 1e6
        simulated = sum(run[flow] for run in rates for flow in flows) / len(flows) / reps / 1e6
        route = "-".join(dict.fromkeys(entry["hops"]))
        groups.append(Group(path, entry["group"], route, len(flows), solved, simulated))
    return groups, [_hop(path, document, found, runs) for found in solution["hops"]]


def _rates(output: Any, run: int) -> tuple[float, ...]:
    _, columns = output.flows(run)
    values = next(values for name, _, values in columns if name == "ip_throughput_bps")
    return struct.unpack(f"<{len(values) // 8}d", values)


def _hop(path: int, document: dict[str, Any], found: dict[str, Any], runs: list[Any]) -> Hop:
    name = found["name"]

    def mean(family: str, quantity: str) -> float:
        values = [each[quantity] for run in runs for each in run[family] if each["name"] == name]
        return sum(values) / len(values)

    names = [hop["name"] for hop in document["hops"]]
    position = names.index(name)

    def crosses(entry: dict[str, Any]) -> bool:
        first, last = (names.index(hop) for hop in entry["hops"])
        return first <= position <= last

    tcp = (entry for entry in document["flows"] if entry["source"]["kind"] == "tcp")
    return Hop(
        path,
        name,
        document["hops"][position]["down"]["queue"]["kind"],
        sum(entry["count"] for entry in tcp if crosses(entry)),
        found["queue_packets"],
        mean("queues", "mean_packets"),
        found["utilisation"],
        mean("links", "utilisation"),
    )


def quantile(values: list[float], share: float) -> float:
    """Return the value that the given share of all values does not exceed.

    Parameters
    ----------
    values : list of float
        At least one value.
    share : float
        Share in (0, 1].
    """
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def summary(groups: list[Group], hops: list[Hop]) -> dict[str, tuple[float, float, bool]]:
    """Return, by criterion, median and 90 % quantile (criterion 3: the share) and the verdict.

    Parameters
    ----------
    groups, hops : list
        Rows of all paths.
    """
    rates = [abs(group.error) for group in groups]
    busy = [abs(hop.solved_utilisation / hop.simulated_utilisation - 1) for hop in hops]
    near = sum(hop.is_near for hop in hops) / len(hops)
    rate, use = [(quantile(v, 0.5), quantile(v, 0.9)) for v in (rates, busy)]
    return {
        "throughput": (*rate, rate[0] <= 0.05 and rate[1] <= 0.2),
        "utilisation": (*use, use[0] <= 0.01 and use[1] <= 0.05),
        "queue": (near, near, near >= 0.75),
    }


def _write(name: str, rows: list[Any]) -> None:
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0]._fields)
        for row in rows:
            writer.writerow(f"{x:.4g}" if isinstance(x, float) else x for x in row)


def main() -> None:
    """Run the comparison and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--paths", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="write no files")
    chosen = parser.parse_args()
    groups: list[Group] = []
    hops: list[Hop] = []
    for path, document in enumerate(draw(chosen.paths, chosen.seed)):
        new_groups, new_hops = compare(path, document, chosen.reps)
        rates = " ".join(f"{group.route} {group.error:+.1%}" for group in new_groups)
        queues = " ".join(
            f"{hop.hop} {hop.aqm} {hop.solved_queue:.1f}/{hop.simulated_queue:.1f}"
            for hop in new_hops
        )
        print(f"path {path}: {rates}; queues {queues}", flush=True)
        groups += new_groups
        hops += new_hops
    for name, (middle, most, holds) in summary(groups, hops).items():
        print(f"{name}: {middle:.3f} {most:.3f} {'holds' if holds else 'does not hold'}")
    for kind in ("droptail", "red", "gred"):
        of_kind = [hop for hop in hops if hop.aqm == kind]
        near = sum(hop.is_near for hop in of_kind)
        print(f"queues of {kind}: {near} of {len(of_kind)} within 15 % or 3 packets")
    if not chosen.check:
        _write("groups.csv", groups)
        _write("hops.csv", hops)


if __name__ == "__main__":
    main()
